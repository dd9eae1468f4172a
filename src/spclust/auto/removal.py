"""Forgetting: which structures are removed, with a half-life.

A structure is removed when it has faded to a quarter of a point (a lone point lives two
half-lives), or when its cluster has gone on without it: `missed` is the number of points of its
cluster that it should have had since its last one. So what a moving cluster leaves behind is
removed by evidence, while a cluster that is silent as a whole only fades.
"""

import numpy as np

from spclust.arrays import Booleans, Floats, Integers
from spclust.state.automatic_structures import AutomaticStructures, read_z, write_z

_FADED = 0.25  # of the mass of a point
_BY_CHANCE = 0.02  # structures that a gap between their points may remove by chance, as a share
_BOTH = (
    0.4  # of what one structure may miss, if the one that it would be merged with misses it, too
)
_PER_STRUCTURE = (
    *("mean", "scatter", "mass", "count", "id", "cluster", "missed", "clock_then", "reach"),
)


def missed(s: AutomaticStructures) -> Floats:
    """How many points of its cluster each structure (k,) should have had since its last one."""
    k = s.live
    clock = s.cluster_clock[s.cluster[:k]]
    points: Floats = s.missed[:k] + s.mass[:k] * (clock - s.clock_then[:k])
    return points


def forgotten(s: AutomaticStructures) -> Booleans:
    """True (k,) for structures that are to be removed; never for all of them."""
    e, mass = missed(s), s.mass[: s.live]
    partners = e[s.partner[: s.live]]
    # A gap of e expected points has the probability exp(-e) after each of the points remembered.
    silent = np.log(np.maximum(mass / s.point_mass, 1.0) / _BY_CHANCE)
    gone = (mass < _FADED * s.point_mass) | (e > silent)
    gone |= (e > _BOTH * silent) & (partners > _BOTH * silent)
    if gone.all():
        gone[np.argmax(mass)] = False
    return gone


def remove_forgotten(s: AutomaticStructures) -> bool:
    """Remove structures that are forgotten, if memory is full; True if there are any.

    Modified in place: s.
    """
    if s.live < s.capacity:
        return False
    gone = forgotten(s)
    if not gone.any():
        return False
    np.subtract.at(s.cluster_mass, s.cluster[: s.live][gone], s.mass[: s.live][gone])
    s.removed += int(s.count[: s.live][gone].sum())
    keep(s, np.flatnonzero(~gone))
    return True


def keep(s: AutomaticStructures, slots: Integers) -> None:
    """Move the structures in some slots to the first ones; all others go.

    Costs have to be measured afterwards. Modified in place: s.
    """
    k = slots.size
    for name in _PER_STRUCTURE:
        s.views[name][:k] = s.views[name][slots]
    write_z(s, read_z(s, slots))
    s.live = k
