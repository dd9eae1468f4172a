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
    passage_weights,
    passages,
    write_kernels,
)
from spclust.auto.cut import automatic_clusters
from spclust.auto.separation import separation_of
from spclust.jit.decorators import kernel
from spclust.numerics.euclidean_distances import distances
from spclust.state.automatic_structures import AutomaticStructures, automatic_in_kernel, read_z

_TRIALS = 4.0  # places for a valley, for each structure
_EMPTY = 0.1  # of the density of the lower peak: with less there is nothing between two groups
_STRAY = -1


def clusters_of(s: AutomaticStructures) -> Integers:
    """Cluster (k,) of the structure in each slot; -1 for strays."""
    if s.live < 3:
        return np.zeros(s.live, dtype=np.int64)
    z = np.ascontiguousarray(read_z(s, np.arange(s.live)))
    mass = s.mass[: s.live] / s.point_mass
    variance = variances_in_metric(s)
    proposed = automatic_clusters(z, mass, np.sqrt(s.d * variance))
    if proposed.max() == 0:
        return proposed
    limit = float(np.sqrt(2.0 * np.log(_TRIALS * s.live)))
    return in_order(separate_groups(s.memory, z, mass, variance, proposed, limit))


def variances_in_metric(s: AutomaticStructures) -> Floats:
    """Variance (k,) of the points of each structure, a direction on average, in the metric."""
    scatter, mass = s.scatter[: s.live], s.mass[: s.live]
    if s.diagonal:
        total = scatter[:, 0] @ s.metric[0] ** 2
    else:
        total = scatter.reshape(s.live, -1) @ (s.metric.T @ s.metric).reshape(-1)
    variance: Floats = np.maximum(total / (s.d * mass), 0.0)
    return variance


@kernel
def separate_groups(
    memory: Floats, z: Floats, mass: Floats, variance: Floats, proposed: Integers, limit: float
) -> Integers:
    """Labels (k,) after the least separate two groups were merged, until all are separate.

    Of structures with means z (k, d), faded counts `mass` (k,) and variances (k,), all in the
    metric, in `proposed` groups (k,).
    """
    s = automatic_in_kernel(memory)
    labels = proposed.copy()
    groups, k = labels.max() + 1, labels.size
    masses, squares = np.zeros(groups), distances(z)
    for i in range(k):
        masses[labels[i]] += mass[i]
        for j in range(k):
            squares[i, j] *= squares[i, j]
    widths, heights = kernel_shapes(squares, mass, variance, z.shape[1])
    at_nodes, density = np.empty((k, k)), np.empty(k)
    for i in range(k):
        density[i] = write_kernels(squares[i], widths, heights, mass, at_nodes[i])
    edges = border_edges(squares, labels)
    at_edges, lowest = passages(squares, mass, widths, heights, edges)
    weights = passage_weights(at_edges, lowest, mass)
    ratio, valley = np.full((groups, groups), np.inf), np.ones((groups, groups))
    changed = -1  # all pairs at first, then those of one group
    while True:
        for i in range(groups):
            for j in range(i):
                if changed < 0 or (changed in (i, j) and ratio[i, j] < np.inf):
                    border, open_share = border_separation(
                        (i, j), labels, mass, edges, at_nodes, at_edges, density, lowest, weights
                    )
                    if border < np.inf:
                        line, line_share = separation_of(i, j, labels, z, mass, s)
                        # In one dimension the border is a place on the line.
                        border = line if z.shape[1] == 1 else max(border, line)
                        open_share = min(open_share, line_share)
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


def in_order(labels: Integers) -> Integers:
    """The same labels without gaps, in order of appearance; -1 stays."""
    found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(found.size, dtype=np.int64)
    known = found >= 0
    numbers[~known] = -1
    numbers[known] = np.argsort(np.argsort(first[known]))
    ordered: Integers = numbers[inverse]
    return ordered
