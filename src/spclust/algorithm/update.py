"""Algorithm 1, the online phase: UpdateSPC, told from the top down. Merge is in `merging`.

Follow one point: `learn` hands it to `update`, with what is known of it: how typical it is
everywhere. While there is room it becomes a structure of its own, and that is all. Otherwise every
structure's weight is refreshed. If one has become too light, the point is inserted all the same,
and something is pruned (`pruning`). If not, the two closest of all structures, the point being
one of them, are merged: either a structure takes in the point, or two structures become one and the
point gets the slot that falls free.

Nothing is computed twice: the typicalities of the point serve the weights and its pair odds;
pair odds are kept (`neighbours`). And little is read twice: the structure that changed and the next
point are measured together, against all structures.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from spclust.algorithm.clock import fade_shares, holds, take
from spclust.algorithm.footprint import fading, updated_total
from spclust.algorithm.merge import measure, merge, point_age, point_mass
from spclust.algorithm.neighbours import (
    clear_from,
    closest_pair_within,
    connect,
    first_smallest,
)
from spclust.algorithm.prune import first_to_prune, look_on, prune
from spclust.algorithm.typicality import typicality_from_odds
from spclust.arrays import Floats
from spclust.covariance.dispatch import lacks_memory
from spclust.jit.decorators import address_of, compiled_once, entry, inner, kernel_of, paragraph
from spclust.jit.gil import learn_point
from spclust.numerics.eight import LANES, below_bits, load, store
from spclust.numerics.powers import exponential
from spclust.state.kinds import PLANE, plain
from spclust.state.scratch import Workspace, workspace
from spclust.state.slots import seat_left_free, seats
from spclust.state.structures import (
    BETA,
    CAPACITY,
    CRAMPED,
    FEATURES,
    FRAMED,
    GAP,
    GROWN,
    IN_LOGS,
    LARGEST,
    LIVE,
    LOOKED,
    NOBODY,
    POINT,
    SEEN,
    STALE,
    TIMED,
    W_MIN,
    Structures,
    kind_of,
    read_factor,
    slot_pair,
    view_in_kernel,
    write_mean,
)

UNFINISHED = -2  # in place of a slot: `make_room` has to do the rest
NO_ROWS = np.empty(0)
NO_ROWS.flags.writeable = False  # kernels are compiled for rows that may not be written to


def learn(pool: Floats, X: Floats, scratch: Floats, row: int = 0) -> int:
    """Learn the rows of X from `row` on, all finite, one after the other in one array.

    The number of the row after the last one learnt: there are more only if first the pool has to
    be made larger. Modified in place: pool, scratch.

    To prune, and to unite any two spreads, is rare and compiles to as much code as all the rest: it
    is called, and compiled, only when it is needed; first of all, if the last call was interrupted
    before it.
    """
    step, width = learning_kernel(kind_of(pool)), int(pool[FEATURES] + pool[TIMED])
    while True:
        if pool[CRAMPED] > 0.0:
            return row
        if unfinished(pool):
            make_room(pool, scratch)
        elif row * width < X.size:
            learnt = abs(step(pool, X[row * width :], scratch, X.size // width - row))
            row += learnt
            if learnt == 0 and pool[CRAMPED] == 0.0:
                raise ValueError(f"Row {row} is not finite, or X is not one row of numbers.")
        else:
            return row


def unfinished(head: Floats) -> bool:
    """Whether there is something to prune or to measure before the next point."""
    return bool(head[LIVE] > head[CAPACITY] or head[LOOKED] > 0.0 or head[STALE] > 0.0)


unfinished_in_kernel = inner(unfinished)


@cache
def learning_kernel(kind: int) -> Any:
    """Machine code of the kernel that learns rows, for callers who have just what it takes."""
    memory = np.empty(1)
    return entry(compiled_once(kernels(kind).learn_rows, memory, NO_ROWS, memory, 0))


@cache
def point_kernel(kind: int) -> tuple[Any, int]:
    """Machine code that learns one row, and what it is called with after the scratch memory."""
    learn = learning_kernel(kind)
    address = address_of(kernels(kind).learn_rows)
    if not address:
        return learn, 1
    memory = np.empty(1)
    return entry(compiled_once(learn_point, memory, NO_ROWS, memory, 0)), address


@cache
def pruning_kernel(kind: int) -> Any:
    """Machine code of the kernel that prunes."""
    memory = np.empty(1)
    return entry(compiled_once(kernels(plain(kind)).make_room, memory, memory, 0))


def make_room(pool: Floats, scratch: Floats, most: int | None = None) -> None:
    """Prune, and merge the closest pair while there are more than N structures: see `prune`.

    `most` is another N, if there are to be fewer structures than the pool has room for.
    """
    kind, most = kind_of(pool), int(pool[CAPACITY]) if most is None else most
    while True:
        if pool[STALE] > 0.0:
            measure_slot(int(pool[STALE]) - 1, kind, pool, scratch)
        pruning_kernel(kind)(pool, scratch, most)
        if pool[STALE] == 0.0:
            return


def measure_slot(slot: int, kind: int, pool: Floats, scratch: Floats) -> None:
    """Measure how a structure stands to all others, whatever was known of it."""
    learning_kernel(kind)(pool, NO_ROWS, scratch, -1 - slot)


def measure_all(pool: Floats, scratch: Floats) -> None:
    """Measure how all structures stand to each other."""
    for slot in range(int(pool[LIVE])):
        measure_slot(slot, kind_of(pool), pool, scratch)


class Kernels(NamedTuple):
    """The kernels of the online phase for one kind of spreads."""

    learn_rows: Any
    make_room: Any


@cache
def kernels(kind: int) -> Kernels:
    """What is compiled for a kind, when it is first called."""

    @kernel_of(kind)
    def learn_rows(pool: Floats, X: Floats, scratch: Floats, rows: int) -> int:
        return learn_all(rows, X, pool, scratch, kind)

    @kernel_of(kind)
    def make_room(pool: Floats, scratch: Floats, most: int) -> None:
        prune(pool, scratch, most, kind)

    return Kernels(learn_rows, make_room)


@paragraph
def learn_all(rows: int, X: Floats, pool: Floats, scratch: Floats, kind: int) -> int:
    """Learn the rows of X until one is not finite or cannot be learnt here alone.

    X holds just so many rows, one after the other; if not, none is learnt. The number of those
    learnt, negative if `make_room` has to do the rest. What a point changed is measured together
    with the next point. With rows = -1 - slot no row is learnt, but that slot is measured: another
    kernel for it would take seconds to compile. Modified in place: pool, scratch.
    """
    s = view_in_kernel(pool, kind)
    work = workspace(scratch, s)
    changed, row, learns = NOBODY, 0, rows >= 0
    if not learns:
        changed, rows = -rows - 1, 0
        read_factor(changed, s.whiten, work.W)
        s.head[STALE] = 0.0
    elif unfinished_in_kernel(s.head) or not holds(rows, X, s):
        return 0  # interrupted before it pruned, or given what it was not compiled for
    while True:
        prunes_on = kind != PLANE and learns and s.head[LOOKED] > 0.0
        another = not prunes_on and row < rows
        another = another and not lacks_memory(s.head[LARGEST] + 1.0, s, kind)
        another = another and take(X, row, s, work)
        measure(changed, another, s, work, kind)
        if not another and not prunes_on:
            return row
        row += another
        changed = update(another, s, work, kind)
        if changed == UNFINISHED:
            return -row


@paragraph
def update(arrives: bool, s: Structures, work: Workspace, kind: int) -> int:
    """UpdateSPC: learn the point work.x, of which work.point tells the odds.

    Returns the slot of the structure that changed and has to be measured again, NOBODY, or
    UNFINISHED if `make_room` has to go on pruning, or to merge what only the general union covers.
    If more is to be pruned than can be done before that structure is measured, s.head[LOOKED] tells
    so, and this is called once more, though no point arrives. One place merges, because it is most
    of what there is to compile. Modified in place: s, work.
    """
    too_light = True
    if arrives:
        fade_shares(s)
        full = s.head[LIVE] >= s.head[CAPACITY]  # E11: while there is room, nothing but insertion
        too_light = full and refresh_weights(s, work)
        s.head[SEEN] += 1
        if too_light or not full:
            settle(one_more(s, work), full, s, work)
            if not full:
                return NOBODY
            if kind == PLANE:  # hardly anything is pruned there: not worth compiling
                return UNFINISHED
    if kind != PLANE and too_light:
        older, newer = first_to_prune(s, work)
        if older == NOBODY:
            s.head[LOOKED] = 0.0
            return NOBODY
        if lacks_memory(s.rank[older] + s.rank[newer] + 1.0, s, kind):
            return UNFINISHED
    else:
        older, newer = closest_pair(s, work)
    grown = s.head[GROWN]
    changed, other = seats(older, newer, s, work)
    merged = merge(changed, other, s, work, kind)
    if not merged and s.head[GROWN] > grown:
        s.head[STALE] = changed + 1.0  # it has another seat, and its relations were not taken along
    if kind != PLANE and too_light:
        if merged:
            look_on(other, s, work)
        return changed if merged else UNFINISHED
    if merged and other == POINT:
        return changed
    settle(seat_left_free(other, s, work) if merged else one_more(s, work), True, s, work)
    return changed if merged else UNFINISHED


@inner
def one_more(s: Structures, work: Workspace) -> int:
    """The slot of a structure more. Modified in place: s, work."""
    slot = int(s.head[LIVE])
    s.head[LIVE] += 1
    clear_from(slot, work.point)
    return slot


@inner
def refresh_weights(s: Structures, work: Workspace) -> bool:
    """Eq. 13 for every structure (E5: all, before any merge); whether one is too light.

    Modified in place: s.
    """
    live, in_logs = int(s.head[LIVE]), s.head[IN_LOGS] == 1.0
    gap, w_min = s.head[GAP], s.head[W_MIN]
    decay = fading(s.head[BETA], gap)
    light = 0
    for i in range(0, live, LANES):
        odds = load(work.point.odds, i)
        u = typicality_from_odds(exponential(odds) if in_logs else odds)
        total = updated_total(load(s.total, i), u, decay)
        mass = updated_total(load(s.mass, i), 1.0, decay)
        store(total, s.total, i)
        store(mass, s.mass, i)
        store(load(s.age, i) + gap, s.age, i)
        bits = below_bits(total, w_min * mass)
        light |= bits if i + LANES <= live else bits & ((1 << (live - i)) - 1)
    return light != 0


@inner
def closest_pair(s: Structures, work: Workspace) -> tuple[int, int]:
    """Slots of the pair with the smallest D, the older one first; POINT stands for the point."""
    to_all = work.point.pair
    mine = first_smallest(to_all, s.id, int(s.head[LIVE]))
    older, newer = closest_pair_within(to_all[mine], s)
    if older == NOBODY:
        return mine, POINT
    tie = slot_pair(older, newer, s) == to_all[mine]
    return (mine, POINT) if tie and s.id[mine] < s.id[older] else (older, newer)  # E12


@inner
def settle(slot: int, full: bool, s: Structures, work: Workspace) -> None:
    """Give the point a structure of its own in a free slot: (x, I, w = 1, count = 1, age = 1).

    The spread of a free slot is I already.
    If the set is full, weights were refreshed, and the point has lived through itself. Modified in
    place: s.
    """
    write_mean(slot, s, work.x)
    s.total[slot] = s.mass[slot] = s.count[slot] = s.recent[slot] = 1.0
    s.age[slot], s.owner[slot] = s.head[GAP], 0.0
    if s.head[FRAMED] == 1.0:
        s.scatter[slot] = 0.0
    if full:
        s.total[slot] = s.mass[slot] = point_mass(s)
        s.age[slot] = point_age(s)
    s.id[slot] = s.head[SEEN] - 1.0
    connect(slot, work.point, s)
