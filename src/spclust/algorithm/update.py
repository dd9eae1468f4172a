"""Algorithm 1, the online phase: UpdateSPC, from the top down. Merge is in `merge`.

Follow one point: `learn_rows` hands it to `update`, with its odds in every structure. While there
are fewer than N structures it becomes a structure of its own. Otherwise the weight of every
structure is refreshed. If one has become too light, the point is inserted and something is pruned
(`prune`). If not, the two closest of all structures, the point being one of them, are merged:
either a structure absorbs the point, or two structures become one and the point gets the slot that
becomes free.

Nothing is computed twice: the typicalities of the point serve the weights and its pair odds; pair
odds are kept (`state.relations`). And little is read twice: the structure that changed and the next
point are measured together, against all structures.
"""

import numpy as np

from spclust.algorithm.closest_pair import closest_pair, closest_pair_within
from spclust.algorithm.footprint import fade_shares, fading, updated_total
from spclust.algorithm.merge import merge, merge_in_general, point_age, point_damping
from spclust.algorithm.prune import first_to_prune, prune_on
from spclust.algorithm.typicality import (
    distances_both_ways,
    fill_odds,
    typicality_from_odds,
)
from spclust.array_types import Floats
from spclust.jit.decorators import part
from spclust.numerics.eight import LANES, below_bits, load, store
from spclust.numerics.powers import exponential
from spclust.state.relations import clear_from, connect, note_connection
from spclust.state.scratch import Relation, Scratch, point_relation
from spclust.state.slots import remove, slot_left_free, slots_to_merge
from spclust.state.structures import (
    NOBODY,
    POINT,
    Structures,
    read_factor,
    read_mean,
    write_mean,
)

UNFINISHED = -2  # in place of a slot: the next merge takes the general union, or more memory


@part
def has_too_many(s: Structures) -> bool:
    """True if structures have to be pruned or merged before the next point."""
    return s.live > s.capacity or s.prune_from > 0


@part
def learn_rows(rows: int, X: Floats, s: Structures, work: Scratch) -> int:
    """Learn the rows of X until one is not finite or cannot be learnt by this kernel alone.

    X holds just so many rows, one after the other; if not, none is learnt. Returns the number of
    rows learnt, negative if the next merge takes the general union: see `unite_pair`. What a point
    changed is measured together with the next point. With rows = -1 - slot no row is learnt, but
    that slot is measured: another kernel for it would take seconds to compile. Modified in place:
    s, work.
    """
    changed, row, learns = s.stale - 1, 0, rows >= 0
    if not learns:
        changed, rows = -rows - 1, 0
    elif work.pending or not holds(rows, X, s):
        return 0
    if work.united:
        remove_united(s, work)
        changed = s.stale - 1
    if changed != NOBODY:
        read_factor(changed, s.whiten, work.W)
        s.stale = 0
    while True:
        making_room = learns and has_too_many(s)
        another = not making_room and row < rows
        another = another and not s.covariance.lacks_memory(s.largest_rank + 1, s)
        another = another and take(X, row, s, work)
        measure(changed, another, s, work)
        if not another and not making_room:
            return row
        row += another
        changed = update(another, s, work)
        if changed == UNFINISHED:
            return -row


@part
def update(arrives: bool, s: Structures, work: Scratch) -> int:
    """UpdateSPC: learn the point work.x, whose odds are in work.point_odds.

    Returns the slot of the structure that changed and has to be measured again, NOBODY, or
    UNFINISHED. If more is to be pruned or merged than can be done before that structure is
    measured, this is called once more, though no point arrives. One place merges, because it is
    most of what there is to compile. Modified in place: s, work.
    """
    too_light, full = not arrives, True
    if arrives:
        fade_shares(s)
        full = s.live >= s.capacity  # E11: while there is room, nothing but insertion
        too_light = full and refresh_weights(s, work)
        s.seen += 1
        if too_light or not full:
            insert(one_more(s, work), full, s, work)
            if not full:
                return NOBODY
    older, newer, light = NOBODY, NOBODY, False
    if too_light:
        older, newer = first_to_prune(s, work)
        light = older != NOBODY
        if not light:
            s.prune_from = 0
            if s.live <= s.capacity:  # E6: a prune may have made room
                return NOBODY
            older, newer = closest_pair_within(np.inf, s)
        if s.covariance.lacks_memory(s.rank[older] + s.rank[newer] + 1, s):
            return UNFINISHED
    else:
        older, newer = closest_pair(s, work)
    grown = s.grown
    changed, other = slots_to_merge(older, newer, s, work)
    merged = merge(changed, other, s, work)
    if not merged and s.grown > grown:
        s.stale = changed + 1  # it has another slot, and its relations were not moved
    if too_light:
        if merged and light:
            prune_on(other, s, work)
        elif merged:
            remove(other, s, work)
    elif not merged or other != POINT:
        slot = slot_left_free(other, s, work) if merged else one_more(s, work)
        insert(slot, full, s, work)
        other = slot if other == POINT else other
    if merged:
        return changed
    work.keeper, work.other, work.light = changed, other, light
    work.pending = not s.covariance.lacks_memory(s.rank[changed] + s.rank[other] + 1, s)
    return UNFINISHED


