"""The cost of merging two structures, and which pair costs least.

    cost = (M1 M2 / (M1 + M2))^2 |z1 - z2|^2

is the squared distance in the metric, weighted by mass: light structures are merged before heavy
ones. When masses fade, all costs change by one factor, and their order stays. All costs are kept,
with the smallest of each structure (`least`) and with whom it is (`partner`). Of equal costs the
one of the oldest structures counts (E12).
"""

import numpy as np

from spclust.arrays import Floats
from spclust.jit.decorators import kernel, outlined, part
from spclust.numerics.eight import LANES, Eight, load, same, store
from spclust.numerics.smallest import first_smallest
from spclust.state.automatic_structures import AutomaticStructures, automatic_in_kernel
from spclust.state.structures import POINT


@part
def merge_costs(mass1: Eight, mass2: Eight, squares: Eight) -> Eight:
    """Costs of eight pairs, of masses and of squared distances."""
    half = mass1 * mass2 / (mass1 + mass2)
    return half * half * squares


@part
def cheapest_pair(s: AutomaticStructures) -> tuple[int, int]:
    """Slots of the two structures that cost least to merge, the older one first.

    POINT stands for the point.
    """
    mine = first_smallest(s.point_cost, s.id, s.live)
    first = first_smallest(s.least, s.id, s.live)
    cost, least = s.point_cost[mine], s.least[first]
    if cost < least or (cost == least and s.id[mine] < s.id[first]):
        return mine, POINT
    return first, s.partner[first]


@part
def connect_point(slot: int, s: AutomaticStructures) -> None:
    """Note the costs of the point, which has got this slot. Modified in place: s."""
    row = s.cost[slot]
    for b in range(0, s.live, LANES):
        store(load(s.point_cost, b), row, b)
    row[slot] = np.inf
    note_costs(slot, s)


@part
def write_costs(slot: int, s: AutomaticStructures) -> None:
    """Compute the costs of a structure with all others. Modified in place: s."""
    row, mass, own, lane = s.cost[slot], same(s.mass[slot]), s.z[slot // LANES], slot % LANES
    for b in range((s.live + LANES - 1) // LANES):
        q, block = same(0.0), s.z[b]
        for c in range(s.d):
            offset = load(block, c) - own[c, lane]
            q += offset * offset
        store(merge_costs(mass, load(s.mass, b * LANES), q), row, b * LANES)
    row[slot] = np.inf


@part
def refresh_costs(slot: int, s: AutomaticStructures) -> None:
    """Compute the costs of a structure that changed. Modified in place: s."""
    write_costs(slot, s)
    s.measured += s.live
    note_costs(slot, s)


@part
def note_costs(slot: int, s: AutomaticStructures) -> None:
    """Make the row of costs of a slot known to all others. Modified in place: s."""
    row, live, cost, least, partner, ids = s.cost[slot], s.live, s.cost, s.least, s.partner, s.id
    mine = ids[slot]
    for j in range(live):
        value = row[j]
        cost[j, slot] = value
        if j == slot:
            continue
        if value < least[j] or (value == least[j] and mine < ids[partner[j]]):
            least[j], partner[j] = value, slot
        elif partner[j] == slot and (value > least[j] or mine == s.seen):
            find_partner(j, s)  # the point may cost as much as its predecessor, but it is younger
    find_partner(slot, s)


@outlined
def find_partner(slot: int, s: AutomaticStructures) -> None:
    """Search the costs of a slot for the smallest. Modified in place: s."""
    s.rescans += 1
    s.partner[slot] = first_smallest(s.cost[slot], s.id, s.live)
    s.least[slot] = s.cost[slot, s.partner[slot]]


@outlined
def measure_costs(s: AutomaticStructures) -> None:
    """Compute the costs of all pairs, and the smallest of each. Modified in place: s."""
    for i in range(s.live):
        write_costs(i, s)
        find_partner(i, s)


@kernel
def find_partners(memory: Floats) -> None:
    """Search the costs of all structures for the smallest. Modified in place: the state."""
    s = automatic_in_kernel(memory)
    for i in range(s.live):
        find_partner(i, s)
