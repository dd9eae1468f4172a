"""Algorithm 1, the online phase: UpdateSPC, told from the top down. Merge is in `merging`.

Follow one point: `learn` hands it to `update`, which measures how typical it is everywhere. While
there is room it becomes a structure of its own, and that is all. Otherwise every structure's
weight is refreshed. If one has become too light, the point is inserted all the same, and
`make_room` prunes. If not, the two closest of all structures, the point being one of them, are
merged: either a structure takes in the point, or two structures become one and the point gets the
slot that falls free.

Nothing is computed twice: the typicalities of the point serve the weights and its pair odds;
pair odds are kept, with each structure's nearest neighbour (`neighbours`).
"""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, paragraph
from spclust.core.distances import distances_of_point
from spclust.core.footprint import updated_total
from spclust.core.merging import (
    POINT,
    POINT_AGE,
    fill_all_odds,
    merge,
    point_mass,
    relate,
)
from spclust.core.neighbours import connect, disconnect, first_smallest, renew_nearest
from spclust.core.structures import (
    BETA,
    CAPACITY,
    IN_LOGS,
    LIVE,
    NLT_MAX,
    PRUNED,
    SEEN,
    W_MIN,
    Structures,
    move_slot,
    view_in_kernel,
    write_fresh_spread,
    write_mean,
)
from spclust.core.typicality import nlt_from_odds, typicality_from_odds
from spclust.core.workspace import Workspace, workspace


def learn(pool: Floats, X: Floats, scratch: Floats) -> None:
    """Learn the rows of X (rows, d), in order. Modified in place: pool, scratch.

    Pruning is rare and compiles to as much code as all the rest: it is called, and compiled, only
    when it is needed; first of all, if the last call was interrupted before it.
    """
    row = 0
    while row < len(X) or pool[LIVE] > pool[CAPACITY]:
        if pool[LIVE] > pool[CAPACITY]:
            make_room(pool, scratch)
        else:
            row = learn_until_full(pool, X, scratch, row)


@kernel
def learn_until_full(pool: Floats, X: Floats, scratch: Floats, row: int) -> int:
    """Learn the rows of X from `row` on, until one leaves something to prune; the row after it.

    Modified in place: pool, scratch.
    """
    s = view_in_kernel(pool)
    work = workspace(scratch, s)
    for t in range(row, X.shape[0]):
        for c in range(work.e.size):
            work.x[0, c], work.x[1, c] = X[t, c], 0.0
        if not update(s, work):
            return t + 1
    return X.shape[0]


@paragraph
def update(s: Structures, work: Workspace) -> bool:
    """UpdateSPC, but for pruning: learn the point work.x; False if there is something to prune.

    Modified in place: s, work.
    """
    measure_point(s, work)
    live = int(s.head[LIVE])
    full = live == int(s.head[CAPACITY])  # E11: while there is room, nothing but insertion
    too_light = full and refresh_weights(s, work)
    if too_light or not full:
        s.head[LIVE] += 1
        settle(live, full, s, work)
        s.head[SEEN] += 1
        renew_nearest(s)
        return not too_light
    older, newer = closest_pair(s, work)
    merge(older, newer, s, work)
    if newer != POINT:
        disconnect(newer, s)
        settle(newer, True, s, work)
    s.head[SEEN] += 1
    relate(older, s, work)
    renew_nearest(s)
    return True


@paragraph
def measure_point(s: Structures, work: Workspace) -> None:
    """Odds of the point with every structure, both ways. Eq. 2 and 3. Modified in place: work."""
    distances_of_point(work.x, s, int(s.head[LIVE]), work.unit, work.to_all, work.offset)
    fill_all_odds(s, work)


