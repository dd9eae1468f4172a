"""Gaps: parts of a cluster that touch nowhere, though they are as near as neighbours are.

The density of `border` is smooth over the distance of neighbours: a gap that is no wider does not
show in it. But structures have widths. Evenly distributed points reach sqrt(3) standard deviations
to either side of their mean. The gap of two neighbours is the logarithm of their distance, divided
by half the widths of both along it: about 0 where structures tile a density, however dense it is
there. Two parts are apart if the mean gap on their border is wider than that of the neighbours
inside, near the border, by more than chance explains.

Parts are proposed by average linkage: the two neighbouring ones with the narrowest mean gap on
their border are merged, until all are one. The smaller part of the two that were most apart when
they were merged becomes a cluster of its own; then both are divided in the same way.
"""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.separation import Placement
from spclust.jit.decorators import allocating, kernel, outlined

_WIDE = 0.3  # by how much gaps on a border are wider, in logarithms: by a third
_APART = 5.0  # by how many standard deviations of their mean
_EDGES = 5  # that a border has: with fewer, a wide gap may be a bend of the cluster
_FEWEST_STRUCTURES = 3  # of a part
_POINTS = 3.0  # of a structure, on average: with fewer it has no width
_USUAL = 2.0  # edges with the usual gap of the cluster are added to those inside of a part
_OF_NORMAL = 1.4826  # standard deviation, in median deviations
_TINY = 1e-150
# As arguments, Python's numbers would be types of their own, for which a part is compiled again.
_NONE, _NOBODY = np.int64(0), np.int64(-1)


def divide_by_gaps(
    labels: Integers, edges: Integers, squares: Floats, placed: Placement
) -> Integers:
    """Labels (k,) after clusters (k,) of structures were divided at their gaps; -1 stays.

    `edges` (m, 2) join neighbours, `squares` (k, k) are the squared distances of the structures.
    """
    return divided(labels, edges, gaps_of(edges, squares, placed), placed.mass)


def gaps_of(edges: Integers, squares: Floats, placed: Placement) -> Floats:
    """Gap (m,) of the two structures that each edge (m, 2) joins; 0 if they are in one place.

    To the points of a structure one is added, half of the usual distance of its neighbours away,
    so that a structure of few points has a width.
    """
    ends, k = edges.T, len(squares)  # ends (2, m)
    length = np.sqrt(squares[ends[0], ends[1]])
    logs = np.log(np.maximum(length, _TINY))
    around = np.bincount(ends.ravel(), np.tile(logs, 2), k)
    neighbours = np.maximum(np.bincount(ends.ravel(), minlength=k), 1)
    expected = np.minimum(np.exp((around / neighbours)[ends]), length)
    line = (placed.z[ends[0]] - placed.z[ends[1]]) / np.maximum(length, _TINY)[:, np.newaxis]
    mass = placed.mass[ends]
    along = mass * np.einsum("er,serc,ec->se", line, placed.covariance[ends], line)
    squares_along = 3.0 * np.maximum(along, 0.0) + 0.25 * expected**2
    width = np.sqrt(squares_along / (mass + 1.0)).sum(axis=0)  # half of both
    gap: Floats = np.where(length > 0.0, logs - np.log(np.maximum(width, _TINY)), 0.0)
    return gap


@kernel
def divided(labels: Integers, edges: Integers, gap: Floats, mass: Floats) -> Integers:
    """Labels (k,) after clusters were divided where edges (m, 2) have wide gaps (m,)."""
    found, label, many = np.empty(labels.size, np.int64), _NONE, 0
    for i in range(labels.size):
        found[i] = labels[i]
        many = max(many, labels[i] + 1)
    while label < many:
        part, new = part_apart(label, found, edges, gap, mass), False
        for i in range(labels.size):
            if part[i]:
                found[i], new = many, True
        many += int(new)
        label += int(not new)
    return found


