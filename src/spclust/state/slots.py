"""Who sits where: structures that have grown in the first slots, single points behind them.

A single point has spread I, and so has every slot behind the grown ones, taken or not: a block of
eight such slots is measured without its factors, and a point that settles has only to write its
mean. Structures change seats rarely: when a point becomes a structure of two, when two grown
structures become one, when one is pruned.
"""

from spclust.algorithm.neighbours import connect, read_relation
from spclust.algorithm.typicality import Relation
from spclust.arrays import Floats
from spclust.jit.decorators import inner, leaf, separate
from spclust.numerics.cholesky import copy_matrix
from spclust.numerics.eight import LANES
from spclust.state.scratch import Workspace
from spclust.state.structures import (
    FRAMED,
    FREE,
    GROWN,
    POINT,
    Structures,
    copy_lane,
    write_fresh_spread,
)


@leaf
def exchange_lane(i: int, j: int, blocks: Floats) -> None:
    """Exchange what belongs to two slots. Modified in place: blocks."""
    a, b = blocks[i // LANES], blocks[j // LANES]
    for k in range(blocks.shape[1]):
        a[k, i % LANES], b[k, j % LANES] = b[k, j % LANES], a[k, i % LANES]


@separate
def move_relations(source: int, target: int, s: Structures, spare: Relation) -> None:
    """Let slot `target` stand to all others as slot `source` does. Modified in place: s, spare."""
    read_relation(source, s, spare)
    connect(target, spare, s)


@separate
def move(source: int, target: int, s: Structures, work: Workspace) -> None:
    """Let the structure in slot `source` live in slot `target`, which is free.

    Behind the grown ones every slot has its spread already. Modified in place: s, work.
    """
    copy_lane(source, target, s.anchor)
    copy_lane(source, target, s.drift)
    if source < int(s.head[GROWN]):
        copy_lane(source, target, s.whiten)
        copy_matrix(s.Sigma[source], s.Sigma[target])
    s.total[target] = s.total[source]
    s.mass[target] = s.mass[source]
    s.count[target] = s.count[source]
    s.age[target] = s.age[source]
    s.id[target] = s.id[source]
    s.least[target] = s.least[source]
    s.renewals[target] = s.renewals[source]
    s.recent[target] = s.recent[source]
    s.owner[target] = s.owner[source]
    if s.head[FRAMED] == 1.0:
        for c in range(s.scatter.shape[1]):
            s.scatter[target, c] = s.scatter[source, c]
    s.rank[target], s.base[target] = s.rank[source], s.base[source]
    for k in range(int(s.rank[source])):
        s.place[target, k] = s.place[source, k]
    s.rank[source] = 0.0  # its directions are the other slot's now
    move_relations(source, target, s, work.changed)
    follow(source, target, work.point)


@inner
def follow(source: int, target: int, to_all: Relation) -> None:
    """Note in the point's relation that a structure changed its seat. Modified in place: to_all."""
    to_all.odds[target] = to_all.odds[source]
    to_all.odds_back[target] = to_all.odds_back[source]
    to_all.pair[target] = to_all.pair[source]


@inner
def release_directions(slot: int, s: Structures) -> None:
    """The directions of a slot, if it has any, are nobody's any more. Modified in place: s."""
    for k in range(int(s.rank[slot])):
        s.free[int(s.head[FREE])] = s.place[slot, k]
        s.head[FREE] += 1
    s.rank[slot] = 0.0


@inner
def seat_to_grow(slot: int, s: Structures, work: Workspace) -> int:
    """Let a single structure that is about to grow sit behind the grown ones; its slot then.

    It exchanges seats with the single structure that is there. Its relations are not taken along:
    they change anyway. Modified in place: s, work.
    """
    first = int(s.head[GROWN])
    s.head[GROWN] += 1
    if slot != first:
        exchange_lane(slot, first, s.anchor)
        exchange_lane(slot, first, s.drift)
        s.total[slot], s.total[first] = s.total[first], s.total[slot]
        s.mass[slot], s.mass[first] = s.mass[first], s.mass[slot]
        s.age[slot], s.age[first] = s.age[first], s.age[slot]
        s.id[slot], s.id[first] = s.id[first], s.id[slot]
        s.recent[slot], s.recent[first] = s.recent[first], s.recent[slot]
        s.owner[slot], s.owner[first] = s.owner[first], s.owner[slot]
        move_relations(first, slot, s, work.changed)
        follow(first, slot, work.point)
    return first


@inner
def seat_left_free(slot: int, s: Structures, work: Workspace) -> int:
    """Slot that falls free when the structure in `slot` is gone: one behind the grown ones.

    If that structure had grown, the last of the grown ones moves into the gap. Modified in place:
    s, work.
    """
    if slot >= int(s.head[GROWN]):
        return slot
    release_directions(slot, s)
    last = int(s.head[GROWN]) - 1
    if slot != last:
        move(last, slot, s, work)
    s.head[GROWN] = last
    write_fresh_spread(last, s)
    return last


@inner
def seats(older: int, newer: int, s: Structures, work: Workspace) -> tuple[int, int]:
    """Slots of two structures about to be merged: first where their union is to be.

    That is the lower of the two, and always among those of grown ones. Modified in place: s, work.
    """
    keeper, other = older, newer
    if newer != POINT and newer < older:
        keeper, other = newer, older
    if keeper >= int(s.head[GROWN]):
        keeper = seat_to_grow(keeper, s, work)
    return keeper, other