@paragraph
def refresh_weights(s: Structures, work: Workspace) -> bool:
    """Eq. 13 for every structure (E5: all, before any merge); whether one is too light.

    Modified in place: s.
    """
    live, in_logs = int(s.head[LIVE]), s.head[IN_LOGS] == 1.0
    decay, w_min = np.exp(-s.head[BETA]), s.head[W_MIN]
    light = 0
    for i in range(live):
        work.u[i] = typicality_from_odds(work.to_all.odds[i], in_logs)
    for i in range(live):
        s.total[i] = updated_total(s.total[i], work.u[i], decay)
        s.mass[i] = updated_total(s.mass[i], 1.0, decay)
        s.age[i] += 1.0
        light += s.total[i] < w_min * s.mass[i]
    return light > 0


@paragraph
def closest_pair(s: Structures, work: Workspace) -> tuple[int, int]:
    """Slots of the pair with the smallest D, the older one first; POINT stands for the point."""
    live = int(s.head[LIVE])
    mine = first_smallest(work.to_all.pair, s.id, live)
    i = first_smallest(s.nearest_odds, s.id, live)
    tie = work.to_all.pair[mine] == s.nearest_odds[i] and s.id[mine] < s.id[i]  # E12
    if work.to_all.pair[mine] < s.nearest_odds[i] or tie:
        return mine, POINT
    j = int(s.nearest[i])
    return (i, j) if s.id[i] < s.id[j] else (j, i)


@paragraph
def settle(slot: int, full: bool, s: Structures, work: Workspace) -> None:
    """Give the point a structure of its own in a free slot: (x, I, w = 1, count = 1, age = 1).

    If the set is full, weights were refreshed, and the point has lived through itself. Modified in
    place: s.
    """
    write_mean(slot, s, work.x)
    write_fresh_spread(slot, s.Sigma, s.whiten)
    s.total[slot] = s.mass[slot] = s.count[slot] = s.age[slot] = 1.0
    if full:
        s.total[slot] = s.mass[slot] = point_mass(s)
        s.age[slot] = POINT_AGE
    s.id[slot] = s.head[SEEN]
    connect(slot, work.to_all, s)


@kernel
def make_room(pool: Floats, scratch: Floats) -> None:
    """Prune, and merge the closest pair if there still are more than N structures.

    Pruned are structures lighter than w_min, oldest first: merged into the one in which they are
    most typical, or, if typical nowhere, forgotten. A structure that took in another one is not
    looked at again for this point. Modified in place: pool.
    """
    s = view_in_kernel(pool)
    work = workspace(scratch, s)
    last = -1.0
    while True:
        i = next_too_light(s, last)
        if i >= 0:
            last = s.id[i]
            j = first_smallest(s.odds[i], s.id, int(s.head[LIVE]))
            if nlt_from_odds(s.odds[i, j], s.head[IN_LOGS] == 1.0) >= s.head[NLT_MAX]:
                s.head[PRUNED] += s.count[i]
                remove(i, s)
                renew_nearest(s)
                continue
        elif s.head[LIVE] > s.head[CAPACITY]:  # E6: a prune may have made room
            i = first_smallest(s.nearest_odds, s.id, int(s.head[LIVE]))
            j = int(s.nearest[i])
        else:
            return
        older, newer = (i, j) if s.id[i] < s.id[j] else (j, i)
        merge(older, newer, s, work)
        merged = older if older < int(s.head[LIVE]) - 1 else newer  # the last fills the gap
        remove(newer, s)
        relate(merged, s, work)
        renew_nearest(s)


@paragraph
def next_too_light(s: Structures, last: float) -> int:
    """Slot of the oldest structure created after `last` that is lighter than w_min, or -1."""
    found = -1
    for i in range(int(s.head[LIVE])):
        light = s.total[i] < s.head[W_MIN] * s.mass[i] and s.id[i] > last
        if light and (found < 0 or s.id[i] < s.id[found]):
            found = i
    return found


@paragraph
def remove(slot: int, s: Structures) -> None:
    """Forget the structure in `slot`; the last one moves into the gap. Modified in place: s."""
    last = int(s.head[LIVE]) - 1
    disconnect(slot, s)
    if slot < last:
        move_slot(last, slot, s)
    s.head[LIVE] = last
