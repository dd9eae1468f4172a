"""Clusters by evidence: groups of structures are proposed; those that are not separate are merged.

`cut.automatic_clusters` proposes, by single linkage. Two groups are separate if the density between
them is lower than counting explains, either along their border (`border`) or on the line through
their centres (`separation`), where a shallow valley does not count. The limit allows for the many
pairs of structures between which that may be by chance.

Of two groups that are not separate, the lighter one may be a stray: nothing is between them, but
it has too few points to be a cluster, such as outliers, or a cluster that has just begun. It
belongs to no cluster. Otherwise the two are one cluster.

Then clusters are divided: in few dimensions, where the border shows valleys, the basins of the
density are proposed, and judged alike; in many, halves are, and judged on the line. If masses fade,
few points are remembered; then line and border count together, where both are about the same place
(`is_direct`), and a lower limit is enough. Unless masses fade, clusters are also divided at gaps
that the density does not show (`gaps`), and in many dimensions clusters that overlap are found as
parts of one (`parts`).
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.basins import basins
from spclust.auto.clusters.border import (
    RESOLVED,
    Field,
    border_separation,
    density_at,
    edges_of,
    field_of,
    kernel_shapes,
    local_distances,
)
from spclust.auto.clusters.cut import automatic_clusters
from spclust.auto.clusters.gaps import divide_by_gaps
from spclust.auto.clusters.parts import divide_into_parts
from spclust.auto.clusters.separation import Placement, centre, divide_by_halves, separation_of
from spclust.jit.decorators import allocating, kernel
from spclust.numerics.euclidean_distances import distances
from spclust.state.automatic_structures import AutomaticStructures, read_z

_WIDTH, _BASIN_WIDTH = 0.7, 0.5  # of kernels; basins are proposed by the narrowest without ripples
_TRIALS = 4.0  # places for a valley, for each structure
_EMPTY = 0.1  # of the density of the lower peak: with less there is nothing between two groups
# Of the density of the lower peak, what a valley may have at most: on a line; between halves; on a
# line where the border shows valleys, too; and at the densest place of a border.
_ON_LINE, _OF_HALVES, _DEEP, _OPEN = 0.7, 0.6, 0.5, 0.85
_CHOSEN = 1.0  # standard deviations of the valley between two basins, which are chosen by it
# With a half-life, line and border together: standard deviations; what the valley may have at most
# of the density of the lower peak; structures of each group; what a centre has at least of the
# density of its peak; of the length of the line, how far from it the densest passage may be.
_TOGETHER, _CLEAR, _FEWEST, _FULL, _BESIDE = 3.1, 0.8, 12, 0.6, 0.35
_STRAY = -1


class Rules(NamedTuple):
    """What separates two groups."""

    limit: float  # of the depth of a valley, in standard deviations
    by_border: bool  # True if a valley along the border does
    chosen: float  # of `border_separation`
    strays: bool  # True if a light group that is apart is a stray
    together: float  # limit of line and border together


def clusters_of(s: AutomaticStructures, *, in_parts: bool = True) -> Integers:
    """Cluster (k,) of the structure in each slot; -1 for strays.

    Clusters that overlap in many dimensions are told apart only `in_parts`.
    """
    if s.live < 3:
        return np.zeros(s.live, dtype=np.int64)
    # Where distances tie, order decides: that of age, which slots do not keep.
    order = np.argsort(s.id[: s.live])
    z = np.ascontiguousarray(read_z(s, order))
    mass, scatter = s.mass[order] / s.point_mass, s.scatter[order] / s.point_mass
    placed = Placement(z, mass, scatter, np.ascontiguousarray(s.metric))
    variance = variances_in_metric(s)[order]
    proposed = automatic_clusters(z, mass, np.sqrt(s.d * variance))
    fades = s.half_life < np.inf
    # A count is that of points of one weight.
    together = _TOGETHER if fades and not s.weighted else np.inf
    found = separate_groups(placed, variance, proposed, fades, together)
    if in_parts and s.d > RESOLVED and not fades:
        found = divide_into_parts(found, placed, limit_of(s.live))
    labels = np.empty_like(found)
    labels[order] = found
    return in_order(labels)


def limit_of(k: int) -> float:
    """How deep a valley between k structures has to be, in standard deviations."""
    return float(np.sqrt(2.0 * np.log(_TRIALS * k)))


def variances_in_metric(s: AutomaticStructures) -> Floats:
    """Variance (k,) of the points of each structure, a direction on average, in the metric."""
    scatter, mass = s.scatter[: s.live], s.mass[: s.live]
    if s.diagonal:
        total = scatter[:, 0] @ s.metric[0] ** 2
    else:
        total = scatter.reshape(s.live, -1) @ (s.metric.T @ s.metric).reshape(-1)
    variance: Floats = np.maximum(total / (s.d * mass), 0.0)
    return variance


def separate_groups(
    placed: Placement, variance: Floats, proposed: Integers, fades: bool, together: float
) -> Integers:
    """Labels (k,) of separate groups: the proposed ones (k,), merged; and basins, merged.

    Of structures with variances (k,) in the metric, whose masses fade or not; with the limit of
    line and border together.
    """
    k, d = placed.z.shape
    mass, squares = placed.mass, distances(placed.z) ** 2
    limit = limit_of(k)
    local, edges = local_distances(squares, mass), edges_of(squares)
    shapes = kernel_shapes(_WIDTH * local, variance, d)
    across = proposed[edges[:, 0]] != proposed[edges[:, 1]]
    field = field_of(squares, mass, shapes, edges[across])
    labels = merge_groups(proposed, placed, field, Rules(limit, True, 0.0, True, np.inf))
    if d > RESOLVED:
        return divide_by_halves(labels, placed, limit, _OF_HALVES)
    if d > 1 and not fades:
        labels = divide_by_gaps(labels, edges, squares, placed)
    shapes = kernel_shapes((_WIDTH if fades else _BASIN_WIDTH) * local, variance, d)
    of_both = labels[edges]
    inside = (of_both[:, 0] == of_both[:, 1]) & (of_both[:, 0] != _STRAY)
    field = field_of(squares, mass, shapes, edges[inside])
    # With a half-life, the remains of clusters that have changed are peaks, too.
    rules = Rules(limit, not fades, _CHOSEN, False, together)
    return merge_groups(basins(field, labels), placed, field, rules)


@kernel
def merge_groups(groups: Integers, placed: Placement, field: Field, rules: Rules) -> Integers:
    """Labels (k,) after the least separate two groups (k,) were merged, until all are separate.

    The border of two groups says how separate they are at least. The line takes longer: it is asked
    for only if no other two groups may be less separate.
    """
    k, many, mass = groups.size, 0, placed.mass
    labels = np.empty(k, np.int64)
    for i in range(k):
        labels[i] = groups[i]
        many = max(many, groups[i] + 1)
    # Infinite if two groups are separate.
    ratio, open_share = np.empty((many, many)), np.empty((many, many))
    passage, masses = np.empty((many, many), np.int64), np.empty(many)
    touching, pending = np.empty((many, many), np.bool_), np.empty((many, many), np.bool_)
    for i in range(many):
        masses[i] = 0.0
        for j in range(many):
            ratio[i, j], open_share[i, j], touching[i, j] = np.inf, 1.0, False
    for i in range(k):
        if labels[i] >= 0:
            masses[labels[i]] += mass[i]
    for e in range(field.edges.shape[0]):
        a, b = labels[field.edges[e, 0]], labels[field.edges[e, 1]]
        if a != b and min(a, b) >= 0:
            touching[max(a, b), min(a, b)] = True
    changed = -1  # all pairs at first, then those of one group
    while True:
        for i in range(many):
            for j in range(i):
                if touching[i, j] and (changed < 0 or changed in (i, j)):
                    found = judge_border(i, j, labels, placed, field, rules)
                    ratio[i, j], open_share[i, j], passage[i, j] = found
                    pending[i, j] = ratio[i, j] < np.inf
        while True:
            least, a, b = np.inf, -1, -1
            for i in range(many):
                for j in range(i):
                    if ratio[i, j] < np.inf and ratio[i, j] <= least:
                        least, a, b = ratio[i, j], i, j
            if a < 0:
                return labels
            if not pending[a, b]:
                break
            at_border = least, open_share[a, b], passage[a, b]
            ratio[a, b], open_share[a, b] = judge_line(
                a, b, at_border, labels, placed, field, rules
            )
            pending[a, b] = False
        gone, into = (a, b) if masses[a] < masses[b] else (b, a)
        stray = rules.strays and open_share[a, b] < _EMPTY
        changed = many if stray else into
        for i in range(k):
            if labels[i] == gone:
                labels[i] = _STRAY if stray else into
        masses[into] += 0.0 if stray else masses[gone]
        for c in range(many):
            i, j = max(gone, c), min(gone, c)
            if touching[i, j] and not stray and c != into:
                touching[max(into, c), min(into, c)] = True
            touching[i, j], ratio[i, j] = False, np.inf


@allocating
def judge_border(
    a: int, b: int, labels: Integers, placed: Placement, field: Field, rules: Rules
) -> tuple[float, float, int]:
    """How separate two groups are by their border, infinite if enough to be two clusters.

    And the density of its densest passage, as a share of the lower peak, and that passage.
    """
    border, share, passage = border_separation(a, b, labels, placed.mass, field, rules.chosen)
    if placed.z.shape[1] == 1:  # the border is a place on the line, which decides
        return 0.0, share, passage
    if rules.by_border and border > rules.limit and share < _OPEN:
        return np.inf, share, passage
    return border, share, passage


@allocating
def judge_line(
    a: int,
    b: int,
    at_border: tuple[float, float, int],
    labels: Integers,
    placed: Placement,
    field: Field,
    rules: Rules,
) -> tuple[float, float]:
    """How separate two groups are by border and line, infinite if enough to be two clusters.

    And the density between them, as a share of the lower peak.
    """
    d = placed.z.shape[1]
    border, open_share, passage = at_border
    line, line_share = separation_of(a, b, labels, placed)
    shallow = _ON_LINE if d > RESOLVED else _DEEP
    by_line = line > rules.limit and line_share < shallow
    if d == 1:
        return np.inf if by_line else line, line_share
    by_line &= d > RESOLVED or open_share < _DEEP
    together = np.sqrt(border * border + line * line) > rules.together
    if together and max(open_share, line_share) < _CLEAR:
        by_line |= is_direct(a, b, passage, labels, placed, field)
    return np.inf if by_line else max(border, line), min(open_share, line_share)


@allocating
def is_direct(
    a: int, b: int, passage: int, labels: Integers, placed: Placement, field: Field
) -> bool:
    """True if the line through the centres of two groups leads from one to the other.

    Both centres are in a dense place, and the densest passage of the border is near the line. Parts
    of a ring have neither. Groups of few structures may be the remains of a cluster that has grown.
    """
    z, start, end = placed.z, centre(a, labels, placed), centre(b, labels, placed)
    for label, place in ((a, start), (b, end)):
        peak, many = 0.0, 0
        for i in range(labels.size):
            if labels[i] == label:
                peak = max(peak, field.density[i])
                many += 1
        if many < _FEWEST or density_at(place, z, placed.mass, field) < _FULL * peak:
            return False
    i, j = field.edges[passage, 0], field.edges[passage, 1]
    length, along, square = 0.0, 0.0, 0.0
    for c in range(start.size):
        step, offset = end[c] - start[c], 0.5 * (z[i, c] + z[j, c]) - start[c]
        length += step * step
        along += step * offset
        square += offset * offset
    return square * length - along * along < _BESIDE * _BESIDE * length * length


def agreement(before: Integers, now: Integers, mass: Floats) -> float:
    """Share of the mass (k,) of structures that is in the same cluster by both labels (k,).

    Strays, -1, are one group.
    """
    shared = np.zeros((int(before.max()) + 2, int(now.max()) + 2))
    np.add.at(shared, (before, now), mass)  # the last row and column are those of -1
    kept = min(shared.max(axis=0).sum(), shared.max(axis=1).sum())
    return float(kept / shared.sum())


def in_order(labels: Integers) -> Integers:
    """The same labels without gaps, in order of appearance; -1 stays."""
    found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(found.size, dtype=np.int64)
    known = found >= 0
    numbers[~known] = -1
    numbers[known] = np.argsort(np.argsort(first[known]))
    ordered: Integers = numbers[inverse]
    return ordered
