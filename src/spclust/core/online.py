"""Algorithm 1, the online phase: UpdateSPC and Merge, told from the top down.

Follow one point: `learn` hands it to `update`, which inserts it as a structure of its own. While
there is room that is all. Otherwise every structure's weight is refreshed, structures that have
become too light are pruned, and if there is still no room the two closest are merged.

Nothing is computed twice: the typicalities of the new point in all structures serve the
weights and its row of pair odds; pair odds are kept, with each structure's nearest neighbour.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, paragraph
from spclust.core.footprint import merged_mean, merged_total, newer_share, updated_total
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
    RESCANS,
    SEEN,
    W_MIN,
    Structures,
    distances_in_structure,
    distances_of_point,
    has_left_linear_range,
    into_stream_units,
    move_slot,
    scan_for_nearest,
    take_logarithms,
    view_in_kernel,
)
from spclust.core.typicality import fill_odds, nlt_from_odds, pair_odds, typicality_from_odds
from spclust.core.union import cholesky, inverse_lower, padded_spread, union_of_spreads

_NONE = -1  # a nearest neighbour that has to be looked for again
_FLOOR = 1.0  # in stream units every spread is at least the identity


class Workspace(NamedTuple):
    """Scratch memory of one call; nothing in it outlives the point."""

    z: Any  # (d,) the point, in stream units
    offset: Any  # (d, n)
    q: Any  # (n,) squared distances of one point in all structures
    q_back: Any  # (n,) squared distances of all means in one structure
    odds_back: Any  # (n,) their odds


@kernel
def learn(pool: Floats, X: Floats) -> None:
    """Learn the rows of X (rows, d), in order. Modified in place: pool."""
    s = view_in_kernel(pool)
    d, n = s.mean.shape
    work = Workspace(np.empty(d), np.empty((d, n)), np.empty(n), np.empty(n), np.empty(n))
    for t in range(X.shape[0]):
        if s.head[SEEN] == 0.0:
            s.origin[:] = X[t]
        into_stream_units(X[t], s, work.z)
        update(s, work)


@paragraph
def update(s: Structures, work: Workspace) -> None:
    """UpdateSPC: learn the point work.z. Modified in place: s."""
    insert(s, work)
    if s.head[LIVE] > s.head[CAPACITY]:  # E11: while there is room, nothing but insertion
        refresh_weights(s)
        prune(s, work)
        if s.head[LIVE] > s.head[CAPACITY]:  # E6: a prune may have made room
            merge_closest(s, work)


@paragraph
def insert(s: Structures, work: Workspace) -> None:
    """Give the point a structure of its own: (z, I, w = 1, count = 1, age = 1)."""
    slot = int(s.head[LIVE])
    s.mean[:, slot] = work.z
    s.Sigma[slot] = np.eye(work.z.size)
    t = 0
    for r in range(work.z.size):
        for c in range(r + 1):
            s.whiten[t, slot] = 1.0 if r == c else 0.0
            t += 1
    s.total[slot] = s.mass[slot] = s.count[slot] = s.age[slot] = 1.0
    s.id[slot] = s.head[SEEN]
    s.nearest[slot] = _NONE
    s.head[SEEN] += 1
    s.head[LIVE] += 1
    relate(slot, s, work)
    renew_nearest(s)


@paragraph
def refresh_weights(s: Structures) -> None:
    """Eq. 13 for every structure (E5: all of them, before anything is pruned or merged)."""
    newest = int(s.head[LIVE]) - 1
    in_logs = s.head[IN_LOGS] == 1.0
    for i in range(newest + 1):
        # In the structure of its own the point is perfectly typical.
        u = 1.0 if i == newest else typicality_from_odds(s.odds[newest, i], in_logs)
        s.total[i] = updated_total(s.total[i], u, s.head[BETA])
        s.mass[i] = updated_total(s.mass[i], 1.0, s.head[BETA])
        s.age[i] += 1.0


@paragraph
def prune(s: Structures, work: Workspace) -> None:
    """Take out structures lighter than w_min, oldest first: merged into a near one, or lost.

    A structure that took in another one is not looked at again for this point.
    """
    last = -1.0
    i = next_too_light(s, last)
    while i >= 0:
        last = s.id[i]
        j = scan_for_nearest(s.odds[i], s.id, int(s.head[LIVE]))
        if nlt_from_odds(s.odds[i, j], s.head[IN_LOGS] == 1.0) < s.head[NLT_MAX]:
            merge(i, j, s, work)
        else:
            s.head[PRUNED] += s.count[i]
            remove(i, s)
            renew_nearest(s)
        i = next_too_light(s, last)


@kernel
def next_too_light(s: Structures, last: float) -> int:
    """Slot of the oldest structure created after `last` that is lighter than w_min, or -1."""
    found = -1
    for i in range(int(s.head[LIVE])):
        if (
            s.total[i] < s.head[W_MIN] * s.mass[i]
            and s.id[i] > last
            and (found < 0 or s.id[i] < s.id[found])
        ):
            found = i
    return found


@paragraph
def merge_closest(s: Structures, work: Workspace) -> None:
    """Merge the two structures with the smallest D."""
    i = scan_for_nearest(s.nearest_odds, s.id, int(s.head[LIVE]))
    merge(i, int(s.nearest[i]), s, work)


@paragraph
def merge(i: int, j: int, s: Structures, work: Workspace) -> None:
    """Merge: the older of two structures takes in the newer one (E7). Modified in place: s."""
    older, newer = (i, j) if s.id[i] < s.id[j] else (j, i)
    share = newer_share(s.head[GAMMA], s.count[older], s.count[newer])
    mu = merged_mean(s.mean[:, older], s.mean[:, newer], share)  # Eq. 10
    U1 = padded_spread(s.Sigma[older], mu - s.mean[:, older])  # Eq. 14
    U2 = padded_spread(s.Sigma[newer], mu - s.mean[:, newer])  # Eq. 15
    s.Sigma[older] = union_of_spreads(U1, U2, _FLOOR)  # Eq. 16
    s.mean[:, older] = mu
    W = inverse_lower(cholesky(s.Sigma[older], _FLOOR))
    t = 0
    for r in range(mu.size):
        for c in range(r + 1):
            s.whiten[t, older] = W[r, c]
            t += 1
    beta, age = s.head[BETA], s.age[newer]
    s.total[older] = merged_total(s.total[older], s.total[newer], beta, age)  # Eq. 12
    s.mass[older] = merged_total(s.mass[older], s.mass[newer], beta, age)  # Eq. 9
    s.count[older] += s.count[newer]
    s.age[older] += s.age[newer]
    s.head[MERGED] += 1
    merged = older if older < int(s.head[LIVE]) - 1 else newer  # the last slot moves into the gap
    remove(newer, s)
    relate(merged, s, work)
    renew_nearest(s)


@paragraph
def remove(slot: int, s: Structures) -> None:
    """Forget the structure in `slot`; the last one moves into the gap. Modified in place: s."""
    last = int(s.head[LIVE]) - 1
    for i in range(last + 1):
        if s.nearest[i] == slot:
            s.nearest[i] = _NONE
    if slot < last:
        move_slot(last, slot, s)
    s.head[LIVE] = last


@paragraph
def relate(slot: int, s: Structures, work: Workspace) -> None:
    """Compute the odds of one structure with all others, both ways. Modified in place: s.

    Where it is a neighbour's nearest and still is, or becomes it, that is noted; where it was and
    may no longer be, the neighbour's nearest is left to be looked for.
    """
    live = int(s.head[LIVE])
    distances_of_point(s.mean[:, slot].copy(), s.mean, s.whiten, live, work.offset, work.q)
    distances_in_structure(slot, s.mean, s.whiten, live, work.offset, work.q_back)
    s.head[EVALUATIONS] += 2 * live
    if s.head[IN_LOGS] == 0.0 and (
        has_left_linear_range(work.q[:live], s.head[EXPONENT])
        or has_left_linear_range(work.q_back[:live], s.head[EXPONENT])
    ):
        take_logarithms(live, s.odds, s.pair, s.nearest_odds)
        s.head[IN_LOGS] = 1.0
    in_logs = s.head[IN_LOGS] == 1.0
    fill_odds(work.q[:live], s.head[EXPONENT], in_logs, s.odds[slot, :live])
    fill_odds(work.q_back[:live], s.head[EXPONENT], in_logs, work.odds_back[:live])
    s.nearest[slot] = _NONE
    for i in range(live):
        s.odds[i, slot] = work.odds_back[i]
        odds = pair_odds(s.odds[slot, i], work.odds_back[i], in_logs)
        s.pair[slot, i] = s.pair[i, slot] = odds
    s.odds[slot, slot] = s.pair[slot, slot] = np.inf  # no structure is its own neighbour
    for i in range(live):
        if i != slot:
            note_neighbour(i, slot, s)


@kernel
def note_neighbour(i: int, slot: int, s: Structures) -> None:
    """Update the nearest neighbour of i after its pair odds with `slot` changed."""
    odds, known = s.pair[i, slot], s.nearest_odds[i]
    nearest = int(s.nearest[i])
    if nearest == slot:
        if odds <= known:
            s.nearest_odds[i] = odds
        else:
            s.nearest[i] = _NONE
    elif nearest != _NONE and (odds < known or (odds == known and s.id[slot] < s.id[nearest])):
        s.nearest[i] = slot
        s.nearest_odds[i] = odds


@kernel
def renew_nearest(s: Structures) -> None:
    """Look again for each nearest neighbour that has come into doubt. Modified in place: s."""
    live = int(s.head[LIVE])
    for i in range(live):
        if s.nearest[i] == _NONE:
            j = scan_for_nearest(s.pair[i], s.id, live)
            s.nearest[i] = j
            s.nearest_odds[i] = s.pair[i, j]
            s.head[RESCANS] += 1
