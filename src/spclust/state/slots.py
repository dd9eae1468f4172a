"""Slot allocation: structures that have grown in the first slots, single points behind them.

A single point has covariance I, and so has every slot behind the grown ones, in use or not: a block
of eight such slots is measured without its factors, and a point that becomes a structure has only
to write its mean. Structures change slots rarely: when a point becomes a structure of two, when two
grown structures become one, when one is pruned.
"""

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.cholesky import copy_matrix
from spclust.numerics.eight import LANES
from spclust.state.relations import move_relations
from spclust.state.scratch import Scratch
from spclust.state.structures import POINT, Structures, copy_lane, write_fresh_covariance


@part
def exchange_lane(i: int, j: int, blocks: Floats) -> None:
    """Exchange what belongs to two slots. Modified in place: blocks."""
    a, b = blocks[i // LANES], blocks[j // LANES]
    for k in range(blocks.shape[1]):
        a[k, i % LANES], b[k, j % LANES] = b[k, j % LANES], a[k, i % LANES]


@outlined
def move(source: int, target: int, s: Structures, work: Scratch) -> None:
    """Move the structure in slot `source` to slot `target`, which is free.

    Behind the grown ones every slot has its covariance already. Modified in place: s, work.
    """
    copy_lane(source, target, s.anchor)
    copy_lane(source, target, s.drift)
    if source < s.grown:
        copy_lane(source, target, s.whiten)
        copy_matrix(s.Sigma[source], s.Sigma[target])
    numbers = s.numbers
    for k in range(numbers.shape[0]):
        numbers[k, target] = numbers[k, source]
    for k in range(s.rank[source]):
        s.place[target, k] = s.place[source, k]
    s.rank[source] = 0  # its directions belong to the other slot now
    move_relations(source, target, s, work)
    move_in_relation_of_point(source, target, work)


@part
def move_in_relation_of_point(source: int, target: int, work: Scratch) -> None:
    """Note in the point's relation that a structure changed its slot. Modified in place: work."""
    work.point_odds[target] = work.point_odds[source]
    work.point_odds_back[target] = work.point_odds_back[source]
    work.point_pair[target] = work.point_pair[source]


@part
def release_directions(slot: int, s: Structures) -> None:
    """Free the directions of a slot, if it has any. Modified in place: s."""
    for k in range(s.rank[slot]):
        s.free[s.free_directions] = s.place[slot, k]
        s.free_directions += 1
    s.rank[slot] = 0


@part
def slot_to_grow(slot: int, s: Structures, work: Scratch) -> int:
    """Move a single structure that is about to grow behind the grown ones; return its slot.

    It exchanges slots with the single structure that is there. Its relations are not moved: they
    change anyway. Modified in place: s, work.
    """
    first = s.grown
    s.grown += 1
    if slot != first:
        exchange_lane(slot, first, s.anchor)
        exchange_lane(slot, first, s.drift)
        numbers = s.numbers
        for k in range(numbers.shape[0]):
            numbers[k, slot], numbers[k, first] = numbers[k, first], numbers[k, slot]
        move_relations(first, slot, s, work)
        move_in_relation_of_point(first, slot, work)
    return first


@part
def slot_left_free(slot: int, s: Structures, work: Scratch) -> int:
    """Free the slot of a structure that is gone; return one that is free behind the grown ones.

    If that structure had grown, the last of the grown ones moves into the gap. Modified in place:
    s, work.
    """
    if slot >= s.grown:
        return slot
    release_directions(slot, s)
    last = s.grown - 1
    if slot != last:
        move(last, slot, s, work)
    s.grown = last
    write_fresh_covariance(last, s)
    return last


@part
def slots_to_merge(older: int, newer: int, s: Structures, work: Scratch) -> tuple[int, int]:
    """Slots of two structures about to be merged: first the one where their union will be.

    That is the lower of the two, and always among those of grown ones. Modified in place: s, work.
    """
    keeper, other = older, newer
    if newer != POINT and newer < older:
        keeper, other = newer, older
    if keeper >= s.grown:
        keeper = slot_to_grow(keeper, s, work)
    return keeper, other


@outlined
def remove(slot: int, s: Structures, work: Scratch) -> None:
    """Remove the structure in `slot`; the last one moves into the gap. Modified in place: s."""
    free, last = slot_left_free(slot, s, work), s.live - 1
    if free < last:
        move(last, free, s, work)
    s.live = last
