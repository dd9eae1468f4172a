"""Algorithm 1, the online phase: UpdateSPC and Merge, told from the top down.

Follow one point: `learn` hands it to `update`, which measures how typical it is everywhere. While
there is room it becomes a structure of its own, and that is all. Otherwise every structure's
weight is refreshed. If one has become too light, the point is inserted all the same, and
`make_room` prunes. If not, the two closest of all structures, the point being one of them, are
merged: either a structure takes in the point, or two structures become one and the point gets the
slot that falls free.

Nothing is computed twice: the typicalities of the point serve the weights and its pair odds;
pair odds are kept, with each structure's nearest neighbour (`neighbours`).
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, leaf, paragraph
from spclust.core.distances import (
    Unit,
    difference,
    distances_in_structure,
    distances_of_point,
)
from spclust.core.factor import copy_matrix, invert_transposed, raise_diagonal, shifted_cholesky
from spclust.core.footprint import merged_mean, merged_total, newer_share, updated_total
from spclust.core.lanes import LANES
from spclust.core.neighbours import (
    connect,
    disconnect,
    first_smallest,
    renew_nearest,
    take_logarithms,
)
from spclust.core.point_union import UnionScratch, union_with_point
from spclust.core.structures import (
    BETA,
    CAPACITY,
    EVALUATIONS,
    EXPONENT,
    GAMMA,
    IN_LOGS,
    LIVE,
    MERGED,
    NLT_MAX,
    PRUNED,
    REACH,
    SCALE,
    SEEN,
    W_MIN,
    Structures,
    move_slot,
    read_mean,
    view,
    view_in_kernel,
    write_factor,
    write_fresh_spread,
    write_mean,
)
from spclust.core.typicality import (
    Relation,
    nlt_from_odds,
    relation_odds,
    relation_odds_of_squares,
    typicality_from_odds,
)
from spclust.core.union import unite

_POINT = -1  # in place of a slot: the point that is being learnt
_FLOOR = 1.0  # in units of scale every spread is at least the identity


class Workspace(NamedTuple):
    """Scratch memory of one call; nothing in it outlives the point."""

    x: Any  # (2, d) the point: anchor, and a drift of 0
    mu: Any  # (2, d) mean of a structure: anchor and drift
    e: Any  # (d,) difference of two means, in units of scale
    W: Any  # (t,) factor of a structure
    offset: Any  # (d, 8) differences of eight means
    to_all: Relation  # how the point, or a structure, stands to all structures
    u: Any  # (n,) typicalities
    union: UnionScratch
    unit: Unit


def scratch_size(pool: Floats) -> int:
    """Floats of scratch memory that learning into a pool needs."""
    s = view(pool)
    n, d = s.id.size, s.drift.shape[1]
    return 9 * d + 6 * n + d * LANES + d * (d + 1) // 2 + d * d


@paragraph
def workspace(scratch: Floats, s: Structures) -> Workspace:
    """Name the parts of the scratch memory."""
    n, d = s.id.size, s.drift.shape[1]
    rows = 9 * d
    offset = rows + 6 * n
    W = offset + d * LANES
    R = W + d * (d + 1) // 2
    vector = scratch[:rows].reshape(9, d)
    row = scratch[rows:offset].reshape(6, n)
    return Workspace(
        vector[0:2],
        vector[2:4],
        vector[4],
        scratch[W:R],
        scratch[offset:W].reshape(d, LANES),
        Relation(row[0], row[1], row[2], row[3], row[4]),
        row[5],
        UnionScratch(
            scratch[R : R + d * d].reshape(d, d), vector[5], vector[6], vector[7], vector[8]
        ),
        Unit(1.0 / s.head[SCALE], s.head[REACH]),
    )


@kernel
def learn(pool: Floats, X: Floats, scratch: Floats) -> None:
    """Learn the rows of X (rows, d), in order. Modified in place: pool."""
    s = view_in_kernel(pool)
    work = workspace(scratch, s)
    for t in range(X.shape[0]):
        for c in range(work.e.size):
            work.x[0, c], work.x[1, c] = X[t, c], 0.0
        if not update(s, work):
            make_room(pool, scratch)


@paragraph
def update(s: Structures, work: Workspace) -> bool:
    """UpdateSPC, but for pruning: learn the point work.x; False if there is something to prune.

    Modified in place: s.
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
    if newer != _POINT:
        disconnect(newer, s)
        settle(newer, True, s, work)
    s.head[SEEN] += 1
    relate(older, s, work)
    renew_nearest(s)
    return True


@paragraph
def measure_point(s: Structures, work: Workspace) -> None:
    """Odds of the point with every structure, both ways, and of the pairs. Eq. 2 and 3."""
    distances_of_point(work.x, s, int(s.head[LIVE]), work.unit, work.to_all, work.offset)
    fill_all_odds(s, work)


@paragraph
def refresh_weights(s: Structures, work: Workspace) -> bool:
    """Eq. 13 for every structure (E5: all of them, before any merge); whether one is too light."""
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
    """Slots of the pair with the smallest D, the older one first; _POINT stands for the point."""
    live = int(s.head[LIVE])
    mine = first_smallest(work.to_all.pair, s.id, live)
    i = first_smallest(s.nearest_odds, s.id, live)
    tie = work.to_all.pair[mine] == s.nearest_odds[i] and s.id[mine] < s.id[i]  # E12
    if work.to_all.pair[mine] < s.nearest_odds[i] or tie:
        return mine, _POINT
    j = int(s.nearest[i])
    return (i, j) if s.id[i] < s.id[j] else (j, i)


