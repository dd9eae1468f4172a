"""Gaps: parts of a cluster that touch nowhere, though they are as near as neighbours are.

The density of `border` is smooth over the distance of neighbours: a gap that is no wider does not
show in it. But structures have widths. Evenly distributed points reach sqrt(3) standard
deviations to either side of their mean. The gap of two neighbours is the logarithm of their
distance, divided by the reach of both along it: about 0 where structures tile a density, however
dense it is there. Two parts are apart if the mean gap on their border is wider than that of the
neighbours inside, near the border, by more than chance explains.

Parts are proposed by average linkage: the two neighbouring ones with the narrowest gap are merged,
until all are one. Where most is apart, a cluster is divided, and its parts are divided again.
"""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.separation import Placement, in_coordinates, variance_along
from spclust.jit.decorators import allocating, kernel

_WIDE = 0.3  # how much wider gaps on a border are: by a third
_APART = 5.0  # standard deviations of their mean
_EDGES = 5  # of a border: between fewer there may be a bend
_FEWEST = 3  # structures of a part
_POINTS = 3.0  # of a structure, on average: with fewer it has no width
_USUAL = 2.0  # edges with the usual gap of the cluster are added to those inside of a part
_OF_NORMAL = 1.4826  # standard deviation, in median deviations
_TINY = 1e-300


@kernel
def divide_by_gaps(
    labels: Integers, edges: Integers, squares: Floats, placed: Placement
) -> Integers:
    """Labels (k,) after clusters (k,) of structures were divided at their gaps; -1 stays.

    `edges` (m, 2) join neighbours, `squares` (k, k) are the squared distances of the structures.
    """
    divided, label, many = np.empty_like(labels), 0, 0
    for i in range(labels.size):
        divided[i] = labels[i]
        many = max(many, labels[i] + 1)
    gap = gaps_of(edges, squares, placed)
    while label < many:
        part = part_apart(label, divided, edges, gap, placed.mass)
        found = False
        for i in range(labels.size):
            if part[i]:
                divided[i], found = many, True
        many += int(found)
        label += int(not found)
    return divided


@allocating
def gaps_of(edges: Integers, squares: Floats, placed: Placement) -> Floats:
    """Gap (m,) of the two structures that each edge (m, 2) joins; 0 if they are in one place.

    To the points of a structure one is added, as far away as neighbours let expect.
    """
    k, m, mass = squares.shape[0], edges.shape[0], placed.mass
    gap, line, around, many = np.empty(m), np.empty(placed.z.shape[1]), np.empty(k), np.empty(k)
    for i in range(k):
        around[i] = many[i] = 0.0
    for e in range(m):
        for side in range(2):
            around[edges[e, side]] += 0.5 * np.log(squares[edges[e, 0], edges[e, 1]] + _TINY)
            many[edges[e, side]] += 1.0
    for e in range(m):
        i, j = edges[e, 0], edges[e, 1]
        length, reach = np.sqrt(squares[i, j]), 0.0
        for c in range(line.size):
            line[c] = (placed.z[i, c] - placed.z[j, c]) / max(length, _TINY)
        direction = in_coordinates(line, placed.metric)
        for side in range(2):
            n = edges[e, side]
            expected = min(np.exp(around[n] / many[n]), length)
            variance = mass[n] * variance_along(direction, placed.scatter[n], mass[n])
            reach += np.sqrt((3.0 * variance + 0.25 * expected * expected) / (mass[n] + 1.0))
        gap[e] = np.log(length / reach) if length > 0.0 else 0.0
    return gap


@allocating
def part_apart(
    label: int, labels: Integers, edges: Integers, gap: Floats, mass: Floats
) -> Booleans:
    """Which structures (k,) of a cluster are the part that is most apart from another one."""
    k, own, members, points = labels.size, 0, 0, 0.0
    found, node = np.empty(k, np.bool_), np.empty(k, np.int64)
    total, count = np.empty((k, k)), np.empty((k, k))
    for i in range(k):
        found[i], node[i] = False, i
        members += int(labels[i] == label)
        points += mass[i] if labels[i] == label else 0.0
        for j in range(k):
            total[i, j] = count[i, j] = 0.0
    inside, gaps = np.empty_like(edges), np.empty(gap.size)
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if labels[i] == label == labels[j]:
            inside[own, 0], inside[own, 1], gaps[own] = i, j, gap[e]
            total[i, j] = total[j, i] = gap[e]
            count[i, j] = count[j, i] = 1.0
            own += 1
    if own < _EDGES or members < 2 * _FEWEST or points < _POINTS * members:
        return found
    inside, gaps = inside[:own], gaps[:own]
    usual = median(gaps)
    deviation = _OF_NORMAL * median(np.abs(gaps - usual))
    most = _APART
    while True:
        a, b, least = -1, -1, np.inf
        for e in range(own):
            i, j = node[inside[e, 0]], node[inside[e, 1]]
            if i != j and total[i, j] / count[i, j] < least:
                a, b, least = i, j, total[i, j] / count[i, j]
        if a < 0:
            return found
        apart = distance_apart(a, b, node, inside, gaps, usual, deviation)
        of_a, of_b = 0, 0
        for i in range(k):
            of_a, of_b = of_a + int(node[i] == a), of_b + int(node[i] == b)
        if apart > most and min(of_a, of_b) >= _FEWEST:
            most, smaller = apart, a if of_a < of_b else b
            for i in range(k):
                found[i] = node[i] == smaller
        for i in range(k):
            node[i] = a if node[i] == b else node[i]
            total[a, i] += total[b, i]
            count[a, i] += count[b, i]
            total[i, a], count[i, a] = total[a, i], count[a, i]


@allocating
def distance_apart(
    a: int, b: int, node: Integers, edges: Integers, gap: Floats, usual: float, deviation: float
) -> float:
    """How much wider gaps are between two nodes than inside, near the border.

    In standard deviations; 0 if it is no more than `_WIDE`, or the border has too few edges.
    """
    many, wide = 0, 0.0
    near, total, count = np.empty(node.size, np.bool_), np.empty(2), np.empty(2)
    for i in range(node.size):
        near[i] = False
    for side in range(2):
        total[side], count[side] = _USUAL * usual, _USUAL
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if (node[i] == a and node[j] == b) or (node[i] == b and node[j] == a):
            near[i] = near[j] = True
            many, wide = many + 1, wide + gap[e]
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if node[i] == node[j] and (near[i] or near[j]):
            side = int(node[i] == b)
            total[side] += gap[e]
            count[side] += 1.0
    wider = wide / max(many, 1) - max(total[0] / count[0], total[1] / count[1])
    error = deviation * np.sqrt(1.0 / max(many, 1) + 1.0 / min(count[0], count[1]))
    return wider / max(error, _TINY) if many >= _EDGES and wider > _WIDE else 0.0


@allocating
def median(values: Floats) -> float:
    """The median of values (m,)."""
    n, ordered = values.size, np.empty(values.size)
    for i in range(n):
        at = i
        while at > 0 and ordered[at - 1] > values[i]:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = values[i]
    return 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])
