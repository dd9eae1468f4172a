"""The cost of merging two structures, and which pair costs least.

    cost = (M1 M2 / (M1 + M2))^p |z1 - z2|^2

is the squared distance in the metric, weighted by mass: light structures are merged before heavy
ones. With a half-life p is 2. Without one it is 1.5: masses only grow, and with 2 the first heavy
structures would never be merged, so that a cluster that begins later would get only a few.

When masses fade, all costs change by one factor, and their order stays. Of each structure the
smallest cost (`least`) is kept, and with whom it is (`partner`). All others are computed again when
they are needed, which is rare: to keep them takes longer. Of equal costs the one of the oldest
structures counts (E12).
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import (
    LANES,
    Eight,
    below_bits,
    equal_bits,
    first_bit,
    load,
    root_of,
    same,
    store,
)
from spclust.numerics.smallest import first_smallest
from spclust.state.automatic_structures import AutomaticStructures
from spclust.state.structures import POINT


@part
def merge_costs(mass1: Eight, mass2: Eight, squares: Eight, fades: bool) -> Eight:
    """Costs of eight pairs, of masses, which fade or not, and of squared distances."""
    half = mass1 * mass2 / (mass1 + mass2)
    return half * (half if fades else root_of(half)) * squares


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
    return first, int(s.partner[first])


@part
def connect_point(slot: int, s: AutomaticStructures) -> None:
    """Note the costs of the point, which has got this slot. Modified in place: s."""
    s.point_cost[slot] = np.inf
    note_costs(slot, s.point_cost, s)


@part
def refresh_costs(slot: int, s: AutomaticStructures) -> None:
    """Note the costs of a structure that changed. Modified in place: s."""
    write_costs(slot, s.slot_cost, s)
    s.measured += s.live
    note_costs(slot, s.slot_cost, s)


@part
def write_costs(slot: int, row: Floats, s: AutomaticStructures) -> None:
    """Write the costs of a structure with all others to a row (n,). Modified in place: row."""
    mass, own, lane = same(s.mass[slot]), s.z[slot // LANES], slot % LANES
    fades = s.half_life < np.inf
    for b in range((s.live + LANES - 1) // LANES):
        q, block = same(0.0), s.z[b]
        for c in range(s.d):
            offset = load(block, c) - own[c, lane]
            q += offset * offset
        store(merge_costs(mass, load(s.mass, b * LANES), q, fades), row, b * LANES)
    row[slot] = np.inf


@part
def note_costs(slot: int, row: Floats, s: AutomaticStructures) -> None:
    """Make the costs (n,) of a slot known to all others. Modified in place: s."""
    place, mine = same(float(slot)), s.id[slot]
    for b in range(0, s.live, LANES):
        costs, least = load(row, b), load(s.least, b)
        bits = below_bits(costs, least) | equal_bits(costs, least)
        bits |= equal_bits(load(s.partner, b), place)
        while bits != 0:
            j = b + first_bit(bits)
            bits &= bits - 1
            if j < s.live and j != slot:
                note_cost(j, slot, row[j], mine, s)
    keep_smallest(slot, row, s)


@outlined
def note_cost(j: int, slot: int, cost: float, mine: int, s: AutomaticStructures) -> None:
    """Make the cost with a slot, whose structure has the id `mine`, known to slot j.

    Modified in place: s.
    """
    partner = int(s.partner[j])
    if cost < s.least[j] or (cost == s.least[j] and mine < s.id[partner]):
        s.least[j], s.partner[j] = cost, slot
    elif partner == slot and (cost > s.least[j] or mine == s.seen):
        find_partner(j, s)  # the point may cost as much as its predecessor, but it is younger


@part
def keep_smallest(slot: int, row: Floats, s: AutomaticStructures) -> None:
    """Keep the smallest of the costs (n,) of a slot. Modified in place: s."""
    partner = first_smallest(row, s.id, s.live)
    s.partner[slot], s.least[slot] = partner, row[partner]


@outlined
def find_partner(slot: int, s: AutomaticStructures) -> None:
    """Compute the costs of a slot, and keep the smallest. Modified in place: s."""
    s.rescans += 1
    write_costs(slot, s.spare_cost, s)
    keep_smallest(slot, s.spare_cost, s)


@outlined
def measure_costs(s: AutomaticStructures) -> None:
    """Find the partner of every structure. Modified in place: s."""
    for i in range(s.live):
        find_partner(i, s)
