"""One look at the structures and their clusters, and what it shows beside what was known before."""

from typing import NamedTuple

from spclust.arrays import Booleans, Floats, Integers

NOBODY = -1


class Look(NamedTuple):
    """What is seen of the structures, oldest first, at one moment."""

    seen: int  # points learnt
    id: Integers  # (k,) in order
    cluster: Integers  # (k,) 0, 1, ...; -1 is noise
    mass: Floats  # (k,) recent points, faded, that are typical of each
    mean: Floats  # (k, d)
    variance: Floats  # (k,) of a feature, on average


class Seen(NamedTuple):
    """What is seen at one moment, beside what was known before."""

    owners: Integers  # (k,) name whose each structure is, or NOBODY
    names: Integers  # (n,) in order
    masses: Floats  # (c,) of each cluster
    shared: Floats  # (n, c) mass of the structures of each name in each cluster
    parts: Booleans  # (n, c) those that are considerable
    homes: Integers  # (n,) cluster where most of each name is, or NOBODY
