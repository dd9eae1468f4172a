"""Forgetting: which structures are removed, with a half-life.

A structure is removed when it has faded to a quarter of a point (a lone point lives two
half-lives), or when its cluster has gone on without it: `missed` is the number of points of its
cluster that it should have had since its last one. So what a moving cluster leaves behind is
removed by evidence, while a cluster that is silent as a whole only fades. In the mode of the paper
structures are pruned instead: `algorithm.prune`.
"""

import numpy as np

from spclust.auto.merge_cost import find_partner
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import LANES
from spclust.state.automatic_structures import AutomaticStructures, missed_points

_FADED = 0.25  # of the mass of a point
_BY_CHANCE = 0.02  # structures that a gap between their points may remove by chance, as a share
# Of what one structure may miss, if the one that it would be merged with misses it, too.
_BOTH = 0.4


@part
def restart_clocks(s: AutomaticStructures) -> None:
    """Let the clocks of all clusters start anew; what was missed is kept. Modified in place: s."""
    for i in range(s.live):
        s.missed[i], s.clock_then[i] = missed_points(i, s), 0.0
    for k in range(s.n):
        s.cluster_clock[k] = 0.0


@part
def leave_cluster(cluster: int, mass: float, s: AutomaticStructures) -> None:
    """Take the mass of what leaves a cluster from that of the cluster. Modified in place: s."""
    s.cluster_mass[cluster] = max(s.cluster_mass[cluster] - mass, 0.0)  # below 0 by rounding only


@part
def is_forgotten(slot: int, s: AutomaticStructures) -> bool:
    """True if a structure has faded, or if its cluster has gone on without it."""
    mass, missed = s.mass[slot] / s.point_mass, missed_points(slot, s)
    # A gap of e expected points has the probability exp(-e) after each of the points remembered.
    silent = np.log(max(mass, 1.0) / _BY_CHANCE)
    if mass < _FADED or missed > silent:
        return True
    both = _BOTH * silent
    return missed > both and missed_points(int(s.partner[slot]), s) > both


@outlined
def remove_forgotten(s: AutomaticStructures) -> None:
    """Remove structures that are forgotten, but never all, if memory is full.

    Modified in place: s.
    """
    if s.live < s.capacity or s.live < 2:
        return
    stays, many, heaviest = s.point_cost, 0, 0
    for i in range(s.live):
        stays[i] = 0.0 if is_forgotten(i, s) else 1.0
        many += int(stays[i])
        heaviest = i if s.mass[i] > s.mass[heaviest] else heaviest
    if many == s.live:
        return
    if many == 0:
        stays[heaviest] = 1.0
    for i in range(s.live - 1, -1, -1):
        if stays[i] == 0.0:
            leave_cluster(s.cluster[i], s.mass[i], s)
            s.removed += int(s.count[i])
            vacate(i, s)


@part
def vacate(slot: int, s: AutomaticStructures) -> None:
    """Let the last structure move to a slot whose own one has gone. Modified in place: s."""
    last = s.live - 1
    s.live = last
    if slot != last:
        copy_structure(last, slot, s)
    for j in range(last):
        if s.partner[j] == slot:
            find_partner(j, s)
        elif s.partner[j] == last:
            s.partner[j] = slot


@part
def copy_structure(source: int, target: int, s: AutomaticStructures) -> None:
    """Copy the structure in a slot to another one. Modified in place: s."""
    theirs, ours = s.z[source // LANES], s.z[target // LANES]
    for c in range(s.d):
        ours[c, target % LANES] = theirs[c, source % LANES]
        s.mean[target, c] = s.mean[source, c]
        for r in range(s.rows):
            s.scatter[target, r, c] = s.scatter[source, r, c]
    s.time[target], s.group[target] = s.time[source], s.group[source]
    s.mass[target], s.count[target], s.id[target] = s.mass[source], s.count[source], s.id[source]
    s.cluster[target], s.missed[target] = s.cluster[source], s.missed[source]
    s.clock_then[target], s.reach[target] = s.clock_then[source], s.reach[source]
    s.least[target], s.partner[target] = s.least[source], s.partner[source]
