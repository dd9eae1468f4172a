"""Clusters if their number is told, `n_clusters`: those that were found, divided or merged.

They are found without `parts`, and strays do not count. Where too few were found, each is taken
apart by Ward's rule: of all merges of its structures, in the order of what they add to the sum of
squares, the last ones are undone. Squares are in units of the standard deviation of each feature:
the metric, in which every cluster is round, does not say which direction is long. Where too many
were found, the two are merged whose nearest structures are nearest to each other, times the root of
the mass of the lighter one: light clusters are merged before heavy ones.
"""

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.ward import ward_merges
from spclust.state.automatic_structures import AutomaticStructures, read_z, scatter_by_feature

_STRAY = -1


def told_clusters(s: AutomaticStructures, clusters: Integers, n_clusters: int) -> Integers:
    """Cluster (n,) of the structure in each slot, so many in all, from those found (n,)."""
    slots = np.flatnonzero(clusters != _STRAY)
    groups, mass, found = clusters[slots], s.mass[slots], clusters.copy()
    many = int(groups.max(initial=-1)) + 1
    if many < n_clusters:
        found[slots] = divided(in_deviations(s, slots), mass, groups, n_clusters)
    elif many > n_clusters:
        found[slots] = merged(read_z(s, slots), mass, groups, n_clusters)
    return found


def in_deviations(s: AutomaticStructures, slots: Integers) -> Floats:
    """Means (n, d) of some slots in units of the standard deviation of all their points."""
    mass, mean, variances = s.mass[slots], s.mean[slots], scatter_by_feature(s, slots)
    share = (mass / mass.sum())[:, np.newaxis]
    offset = mean - (share * mean).sum(axis=0)
    deviation = np.sqrt((share * offset**2).sum(axis=0) + variances.sum(axis=0) / mass.sum())
    places: Floats = offset / np.where(deviation > 0.0, deviation, 1.0)
    return places


def divided(place: Floats, mass: Floats, groups: Integers, n_clusters: int) -> Integers:
    """Cluster (n,) of structures at places (n, d), merged by Ward's rule within groups (n,).

    Merges end at n_clusters; groups are not merged with each other.
    """
    clusters = np.arange(len(mass))
    for a, b in ward_merges(np.ascontiguousarray(place), mass, groups)[
        : max(len(mass) - n_clusters, 0)
    ]:
        clusters[clusters == b] = a
    return np.unique(clusters, return_inverse=True)[1]


def merged(z: Floats, mass: Floats, groups: Integers, n_clusters: int) -> Integers:
    """Cluster (n,) of structures at z (n, d): the groups (n,), merged until n_clusters are left."""
    many, clusters = int(groups.max()) + 1, groups.copy()
    weight = np.bincount(groups, weights=mass)
    nearest = np.full((many, many), np.inf)
    for a in range(many):
        for b in range(a):
            offsets = z[groups == a][:, np.newaxis] - z[groups == b]
            nearest[a, b] = nearest[b, a] = np.sqrt((offsets**2).sum(axis=2).min())
    for _ in range(many - n_clusters):
        cost = nearest * np.sqrt(np.minimum(weight[:, np.newaxis], weight))
        a, b = sorted(divmod(int(cost.argmin()), many))
        clusters[clusters == b] = a
        weight[a] += weight[b]
        nearest[a] = nearest[:, a] = np.minimum(nearest[a], nearest[b])
        nearest[b] = nearest[:, b] = nearest[a, a] = np.inf
    return np.unique(clusters, return_inverse=True)[1]