@allocating
def part_apart(
    label: int, labels: Integers, edges: Integers, gap: Floats, mass: Floats
) -> Booleans:
    """Which structures (k,) of a cluster are the part that is most apart from another one."""
    k, own, members, points, most = labels.size, _NONE, 0, 0.0, _APART
    found, near, node = np.empty(k, np.bool_), np.empty(k, np.bool_), np.empty(k, np.int64)
    border = np.empty((k, k, 2))  # of each pair of nodes: sum of the gaps on it, and their number
    gaps = np.empty(gap.size)  # inside of the cluster
    for i in range(k):
        found[i], node[i] = False, i if labels[i] == label else _NOBODY
        members += int(labels[i] == label)
        points += mass[i] if labels[i] == label else 0.0
    if members < 2 * _FEWEST_STRUCTURES or points < _POINTS * members:
        return found
    for i in range(k):
        for j in range(k):
            border[i, j, 0] = border[i, j, 1] = 0.0
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if node[i] >= 0 and node[j] >= 0:
            border[i, j, 0] = border[j, i, 0] = gaps[own] = gap[e]
            border[i, j, 1] = border[j, i, 1] = 1.0
            own += 1
    if own < _EDGES:
        return found
    usual = sorted_median(gaps, own)
    for e in range(own):
        gaps[e] = abs(gaps[e] - usual)
    deviation = _OF_NORMAL * sorted_median(gaps, own)
    while True:
        a, b, least = _NOBODY, _NOBODY, np.inf
        for e in range(gap.size):
            i, j = node[edges[e, 0]], node[edges[e, 1]]
            if i != j and min(i, j) >= 0 and border[i, j, 0] / border[i, j, 1] < least:
                a, b, least = i, j, border[i, j, 0] / border[i, j, 1]
        if a < 0:
            return found
        of_a, of_b = 0, 0
        for i in range(k):
            of_a, of_b = of_a + int(node[i] == a), of_b + int(node[i] == b)
        if min(of_a, of_b) >= _FEWEST_STRUCTURES:
            apart = distance_apart(a, b, node, edges, gap, usual, deviation, near)
            if apart > most:
                most, smaller = apart, a if of_a < of_b else b
                for i in range(k):
                    found[i] = node[i] == smaller
        for i in range(k):
            node[i] = a if node[i] == b else node[i]
            for sums in range(2):
                border[a, i, sums] += border[b, i, sums]
                border[i, a, sums] = border[a, i, sums]


@outlined
def distance_apart(
    a: int,
    b: int,
    node: Integers,
    edges: Integers,
    gap: Floats,
    usual: float,
    deviation: float,
    near: Booleans,
) -> float:
    """How much wider gaps are between two nodes than inside, near the border.

    In standard deviations; 0 if it is no more than `_WIDE`, or the border has too few edges.
    Modified in place: near (k,), the structures at the border.
    """
    many, wide = 0, 0.0
    of_a, of_b, edges_of_a, edges_of_b = _USUAL * usual, _USUAL * usual, _USUAL, _USUAL
    for i in range(node.size):
        near[i] = False
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if (node[i] == a and node[j] == b) or (node[i] == b and node[j] == a):
            near[i] = near[j] = True
            many, wide = many + 1, wide + gap[e]
    for e in range(gap.size):
        i, j = edges[e, 0], edges[e, 1]
        if node[i] == node[j] and (near[i] or near[j]):
            if node[i] == a:
                of_a, edges_of_a = of_a + gap[e], edges_of_a + 1.0
            else:
                of_b, edges_of_b = of_b + gap[e], edges_of_b + 1.0
    wider = wide / max(many, 1) - max(of_a / edges_of_a, of_b / edges_of_b)
    error = deviation * np.sqrt(1.0 / max(many, 1) + 1.0 / min(edges_of_a, edges_of_b))
    return wider / max(error, _TINY) if many >= _EDGES and wider > _WIDE else 0.0


@outlined
def sorted_median(values: Floats, n: int) -> float:
    """Sort the first n values, and return their median. Modified in place: values."""
    for i in range(1, n):
        value, at = values[i], i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    return 0.5 * (values[(n - 1) // 2] + values[n // 2])
