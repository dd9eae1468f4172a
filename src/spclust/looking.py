"""One look at the structures and their clusters, and what it shows beside what was known before."""

from typing import NamedTuple

import numpy as np

from spclust.arrays import Booleans, Floats, Integers

NOBODY = -1
_PART = 0.15  # of what is left of a cluster: less of it elsewhere is no part to speak of


class Look(NamedTuple):
    """What is seen of the structures at one moment."""

    seen: int  # points learnt
    id: Integers  # (k,)
    cluster: Integers  # (k,) 0, 1, ...; -1 is noise
    mass: Floats  # (k,) recent points, faded, that are typical of each
    mean: Floats  # (k, d)
    variance: Floats  # (k,) of a feature, on average


class Seen:
    """What is seen at one moment, beside what was known before."""

    def __init__(
        self, now: Look, owners: Integers, names: Integers, masses: Floats, shared: Floats
    ) -> None:
        self.now = now
        self.owners = owners  # (k,) name whose each structure is, or NOBODY
        self.names = names  # (n,) in order
        self.masses = masses  # (c,) of each cluster
        self.shared = shared  # (n, c) mass of the structures of each name in each cluster
        sums = shared.sum(axis=1, keepdims=True)
        self.parts = (shared >= _PART * sums) & (shared > 0.0)  # (n, c) considerable ones
        homes = shared.argmax(axis=1) if masses.size else np.zeros(names.size, dtype=np.int64)
        self.homes: Integers = np.where(sums[:, 0] > 0.0, homes, NOBODY)  # (n,) cluster


def followed(seen: Seen) -> Integers:
    """Name (k,) whose each structure is from now on.

    Those that nobody has, and those of somebody who has no considerable part of their cluster,
    belong to whoever has its home there: of several the nearest.
    """
    now, owners = seen.now, seen.owners.copy()
    inside = np.flatnonzero(now.cluster >= 0)
    place = np.searchsorted(seen.names, owners[inside])
    stays = owners[inside] != NOBODY
    stays[stays] = seen.parts[place[stays], now.cluster[inside][stays]]
    tenants = np.bincount(seen.homes[seen.homes >= 0], minlength=seen.masses.size)
    only = np.full(seen.masses.size, NOBODY)
    only[seen.homes[seen.homes >= 0]] = seen.names[seen.homes >= 0]
    away = inside[~stays & (tenants[now.cluster[inside]] == 1)]
    owners[away] = only[now.cluster[away]]
    contested = (tenants > 1) | ((tenants == 0) & seen.parts.any(axis=0))
    for cluster in np.flatnonzero(contested).tolist():
        free = np.flatnonzero((now.cluster == cluster) & (owners == NOBODY))
        here = seen.names[seen.homes == cluster]
        if free.size and here.size:
            mine = (now.cluster == cluster) & (seen.owners == here[:, np.newaxis])
            far = [np.sum((now.mean[free] - centre_of(now, own)) ** 2, axis=1) for own in mine]
            owners[free] = here[np.argmin(far, axis=0)]
        elif free.size:
            owners[free] = seen.names[seen.parts[:, cluster].argmax()]
    return owners


def centre_of(now: Look, mine: Booleans) -> Floats:
    """Mean (d,) of some structures, by their mass."""
    centre: Floats = now.mass[mine] / now.mass[mine].sum() @ now.mean[mine]
    return centre
