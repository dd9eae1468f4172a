"""Ward's tree: the two groups are merged that add least to the sum of squares, again and again."""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.jit.decorators import kernel, outlined
from spclust.numerics.euclidean_distances import square_distance


@kernel
def ward_merges(place: Floats, mass: Floats, groups: Integers) -> Integers:
    """Merges (m, 2) of structures at places (k, d) with masses (k,), the cheapest one first.

    Only structures of the same group (k,) are merged, none of a negative one. Each of the two is
    called by its first structure; what they become has the name of the first one, which is smaller.
    """
    k, d = place.shape
    centre, weight, alive = np.empty((k, d)), np.empty(k), np.empty(k, np.bool_)
    cost, partner = np.empty(k), np.empty(k, np.int64)
    merges, many = np.empty((k, 2), np.int64), 0
    for i in range(k):
        weight[i], alive[i] = mass[i], groups[i] >= 0
        for c in range(d):
            centre[i, c] = place[i, c]
    for i in range(k):
        cost[i], partner[i] = cheapest_after(i, centre, weight, alive, groups)
    while True:
        a = -1
        for i in range(k):
            if alive[i] and cost[i] < np.inf and (a < 0 or cost[i] < cost[a]):
                a = i
        if a < 0:
            return merges[:many]
        b = partner[a]
        merges[many, 0], merges[many, 1] = a, b
        many += 1
        total = weight[a] + weight[b]
        for c in range(d):
            centre[a, c] = (weight[a] * centre[a, c] + weight[b] * centre[b, c]) / total
        weight[a], alive[b] = total, False
        for i in range(k):
            if not alive[i] or groups[i] != groups[a]:
                continue
            if i == a or partner[i] == a or partner[i] == b:
                cost[i], partner[i] = cheapest_after(i, centre, weight, alive, groups)
            elif i < a:
                new = ward_cost(i, a, centre, weight)
                if new < cost[i] or (new == cost[i] and a < partner[i]):
                    cost[i], partner[i] = new, a


@outlined
def cheapest_after(
    i: int, centre: Floats, weight: Floats, alive: Booleans, groups: Integers
) -> tuple[float, int]:
    """The least cost of merging i with a later one of its group, and which one that is."""
    least, best = np.inf, -1
    for j in range(i + 1, groups.size):
        if alive[i] and alive[j] and groups[j] == groups[i]:
            cost = ward_cost(i, j, centre, weight)
            if cost < least:
                least, best = cost, j
    return least, best


@outlined
def ward_cost(i: int, j: int, centre: Floats, weight: Floats) -> float:
    """What merging two groups adds to the sum of squares."""
    share = weight[i] * weight[j] / (weight[i] + weight[j])
    return share * square_distance(centre[i], centre[j])
