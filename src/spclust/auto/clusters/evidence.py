"""Clusters by evidence: groups of structures are proposed; those that are not separate are merged.

`cut.proposed_groups` proposes, by single linkage. Two groups are separate if the density between
them is lower than counting explains, either along their border (`border`) or on the line through
their centres (`separation`), where a shallow valley does not count. The limit allows for the many
pairs of structures between which that may be by chance.

Two groups may fail these tests although almost nothing is between them, because the lighter one has
too few points to show it. That one is a stray: outliers, or a cluster that has just begun. It
belongs to no cluster. All others that fail are one cluster.

Then clusters are divided: in few dimensions, where the border shows valleys, the basins of the
density are proposed, and judged alike; in many, halves are, and judged on the line. If masses fade,
few points are remembered, and a lower limit is enough (`judgement`). Unless masses fade, clusters
are also divided at gaps that the density does not show (`gaps`), and in many dimensions clusters
that overlap are found as parts of one (`parts`).

If masses fade, light structures are scattered outliers, or what is left of old clusters: at last
each joins the cluster of the nearest solid one (`novelty`).
"""

import numpy as np
from scipy.spatial.distance import cdist

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.basins import basins
from spclust.auto.clusters.border import (
    RESOLVED,
    Field,
    field_of,
    kernel_shapes,
    neighbourhood,
)
from spclust.auto.clusters.cut import proposed_groups
from spclust.auto.clusters.gaps import divide_by_gaps
from spclust.auto.clusters.judgement import Rules, judge_border, judge_line
from spclust.auto.clusters.parts import divide_into_parts
from spclust.auto.clusters.separation import EMPTY, SHALLOW, Placement, divide_by_halves
from spclust.auto.lattice import rounding_variances
from spclust.auto.novelty import are_solid
from spclust.jit.decorators import kernel, outlined, part
from spclust.numerics.euclidean_distances import distances
from spclust.state.automatic_structures import AutomaticStructures, read_z

_WIDTH, _BASIN_WIDTH = 0.7, 0.5  # of kernels; basins are proposed by the narrowest without ripples
_TRIALS = 4.0  # places for a valley, for each structure
_CHOSEN = 1.0  # standard deviations that a valley between basins has by chance: they end there
# Standard deviations that are enough, with a half-life, if points are not weighted:
_TOGETHER = 3.1  # of line and border together, in few dimensions
_OF_FEW = 2.0  # of either, in many
_STRAY, _NO_EDGE = -1, -1


def clusters_of(s: AutomaticStructures, *, in_parts: bool = True) -> Integers:
    """Cluster (k,) of the structure in each slot; -1 for strays.

    Clusters that overlap in many dimensions are told apart only `in_parts`.
    """
    if s.live < 3:
        return np.zeros(s.live, dtype=np.int64)
    # Where distances tie, order decides: that of age, which slots do not keep.
    order = np.argsort(s.id[: s.live])
    z = np.ascontiguousarray(read_z(s, order))
    rounding, place = rounding_variances(s, order), np.arange(s.live)
    placed = placement(s, order, z, s.mass[order] / s.point_mass, rounding)
    if rounding.any():
        placed, place = in_places(placed)
    proposed = proposed_groups(placed.z, placed.mass, np.sqrt(s.d * placed.variance))
    fades = s.half_life < np.inf
    # If points are weighted, a mass is no number of points, and chance cannot be judged so closely.
    found = separate_groups(placed, proposed, fades, closely=fades and not s.weighted)
    if in_parts and s.d > RESOLVED and not fades:
        found = divide_into_parts(found, placed, limit_of(placed.mass.size))
    if fades:
        found = with_nearest_solid(found, placed)
    labels = np.empty_like(order)
    labels[order] = found[place]
    return in_order(labels)


def with_nearest_solid(labels: Integers, placed: Placement) -> Integers:
    """Labels (k,) after light structures joined the cluster of the nearest solid one.

    An outlier may have been put into the cluster of other outliers, or of what is left of an old
    cluster, by single linkage. Strays stay, and so do clusters without a solid structure.
    """
    solid = are_solid(placed.mass) & (labels != _STRAY)
    light = np.flatnonzero(~solid & np.isin(labels, labels[solid]))
    if light.size == 0:
        return labels
    squares = cdist(placed.z[light], placed.z[solid], "sqeuclidean")
    joined = labels.copy()
    joined[light] = labels[solid][squares.argmin(axis=1)]
    return joined


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


def placement(
    s: AutomaticStructures, slots: Integers, z: Floats, mass: Floats, rounding: Floats
) -> Placement:
    """The structures in some slots (k,), with means z (k, d) in the metric and masses (k,).

    Rounding adds variances (d,) to those of their points.
    """
    covariance = np.zeros((slots.size, 0, 0))
    variance = variances_in_metric(s)[slots] + rounding @ (s.metric**2).sum(axis=0) / s.d
    if s.d <= RESOLVED:
        of_points = s.scatter[slots] / s.mass[slots, np.newaxis, np.newaxis]
        A = s.metric
        if s.diagonal:
            of_points, A = of_points * np.eye(s.d), np.diag(s.metric[0])
        covariance = A @ (of_points + np.diag(rounding)) @ A.T
    return Placement(np.ascontiguousarray(z), mass, variance, covariance)