@paragraph
def settle(slot: int, full: bool, s: Structures, work: Workspace) -> None:
    """Give the point a structure of its own in a free slot: (x, I, w = 1, count = 1, age = 1).

    If the set is full, weights were refreshed, and the point has lived through itself. Eq. 13.
    """
    write_mean(slot, s, work.x)
    write_fresh_spread(slot, s.Sigma, s.whiten)
    s.total[slot] = s.mass[slot] = s.count[slot] = s.age[slot] = 1.0
    if full:
        s.total[slot] = s.mass[slot] = updated_total(1.0, 1.0, np.exp(-s.head[BETA]))
        s.age[slot] = 2.0
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
def merge(older: int, newer: int, s: Structures, work: Workspace) -> None:
    """Merge: the older of two structures takes in the newer one, or the point (E7).

    Writes the footprint of the union to the older one's slot. Modified in place: s.
    """
    count, age = 1.0, 2.0  # of the point, which has lived through itself by now
    total = mass = updated_total(1.0, 1.0, np.exp(-s.head[BETA]))
    if newer == _POINT:
        copy_matrix(work.x, work.mu)
    else:
        read_mean(newer, s, work.mu)
        count, age, total, mass = s.count[newer], s.age[newer], s.total[newer], s.mass[newer]
    share = newer_share(s.head[GAMMA], s.count[older], count)
    step_to_merged_mean(older, share, s, work)  # Eq. 10
    if count == 1.0 or s.count[older] == 1.0:
        if count > 1.0:
            copy_matrix(s.Sigma[newer], s.Sigma[older])
            share = 1.0 - share
        union_with_point(s.Sigma[older], work.e, share, work.union)  # Eq. 14 to 16
    else:
        delta1, delta2 = work.union.v, work.union.w
        for c in range(work.e.size):
            delta1[c], delta2[c] = share * work.e[c], (share - 1.0) * work.e[c]
        unite(s.Sigma[older], delta1, s.Sigma[newer], delta2, _FLOOR)  # Eq. 14 to 16
    s.total[older] = merged_total(s.total[older], total, s.head[BETA], age)  # Eq. 12
    s.mass[older] = merged_total(s.mass[older], mass, s.head[BETA], age)  # Eq. 9
    s.age[older] += age
    s.count[older] += count
    s.head[MERGED] += 1


@leaf
def step_to_merged_mean(older: int, share: float, s: Structures, work: Workspace) -> None:
    """Mean of the union of `older` and a newer structure, whose mean is work.mu. Eq. 10.

    Also work.e, the offset of the newer mean from the older one. Modified in place: s, work.
    """
    b, lane = older // LANES, older % LANES
    for c in range(work.e.size):
        anchors = work.mu[0, c] - s.anchor[b, c, lane]
        drifts = work.mu[1, c] - s.drift[b, c, lane]
        work.e[c] = difference(anchors, drifts, work.unit)
        step = work.e[c] * s.head[SCALE]
        s.drift[b, c, lane] = merged_mean(s.drift[b, c, lane], step, share)


@paragraph
def remove(slot: int, s: Structures) -> None:
    """Forget the structure in `slot`; the last one moves into the gap. Modified in place: s."""
    last = int(s.head[LIVE]) - 1
    disconnect(slot, s)
    if slot < last:
        move_slot(last, slot, s)
    s.head[LIVE] = last


@paragraph
def relate(slot: int, s: Structures, work: Workspace) -> None:
    """Factor a structure that changed, and measure it against all others, both ways."""
    R, inverse = work.union.R, work.union.inverse
    shifted_cholesky(s.Sigma[slot], 0.0, _FLOOR, R, inverse)
    raise_diagonal(s.Sigma[slot], R)
    invert_transposed(R, inverse, work.W)
    write_factor(slot, s.whiten, work.W)
    read_mean(slot, s, work.mu)
    live = int(s.head[LIVE])
    distances_of_point(work.mu, s, live, work.unit, work.to_all, work.offset)
    distances_in_structure(work.mu, work.W, s, live, work.unit, work.to_all, work.offset)
    fill_all_odds(s, work)
    connect(slot, work.to_all, s)


@leaf
def fill_all_odds(s: Structures, work: Workspace) -> None:
    """Odds of all distances, and of the pairs. Modified in place: work; s if in logs from now on.

    Odds become logarithms, once and for all, where they leave the range of floating point.
    """
    live, p = int(s.head[LIVE]), s.head[EXPONENT]
    s.head[EVALUATIONS] += 2 * live
    in_logs = s.head[IN_LOGS] == 1.0
    if p == 2.0 and not in_logs:
        in_range = relation_odds_of_squares(work.to_all, live)
    else:
        in_range = relation_odds(work.to_all, p, in_logs, live)
    if not in_range:
        take_logarithms(s)
        s.head[IN_LOGS] = 1.0
        relation_odds(work.to_all, p, True, live)
