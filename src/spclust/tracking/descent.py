"""Descent: the label that each structure descends from, whatever cluster it is in now.

A structure that was there keeps its label. A new one has that of the nearest structure that was
there, if it is near, in standard deviations of the cluster that this descends from. So the
structures of a cluster that begins far from all others descend from none, also while it is too
small to be a cluster, and those of a part that leaves a cluster descend from that cluster.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.lasting_labels import NO_LABEL
from spclust.tracking.arrivals import places_of

_NEAR = 1.6  # standard deviations of a cluster, times the root of d, up to which a place is near
_IN_SIGHT = 6.0  # the same, of a cluster that has had no other point since
_FEWEST = 3  # structures of a cluster whose standard deviation is its own
_EXPECTED = 3.0  # points that a cluster should have had, so that its silence is noticed


class Places(NamedTuple):
    """Where structures are, in the metric."""

    z: Floats  # (k, d) means
    variance: Floats  # (k,) of their points, a direction on average
    weight: Floats  # (k,)
    squares: Floats  # (k, k) squared distances

    def inherited(self, then: Integers, labels: Integers, ids: Integers) -> Integers:
        """Label (k,) that structures with ids (k,), in order, descend from.

        The structures `then` (m,), in order, had labels (m,).
        """
        known, places = places_of(ids, then)
        descent = np.full(ids.size, NO_LABEL)
        descent[known] = labels[places[known]]
        if known.any() and not known.all():
            new, there = np.flatnonzero(~known), np.flatnonzero(known)
            nearest = there[self.squares[np.ix_(new, there)].argmin(axis=1)]
            near = self.squares[new, nearest] <= _NEAR**2 * self.cluster_variances(descent)[nearest]
            descent[new[near]] = descent[nearest[near]]
        return descent

    def cluster_variances(self, descent: Integers) -> Floats:
        """Variance (k,), d times, of the cluster that each structure descends from.

        That of all clusters on average, where it has few structures, or descends from none.
        """
        labels, index = np.unique(descent, return_inverse=True)
        variances, weights = np.zeros(labels.size), np.zeros(labels.size)
        for place, label in enumerate(labels.tolist()):
            mine = np.flatnonzero(descent == label)
            if label == NO_LABEL or mine.size < _FEWEST:
                continue
            weights[place] = self.weight[mine].sum()
            centre = np.average(self.z[mine], axis=0, weights=self.weight[mine])
            around = ((self.z[mine] - centre) ** 2).sum(axis=1)
            around += self.z.shape[1] * self.variance[mine]
            variances[place] = np.average(around, weights=self.weight[mine])
        mean = np.average(variances, weights=weights) if weights.any() else 0.0
        cluster_variances: Floats = np.where(weights > 0.0, variances, mean)[index]
        return cluster_variances


def follow_leap(
    label: int, descent: Integers, arrived: Floats, places: Places, expected: float
) -> None:
    """Let new structures descend from a cluster that has leapt there. Modified in place: descent.

    A cluster of which `expected` points were expected, and none has come, is where new structures
    in its sight are: it moves faster than `_NEAR` allows.
    """
    mine, lost = descent == label, np.flatnonzero((descent == NO_LABEL) & (arrived > 0.0))
    if expected < _EXPECTED or lost.size == 0 or not mine.any() or arrived[mine].any():
        return
    squares: Floats = np.where(descent != NO_LABEL, places.squares[lost], np.inf)
    nearest, sight = squares.argmin(axis=1), _IN_SIGHT**2 * places.cluster_variances(descent)
    seen = mine[nearest] & (places.squares[lost, nearest] <= sight[nearest])
    descent[lost[seen]] = label


def adopt(descent: Integers, labels: Integers, forgotten: Booleans, places: Places) -> None:
    """Let structures descend from the cluster that they are in. Modified in place: descent.

    `labels` (k,) are those of tracked clusters, else NO_LABEL. Structures that descend from a dead
    cluster (`forgotten`, (k,)) always do; those that descend from none, if they are near one that
    does, or that has just been adopted.
    """
    inside = labels != NO_LABEL
    descent[inside & forgotten] = labels[inside & forgotten]
    free = np.flatnonzero(inside & (descent == NO_LABEL))
    sight = _NEAR**2 * places.cluster_variances(descent)
    close = places.squares <= sight  # to the structure of a column
    while free.size:
        alike = descent == labels[free, np.newaxis]
        near = (close[free] & alike).any(axis=1)
        if not near.any():
            return
        descent[free[near]] = labels[free[near]]
        free = free[~near]