def in_places(placed: Placement) -> tuple[Placement, Integers]:
    """One structure for each place, in order, and the one (k,) that each structure is part of."""
    _, first, part = np.unique(placed.z, axis=0, return_index=True, return_inverse=True)
    place: Integers = np.argsort(np.argsort(first))[part.ravel()]
    mass = np.zeros(first.size)
    np.add.at(mass, place, placed.mass)
    share = placed.mass / mass[place]
    variance, covariance = np.zeros(mass.size), np.zeros((mass.size, *placed.covariance.shape[1:]))
    np.add.at(variance, place, share * placed.variance)
    np.add.at(covariance, place, share[:, np.newaxis, np.newaxis] * placed.covariance)
    return Placement(placed.z[np.sort(first)], mass, variance, covariance), place


def separate_groups(placed: Placement, proposed: Integers, fades: bool, closely: bool) -> Integers:
    """Labels (k,) of separate groups: the proposed ones (k,), merged; and basins, merged.

    Of structures whose masses fade or not. Where they do, few points are remembered, and few groups
    are judged: so less evidence is enough, if it may be judged `closely`.
    """
    k, d = placed.z.shape
    mass, squares, variance = placed.mass, distances(placed.z) ** 2, placed.variance
    limit = _OF_FEW if closely and d > RESOLVED else limit_of(k)
    local, edges = neighbourhood(squares, mass)
    shapes = kernel_shapes(_WIDTH * local, variance, d)
    across = proposed[edges[:, 0]] != proposed[edges[:, 1]]
    field = field_of(squares, mass, shapes, edges[across])
    rules = Rules(limit, True, 0.0, True, np.inf)
    labels = merge_groups(proposed, placed, field, rules)
    if d > RESOLVED:
        return divide_by_halves(labels, placed, limit, SHALLOW)
    if d > 1 and not fades:
        labels = divide_by_gaps(labels, edges, squares, placed)
    shapes = kernel_shapes((_WIDTH if fades else _BASIN_WIDTH) * local, variance, d)
    of_both = labels[edges]
    inside = (of_both[:, 0] == of_both[:, 1]) & (of_both[:, 0] != _STRAY)
    field = field_of(squares, mass, shapes, edges[inside])
    # With a half-life, the remains of clusters that have changed are peaks, too.
    together = _TOGETHER if closely else np.inf
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
    pending = np.empty((many, many), np.bool_)
    # Edges between two groups, one after the other; -1 if there is none.
    first, last = np.empty((many, many), np.int64), np.empty((many, many), np.int64)
    after = np.empty(field.edges.shape[0], np.int64)
    for i in range(many):
        masses[i] = 0.0
        for j in range(many):
            ratio[i, j], first[i, j] = np.inf, _NO_EDGE
    for i in range(k):
        if labels[i] >= 0:
            masses[labels[i]] += mass[i]
    for e in range(after.size):
        a, b = labels[field.edges[e, 0]], labels[field.edges[e, 1]]
        after[e] = _NO_EDGE
        if a != b and min(a, b) >= 0:
            append(e, e, max(a, b), min(a, b), first, last, after)
    changed = -1  # all pairs at first, then those of one group
    while True:
        for i in range(many):
            for j in range(i):
                if first[i, j] >= 0 and (changed < 0 or changed in (i, j)):
                    found = judge_border(i, j, first[i, j], after, labels, placed, field, rules)
                    ratio[i, j], open_share[i, j], passage[i, j] = found
                    pending[i, j] = ratio[i, j] < np.inf
        least, a, b = np.inf, -1, -1
        for lines in range(2):  # first those whose line is known
            # From the last one on, which counts if ratios tie: fewer lines are asked for.
            for i in range(many - 1, 0, -1):
                for j in range(i - 1, -1, -1):
                    if pending[i, j] != lines or not is_less(ratio[i, j], i, j, least, a, b):
                        continue
                    if lines:
                        found = ratio[i, j], open_share[i, j], passage[i, j]
                        exact = judge_line(i, j, found, labels, placed, field, rules)
                        ratio[i, j], open_share[i, j] = exact
                        pending[i, j] = False
                    if is_less(ratio[i, j], i, j, least, a, b):
                        least, a, b = ratio[i, j], i, j
        if a < 0:
            return labels
        gone, into = (a, b) if masses[a] < masses[b] else (b, a)
        stray = rules.strays and open_share[a, b] < EMPTY
        changed = many if stray else into  # after a stray no group has changed
        for i in range(k):
            if labels[i] == gone:
                labels[i] = _STRAY if stray else into
        masses[into] += 0.0 if stray else masses[gone]
        for c in range(many):
            i, j = max(gone, c), min(gone, c)
            if first[i, j] >= 0 and not stray and c != into:
                append(first[i, j], last[i, j], max(into, c), min(into, c), first, last, after)
            first[i, j], ratio[i, j] = _NO_EDGE, np.inf


@part
def is_less(ratio: float, i: int, j: int, least: float, a: int, b: int) -> bool:
    """True if the groups i and j are less separate than a and b; of equal ones the last count."""
    return ratio < least or (ratio == least < np.inf and (i, j) > (a, b))


@outlined
def append(
    head: int, tail: int, i: int, j: int, first: Integers, last: Integers, after: Integers
) -> None:
    """Append the edges from `head` to `tail` to those between the groups i and j.

    Modified in place: first, last, after.
    """
    if first[i, j] < 0:
        first[i, j] = head
    else:
        after[last[i, j]] = head
    last[i, j] = tail


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
