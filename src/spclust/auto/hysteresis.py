"""Hysteresis of the automatic cut: clusters change rarely, eps="auto" over time.

Where clusters touch, the automatic cut changes with every few points. So, once there are many
points for each structure, a cut is kept until three times the points were learnt: structures stay
in the cluster that they were assigned to. New structures belong to the cluster in which they are
found; if they are a cluster by themselves, it is a new one.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.auto.cut import automatic_clusters
from spclust.state.structures import Structures, means

_GROWTH = 3.0
_MANY = 100.0  # points for each structure, at the least
_MEMORIES = 10.0  # where points fade, a cut is kept for so many times 1 / beta points
_CLUSTER = 0.5  # of the mean count of structures makes a new cluster


def decide(s: Structures) -> None:
    """Assign all structures to the clusters of the automatic cut. Modified in place: s."""
    slots = np.arange(s.live)
    s.cluster[slots] = _automatic(s, slots) + 1
    soon, least = np.inf, _MANY * float(s.capacity)
    if s.beta > 0.0:  # which is a rate per unit of time, if there are time stamps
        soon = s.seen + (least if s.timed else max(least, np.ceil(_MEMORIES / s.beta)))
    s.cut_due = int(min(np.ceil(_GROWTH * s.seen), soon))


def current_clusters(s: Structures, slots: Integers) -> Integers:
    """Cluster (k,) of each of the structures in `slots`, numbered in order of appearance."""
    fresh, kept = _automatic(s, slots), s.cluster[slots] - 1
    if np.any(kept >= 0):
        fresh = _followed(fresh, kept, means(s, slots), s.count[slots])
    _, first, found = np.unique(fresh, return_index=True, return_inverse=True)
    labels: Integers = np.argsort(np.argsort(first))[found]
    return labels


def _automatic(s: Structures, slots: Integers) -> Integers:
    count = s.count[slots]
    radius = np.sqrt(s.scatter[slots].sum(axis=1) / count)
    labels: Integers = automatic_clusters(means(s, slots), count, radius)
    return labels


def _followed(fresh: Integers, kept: Integers, z: Floats, count: Floats) -> Integers:
    """Cluster (k,) that each structure has `kept`; of new ones, -1 there, by the `fresh` cut."""
    labels, next_label = kept.copy(), int(kept.max()) + 1
    least = _CLUSTER * count.mean()
    for cluster in np.unique(fresh[kept < 0]):
        here = fresh == cluster
        new, known = here & (kept < 0), here & (kept >= 0)
        if known.any():
            labels[new] = np.bincount(kept[known], count[known]).argmax()
        elif count[here].sum() >= least:
            labels[new], next_label = next_label, next_label + 1
    for alone in np.flatnonzero(labels < 0):
        near = np.sum((z - z[alone]) ** 2, axis=1)
        labels[alone] = kept[np.argmin(np.where(kept >= 0, near, np.inf))]
    return labels
