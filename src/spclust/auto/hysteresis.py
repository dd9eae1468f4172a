"""Clusters that stand while nothing happens: eps="auto" over time.

What natural clusters are is found anew for every look, and where clusters touch, the answer flips
with every few points. So, once there are many points for each structure, an answer stands until
three times the points were learnt: structures belong to the cluster that they were given to. New
ones belong to the cluster in which they are found; if they are one by themselves, it is a new one.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.auto.cut import natural_clusters
from spclust.state.structures import Structures, means

_GROWTH = 3.0
_MANY = 100.0  # points for each structure, at the least
_MEMORIES = 10.0  # where points fade, an answer stands so many times 1 / beta points
_CLUSTER = 0.5  # of the mean mass of structures makes a new cluster


def decide(s: Structures) -> None:
    """Give all structures to the clusters that are there now. Modified in place: s."""
    slots = np.arange(s.live)
    s.cluster[slots] = _natural(s, slots) + 1
    soon, least = np.inf, _MANY * float(s.capacity)
    if s.beta > 0.0:  # which is a rate per unit of time, if there are time stamps
        soon = s.seen + (least if s.timed else max(least, np.ceil(_MEMORIES / s.beta)))
    s.cut_due = int(min(np.ceil(_GROWTH * s.seen), soon))


def current_clusters(s: Structures, slots: Integers) -> Integers:
    """Cluster (k,) of each of the structures in `slots`, numbered as they come."""
    fresh, owner = _natural(s, slots), s.cluster[slots] - 1
    if np.any(owner >= 0):
        fresh = _followed(fresh, owner, means(s, slots), s.count[slots])
    _, first, found = np.unique(fresh, return_index=True, return_inverse=True)
    labels: Integers = np.argsort(np.argsort(first))[found]
    return labels


def _natural(s: Structures, slots: Integers) -> Integers:
    count = s.count[slots]
    radius = np.sqrt(s.scatter[slots].sum(axis=1) / count)
    labels: Integers = natural_clusters(means(s, slots), count, radius)
    return labels


def _followed(fresh: Integers, owner: Integers, z: Floats, count: Floats) -> Integers:
    """Cluster (k,) whose each structure is, or where a new one is found, `fresh`."""
    labels, names = owner.copy(), int(owner.max()) + 1
    least = _CLUSTER * count.mean()
    for cluster in np.unique(fresh[owner < 0]):
        here = fresh == cluster
        new, known = here & (owner < 0), here & (owner >= 0)
        if known.any():
            labels[new] = np.bincount(owner[known], count[known]).argmax()
        elif count[here].sum() >= least:
            labels[new], names = names, names + 1
    for lonely in np.flatnonzero(labels < 0):
        near = np.sum((z - z[lonely]) ** 2, axis=1)
        labels[lonely] = owner[np.argmin(np.where(owner >= 0, near, np.inf))]
    return labels
