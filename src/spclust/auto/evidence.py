"""Clusters by evidence: single linkage proposes groups, and those that are not separate are merged.

`cut.automatic_clusters` proposes; `separation` judges. The limit allows for the many pairs of
structures between which a valley may be found by chance.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.auto.cut import automatic_clusters
from spclust.auto.separation import separate_groups
from spclust.state.automatic_structures import AutomaticStructures, read_z

_TRIALS = 4.0  # places for a valley, for each structure


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
    labels: Integers = separate_groups(z, mass, covariance, proposed, limit)
    return in_order(labels)


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
