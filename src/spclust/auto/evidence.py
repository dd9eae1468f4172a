"""Clusters by evidence: single linkage proposes groups, and those that are not separate are merged.

`cut.automatic_clusters` proposes. Two groups are separate if the density between them is lower than
counting explains, either on the line through their centres (`separation`) or along their border
(`border`). The limit allows for the many pairs of structures between which that may be by chance.

Of two groups that are not separate, the lighter one may be a stray: nothing is between them, but
it has too few points to be a cluster, such as outliers, or a cluster that has just begun. It
belongs to no cluster. Otherwise the two are one cluster.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.auto.border import (
    border_edges,
    border_separation,
    kernel_shapes,
    kernels_at,
    passages,
)
from spclust.auto.cut import automatic_clusters
from spclust.auto.separation import separation_of
from spclust.jit.decorators import kernel
from spclust.numerics.euclidean_distances import distances
from spclust.state.automatic_structures import AutomaticStructures, read_z

_TRIALS = 4.0  # places for a valley, for each structure
_EMPTY = 0.1  # of the density of the lower peak: with less there is nothing between two groups
_STRAY = -1


def clusters_of(s: AutomaticStructures) -> Integers:
    """Cluster (k,) of the structure in each slot; -1 for strays."""
    slots = np.arange(s.live)
    if s.live < 3:
        return np.zeros(s.live, dtype=np.int64)
    z = read_z(s, slots)
    z = np.ascontiguousarray(z - z.mean(axis=0))
    mass = s.mass[: s.live] / s.point_mass
    covariance = covariances_in_metric(s)
    rows = covariance[:, 0] if s.diagonal else np.einsum("kcc->kc", covariance)
    radius = np.sqrt(np.maximum(rows.sum(axis=1), 0.0))
    proposed = automatic_clusters(z, mass, radius)
    limit = float(np.sqrt(2.0 * np.log(_TRIALS * s.live)))
    if proposed.max() == 0:
        return proposed
    labels: Integers = separate_groups(z, distances(z) ** 2, mass, covariance, proposed, limit)
    return in_order(labels)


@kernel
def separate_groups(
    z: Floats, squares: Floats, mass: Floats, covariance: Floats, proposed: Integers, limit: float
) -> Integers:
    """Labels (k,) after the least separate two groups were merged, until all are separate.

    Of structures with means z (k, d), squared distances (k, k), masses (k,) and covariances
    (k, d, d), or their diagonals (k, 1, d), in `proposed` groups (k,).
    """
    labels = proposed.copy()
    groups, k = labels.max() + 1, labels.size
    masses, variance = np.zeros(groups), np.zeros(k)
    for i in range(k):
        masses[labels[i]] += mass[i]
        for c in range(z.shape[1]):
            row = 0 if covariance.shape[1] == 1 else c
            variance[i] += max(covariance[i, row, c], 0.0) / z.shape[1]
    widths, heights = kernel_shapes(squares, mass, variance, z.shape[1])
    at_nodes = np.empty((k, k))
    for i in range(k):
        at_nodes[i] = kernels_at(squares[i], widths, heights)
    edges = border_edges(squares, labels)
    at_edges, _ = passages(squares, mass, widths, heights, edges)
    ratio, valley = np.full((groups, groups), np.inf), np.ones((groups, groups))
    changed = -1  # all pairs at first, then those of one group
    while True:
        for i in range(groups):
            for j in range(i):
                if changed < 0 or (changed in (i, j) and ratio[i, j] < np.inf):
                    border, open_share = border_separation(
                        (i, j), labels, mass, edges, at_nodes, at_edges
                    )
                    if border < np.inf:
                        line, line_share = separation_of(i, j, labels, z, mass, covariance)
                        border, open_share = max(border, line), min(open_share, line_share)
                    ratio[i, j], valley[i, j] = border, open_share
        least, a, b = limit, -1, -1
        for i in range(groups):
            for j in range(i):
                if ratio[i, j] <= least:
                    least, a, b = ratio[i, j], i, j
        if a < 0:
            return labels
        gone, into = (a, b) if masses[a] < masses[b] else (b, a)
        stray = valley[a, b] < _EMPTY
        changed = groups if stray else into
        for i in range(k):
            if labels[i] == gone:
                labels[i] = _STRAY if stray else into
        masses[into] += 0.0 if stray else masses[gone]
        for c in range(groups):
            i, j = max(gone, c), min(gone, c)
            if ratio[i, j] < np.inf and not stray and c != into:
                ratio[max(into, c), min(into, c)] = 0.0  # they may touch now
            ratio[i, j] = np.inf


def covariances_in_metric(s: AutomaticStructures) -> Floats:
    """Covariances (k, d, d) of the points of each structure in the metric; or diagonals."""
    covariance = s.scatter[: s.live] / s.mass[: s.live, np.newaxis, np.newaxis]
    if s.diagonal:
        return covariance * s.metric**2
    return np.ascontiguousarray(s.metric @ covariance @ s.metric.T)


def in_order(labels: Integers) -> Integers:
    """The same labels without gaps, in order of appearance; -1 stays."""
    found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(found.size, dtype=np.int64)
    known = found >= 0
    numbers[~known] = -1
    numbers[known] = np.argsort(np.argsort(first[known]))
    ordered: Integers = numbers[inverse]
    return ordered
