"""Who is nearest to whom: pair odds of all structures, and a lower bound for each row of them.

A row holds the pair odds of a structure with those in higher slots, so that each pair stands in one
row, and what changes most, in the lowest slots, is written along rows. No entry of row i is below
bound[i]. A smaller entry lowers the bound; when the smallest entry grows or goes, the bound is left
as it is. So the closest pair is in the row with the smallest bound, if that row keeps what its
bound promises; if not, its bound is raised, and the next smallest is tried. Most points find
something closer than all bounds and look through no row at all.
"""

import numpy as np

from spclust.algorithm.typicality import Relation
from spclust.arrays import Floats
from spclust.jit.decorators import inner, leaf, separate
from spclust.numerics.eight import (
    LANES,
    equal_bits,
    first_bit,
    load,
    same,
    smaller_of,
    smallest_of,
    store,
)
from spclust.state.structures import CONNECTIONS, LIVE, NOBODY, RESCANS, Structures, slot_pair


@leaf
def smallest(row: Floats, start: int, end: int) -> float:
    """Smallest of row[start:end], eight at a time; infinity if there is none."""
    eight, least = same(np.inf), np.inf
    while start + LANES <= end:
        eight = smaller_of(eight, load(row, start))
        start += LANES
    for j in range(start, end):
        least = min(least, row[j])
    return min(least, smallest_of(eight))


@leaf
def only_place(row: Floats, value: float, start: int, end: int) -> int:
    """Place of `value` in row[start:end] if it is there once, else NOBODY."""
    place = NOBODY
    for block in range(start - start % LANES, end, LANES):
        bits = equal_bits(load(row, block), same(value))
        if block < start:
            bits &= -(1 << (start - block))
        if block + LANES > end:
            bits &= (1 << (end - block)) - 1
        if bits != 0:
            if place != NOBODY or bits & (bits - 1) != 0:
                return NOBODY
            place = block + first_bit(bits)
    return place


@leaf
def first_smallest(row: Floats, ids: Floats, live: int) -> int:
    """Slot with the smallest entry of `row`; among equals the structure created first (E12)."""
    least = smallest(row, 0, live)
    best = only_place(row, least, 0, live)
    if best != NOBODY:  # nearly always
        return best
    for j in range(live):
        if row[j] == least and (best == NOBODY or ids[j] < ids[best]):
            best = j
    return best


@inner
def connect(slot: int, to_all: Relation, s: Structures) -> None:
    """Write down how a structure stands to all live ones. Modified in place: s."""
    there, back, row = s.odds[slot], s.odds_back[slot], s.pair[slot]
    for start in range(0, int(s.head[LIVE]), LANES):
        store(load(to_all.odds, start), there, start)
        store(load(to_all.odds_back, start), back, start)
        store(load(to_all.pair, start), row, start)
    note_connection(slot, s)


@inner
def note_connection(slot: int, s: Structures) -> None:
    """Let others know that the rows of a slot were written, and keep the bounds.

    Modified in place: s.
    """
    live, pair = int(s.head[LIVE]), s.pair[slot]
    s.head[CONNECTIONS] += 1.0
    s.connection[slot] = s.head[CONNECTIONS]
    s.bound[slot] = smallest(pair, slot + 1, live)
    for i in range(slot):
        s.pair[i, slot] = pair[i]
    for i in range(slot):
        s.bound[i] = min(s.bound[i], pair[i])


@separate
def clear_from(slot: int, to_all: Relation) -> None:
    """Forget what a relation says of a slot and those behind it. Modified in place: to_all.

    They belong to nobody, but are read and written in blocks together with those before them.
    """
    for i in range(slot, to_all.pair.size):
        to_all.odds[i] = to_all.odds_back[i] = to_all.pair[i] = np.inf


@inner
def odds_in(slot: int, other: int, s: Structures) -> float:
    """Odds of a structure in another one: what the later of both connections says."""
    if s.connection[slot] >= s.connection[other]:
        return s.odds[slot, other]
    return s.odds_back[other, slot]


@separate
def read_odds(slot: int, s: Structures, odds: Floats) -> None:
    """Odds of a structure in all live others. Modified in place: odds; in itself it is infinite."""
    for i in range(int(s.head[LIVE])):
        odds[i] = odds_in(slot, i, s)
    odds[slot] = np.inf


@separate
def read_relation(slot: int, s: Structures, to_all: Relation) -> None:
    """How a structure stands to all others. Modified in place: to_all."""
    for i in range(int(s.head[LIVE])):
        to_all.odds[i], to_all.odds_back[i] = odds_in(slot, i, s), odds_in(i, slot, s)
        to_all.pair[i] = slot_pair(slot, i, s)
    clear_from(int(s.head[LIVE]), to_all)
    # No structure is its own neighbour.
    to_all.odds[slot] = to_all.odds_back[slot] = to_all.pair[slot] = np.inf


@inner
def closest_pair_within(limit: float, s: Structures) -> tuple[int, int]:
    """Slots of the closest two structures, the older one first, if their odds are within `limit`.

    Otherwise NOBODY, twice. Modified in place: s, its bounds.
    """
    live = int(s.head[LIVE])
    while True:
        least = smallest(s.bound, 0, live)
        if not least <= limit or least == np.inf:
            return NOBODY, NOBODY
        i = only_place(s.bound, least, 0, live)
        j = NOBODY
        if i != NOBODY:
            s.head[RESCANS] += 1
            found = smallest(s.pair[i], i + 1, live)
            if found > least:
                s.bound[i] = found
                continue
            j = only_place(s.pair[i], least, i + 1, live)
        if j == NOBODY:
            i, j = oldest_of_equals(least, s)
        if i != NOBODY:
            return (i, j) if s.id[i] < s.id[j] else (j, i)


@separate
def oldest_of_equals(least: float, s: Structures) -> tuple[int, int]:
    """Of all pairs whose odds are `least`, the smallest bound, that of the oldest structures (E12).

    NOBODY, twice, if there is none; the bounds that promised one are raised. Modified in place: s.
    """
    live = int(s.head[LIVE])
    best, other = NOBODY, NOBODY
    for i in range(live):
        if s.bound[i] == least:
            s.head[RESCANS] += 1
            s.bound[i] = smallest(s.pair[i], i + 1, live)
            for j in range(i + 1, live):
                if s.pair[i, j] == least:
                    older, newer = (i, j) if s.id[i] < s.id[j] else (j, i)
                    if (
                        best == NOBODY
                        or s.id[older] < s.id[best]
                        or (older == best and s.id[newer] < s.id[other])
                    ):
                        best, other = older, newer
    return best, other


@separate
def take_logarithms(s: Structures) -> None:
    """From now on hold the logarithms of all odds. Modified in place: s."""
    live = int(s.head[LIVE])
    for i in range(live):
        s.bound[i] = np.log(s.bound[i])
        for j in range(live):
            s.odds[i, j] = np.log(s.odds[i, j])
            s.odds_back[i, j] = np.log(s.odds_back[i, j])
            s.pair[i, j] = np.log(s.pair[i, j])
