"""Relations of structures: odds of each in each other, pair odds, and a lower bound for each row.

A row of pair odds holds those of a structure with structures in higher slots, so that each pair is
in one row, and what changes most, in the lowest slots, is written along rows. No entry of row i is
below bound[i]. A smaller entry lowers the bound; when the smallest entry grows or is removed, the
bound is left as it is: see `algorithm.closest_pair`.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import LANES, load, store
from spclust.numerics.smallest import smallest
from spclust.state.scratch import Relation, Scratch, changed_relation
from spclust.state.structures import Structures, slot_pair


@part
def connect(slot: int, to_all: Relation, s: Structures) -> None:
    """Write down the relation of a structure to all live ones. Modified in place: s."""
    there, back, row = s.odds[slot], s.odds_back[slot], s.pair[slot]
    for start in range(0, s.live, LANES):
        store(load(to_all.odds, start), there, start)
        store(load(to_all.odds_back, start), back, start)
        store(load(to_all.pair, start), row, start)
    note_connection(slot, s)


@part
def note_connection(slot: int, s: Structures) -> None:
    """Note that the rows of a slot were written, and keep the bounds. Modified in place: s."""
    live, pairs, bound = s.live, s.pair, s.bound
    pair = pairs[slot]
    s.connections += 1
    s.connection[slot] = s.connections
    bound[slot] = smallest(pair, slot + 1, live)
    for i in range(slot):
        pairs[i, slot] = pair[i]
    for i in range(slot):
        bound[i] = min(bound[i], pair[i])


@outlined
def clear_from(slot: int, to_all: Relation) -> None:
    """Clear the entries of a relation from a slot on. Modified in place: to_all.

    They belong to no structure, but are read and written in blocks together with those before.
    """
    for i in range(slot, to_all.pair.size):
        to_all.odds[i] = to_all.odds_back[i] = to_all.pair[i] = np.inf


@part
def odds_in(slot: int, other: int, s: Structures) -> float:
    """Odds of a structure in another one: those of the later of both connections."""
    if s.connection[slot] >= s.connection[other]:
        return s.odds[slot, other]
    return s.odds_back[other, slot]


@outlined
def read_odds(slot: int, s: Structures, odds: Floats) -> None:
    """Odds of a structure in all live others. Modified in place: odds; in itself it is infinite."""
    for i in range(s.live):
        odds[i] = odds_in(slot, i, s)
    odds[slot] = np.inf


@outlined
def move_relations(source: int, target: int, s: Structures, work: Scratch) -> None:
    """Give slot `target` the relations of slot `source`. Modified in place: s, work."""
    to_all = changed_relation(work)
    for i in range(s.live):
        to_all.odds[i], to_all.odds_back[i] = odds_in(source, i, s), odds_in(i, source, s)
        to_all.pair[i] = slot_pair(source, i, s)
    clear_from(s.live, to_all)
    # No structure is its own neighbour.
    to_all.odds[source] = to_all.odds_back[source] = to_all.pair[source] = np.inf
    connect(target, to_all, s)


@outlined
def take_logarithms(s: Structures) -> None:
    """Replace all odds by their logarithms from now on. Modified in place: s."""
    for i in range(s.live):
        s.bound[i] = np.log(s.bound[i])
        for j in range(s.live):
            s.odds[i, j] = np.log(s.odds[i, j])
            s.odds_back[i, j] = np.log(s.odds_back[i, j])
            s.pair[i, j] = np.log(s.pair[i, j])
    s.in_logs = True
