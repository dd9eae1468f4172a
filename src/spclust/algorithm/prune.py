"""Pruning: structures that have become too light are merged where they are typical, or forgotten.

`first_to_prune` finds them, and `online` merges them as it does any other. What is left, in two
dimensions and where spreads take the general union, is rare and long to compile: `prune` is a
kernel of its own.
"""

import numpy as np

from spclust.algorithm.merge import merge_any
from spclust.algorithm.neighbours import closest_pair_within, first_smallest, read_odds
from spclust.algorithm.typicality import nlt_from_odds
from spclust.arrays import Floats
from spclust.covariance.dispatch import lacks_memory
from spclust.jit.decorators import inner, paragraph, separate
from spclust.state.scratch import Workspace, workspace
from spclust.state.slots import move, seat_left_free, seats
from spclust.state.structures import (
    IN_LOGS,
    LIVE,
    LOOKED,
    NLT_MAX,
    NOBODY,
    PRUNED,
    STALE,
    W_MIN,
    Structures,
    view_in_kernel,
)


@separate
def first_to_prune(s: Structures, work: Workspace) -> tuple[int, int]:
    """Slots of the oldest structure that is too light but typical somewhere, and of that one.

    Those before it are forgotten; s.head[LOOKED] tells where to go on. NOBODY, twice, if there is
    none. Modified in place: s, work.
    """
    while True:
        i = next_too_light(s, s.head[LOOKED] - 1.0)
        if i == NOBODY:
            return NOBODY, NOBODY
        s.head[LOOKED] = s.id[i]  # all before it were looked at
        j = host_of(i, s, work)
        if j != NOBODY:
            return i, j
        forget(i, s, work)
        s.head[LOOKED] += 1.0


@separate
def look_on(other: int, s: Structures, work: Workspace) -> None:
    """Remove the structure in slot `other`, a part of another one now, and look for more to prune.

    s.head[LOOKED], the id of the one that was too light, tells from where on: 0 if there is no
    more. Modified in place: s, work.
    """
    remove(other, s, work)
    more = next_too_light(s, s.head[LOOKED]) != NOBODY
    s.head[LOOKED] = s.head[LOOKED] + 1.0 if more else 0.0


@paragraph
def prune(pool: Floats, scratch: Floats, most: int, kind: int) -> None:
    """Prune, or merge the closest pair if there are more than `most` structures: the next merge.

    Pruned are structures lighter than w_min, oldest first: merged into the one in which they are
    most typical, or, if typical nowhere, forgotten. A structure that took in another one is not
    looked at again for this point. Whoever was merged is noted in s.head[STALE], and has to be
    measured before this is called again; if nobody, that was all, or memory is lacking. Modified in
    place: pool, scratch.
    """
    s = view_in_kernel(pool, kind)
    work = workspace(scratch, s)
    i, j = first_to_prune(s, work)
    light = i != NOBODY
    if not light:
        if s.head[LIVE] <= most:  # E6: a prune may have made room
            s.head[LOOKED] = 0.0
            return
        i, j = closest_pair_within(np.inf, s)
    if lacks_memory(s.rank[i] + s.rank[j] + 1.0, s, kind):
        return
    if light:
        s.head[LOOKED] += 1.0
    changed, other = seats(i, j, s, work)
    merge_any(changed, other, s, work, kind)
    s.head[STALE] = changed + 1.0
    remove(other, s, work)


@inner
def next_too_light(s: Structures, last: float) -> int:
    """Slot of the oldest structure created after `last` that is lighter than w_min, or NOBODY."""
    found = NOBODY
    for i in range(int(s.head[LIVE])):
        light = s.total[i] < s.head[W_MIN] * s.mass[i] and s.id[i] > last
        if light and (found == NOBODY or s.id[i] < s.id[found]):
            found = i
    return found


@inner
def host_of(slot: int, s: Structures, work: Workspace) -> int:
    """Slot in which a structure is most typical; NOBODY if its NLT there is not below nlt_max.

    Modified in place: work.
    """
    read_odds(slot, s, work.changed.odds)
    j = first_smallest(work.changed.odds, s.id, int(s.head[LIVE]))
    nlt = nlt_from_odds(work.changed.odds[j], s.head[IN_LOGS] == 1.0)
    return j if nlt < s.head[NLT_MAX] else NOBODY


@separate
def remove(slot: int, s: Structures, work: Workspace) -> None:
    """Forget the structure in `slot`; the last one moves into the gap. Modified in place: s."""
    free, last = seat_left_free(slot, s, work), int(s.head[LIVE]) - 1
    if free < last:
        move(last, free, s, work)
    s.head[LIVE] = last


@inner
def forget(slot: int, s: Structures, work: Workspace) -> None:
    """Remove a structure, and its points with it. Modified in place: s, work."""
    s.head[PRUNED] += s.count[slot]
    remove(slot, s, work)