@part
def unite_pair(s: Structures, work: Scratch) -> None:
    """Merge the two structures that `update` left to the general union.

    The next call of `learn_rows` removes the other one and measures their union. Modified in place:
    s, work.
    """
    merge_in_general(work.keeper, work.other, s, work)
    s.stale = work.keeper + 1
    work.pending, work.united = False, True


@part
def remove_united(s: Structures, work: Scratch) -> None:
    """Remove the structure that was merged by the general union. Modified in place: s, work."""
    work.united = False
    if work.light:
        prune_on(work.other, s, work)
    else:
        remove(work.other, s, work)


@part
def one_more(s: Structures, work: Scratch) -> int:
    """The slot of a structure more. Modified in place: s, work."""
    slot = s.live
    s.live += 1
    clear_from(slot, point_relation(work))
    return slot


@part
def refresh_weights(s: Structures, work: Scratch) -> bool:
    """Eq. 13 for every structure (E5: all, before any merge); True if one is too light.

    Modified in place: s.
    """
    live, in_logs, gap, w_min = s.live, s.in_logs, s.gap, s.w_min
    totals, dampings, ages, point_odds = s.total, s.damping, s.age, work.point_odds
    decay = fading(s.beta, gap)
    light = 0
    for i in range(0, live, LANES):
        odds = load(point_odds, i)
        u = typicality_from_odds(exponential(odds) if in_logs else odds)
        total = updated_total(load(totals, i), u, decay)
        damping = updated_total(load(dampings, i), 1.0, decay)
        store(total, totals, i)
        store(damping, dampings, i)
        store(load(ages, i) + gap, ages, i)
        bits = below_bits(total, w_min * damping)
        light |= bits if i + LANES <= live else bits & ((1 << (live - i)) - 1)
    return light != 0


@part
def insert(slot: int, full: bool, s: Structures, work: Scratch) -> None:
    """Give the point a structure of its own in a free slot: (x, I, w = 1, count = 1, age = 1).

    The covariance of a free slot is I already. If the set is full, weights were refreshed, and the
    point has lived through its own update. Modified in place: s.
    """
    write_mean(slot, s, work.x)
    s.total[slot] = s.damping[slot] = s.count[slot] = s.recent[slot] = 1.0
    s.age[slot] = s.gap
    if full:
        s.total[slot] = s.damping[slot] = point_damping(s)
        s.age[slot] = point_age(s)
    s.id[slot] = s.seen - 1
    connect(slot, point_relation(work), s)


@part
def measure(changed: int, next_too: bool, s: Structures, work: Scratch) -> None:
    """Odds of a structure that changed, and of the next point, with every structure, both ways.

    Eq. 2 and 3. The relations of the structure in slot `changed` (or NOBODY), of factor work.W, are
    written down, too. Modified in place: s, work.
    """
    if changed != NOBODY:
        read_mean(changed, s, work.mu)
    distances_both_ways(changed, next_too, s, work)
    if changed != NOBODY:
        # The distance to itself is never used, and 0 would count as a copy of the structure.
        q, q_back = work.changed_q, work.changed_q_back
        q[changed] = q_back[changed] = 1.0
        row = Relation(q, q_back, s.odds[changed], s.odds_back[changed], s.pair[changed])
        fill_odds(row, s)
        note_connection(changed, s)
    if next_too:
        fill_odds(point_relation(work), s)


@part
def holds(rows: int, X: Floats, s: Structures) -> bool:
    """True if X holds just so many rows, one number after the other."""
    return X.size == rows * row_width(s) and (X.size < 2 or X.strides[0] == X.itemsize)


@part
def row_width(s: Structures) -> int:
    """Numbers in a row of X: those of a point, behind its time stamp if it has one."""
    return s.d + s.timed


@part
def take(X: Floats, row: int, s: Structures, work: Scratch) -> bool:
    """Make a row of X the point work.x; False if it is not finite. Modified in place: s, work."""
    start, sum_of_zeros, x = row * row_width(s), 0.0, work.x
    now = X[start]
    if s.timed:
        start += 1
    for c in range(x.shape[1]):
        x[0, c], x[1, c] = X[start + c], 0.0
        sum_of_zeros += X[start + c] - X[start + c]
    finite = sum_of_zeros == 0.0
    if s.timed and finite:  # a point that is refused takes no time
        tick(now, s)
    return finite


@part
def tick(now: float, s: Structures) -> None:
    """Set the clock to `now`, the time stamp of the next point. Modified in place: s.

    The first point of a stream comes one unit after nothing, as in the paper.
    """
    s.gap = now - s.clock if s.seen > 0 else 1.0
    s.clock = now
