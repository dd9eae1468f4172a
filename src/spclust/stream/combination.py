"""States made of other states: all structures of several streams, no more than N of them left.

Two rules, for two cases. A stream that came LATER than another goes on where that one ended: its
structures are the newer ones, and Eq. 10 and 12 say what that means. Streams that ran at the same
time, parts of one, have no older and newer: on their common clock the points of two structures
alternate, in proportion to their counts. So means are weighted by counts (Eq. 10 at gamma = 0), and
weights are the common mean (Eq. 12 at beta = 0), brought back to the B of Eq. 9 for the common age.
With time stamps there is a common clock: all fades until the last of them, and is added up.
"""

from collections.abc import Sequence

import numpy as np

from spclust.algorithm import update as online
from spclust.algorithm.clock import faded_to
from spclust.algorithm.footprint import damping_sum
from spclust.arrays import Floats, Integers
from spclust.auto.scale import fitted, reframed
from spclust.numerics.eight import LANES
from spclust.numerics.memory import aligned
from spclust.parameters import Params
from spclust.state.kinds import LOWRANK, Room
from spclust.state.scratch import scratch_size
from spclust.state.structures import (
    BETA,
    CLOCK,
    CRAMPED,
    DUE,
    EVALUATIONS,
    FEATURES,
    FRAMED,
    FREE,
    GAMMA,
    GAP,
    GROWN,
    IN_LOGS,
    LARGEST,
    LIVE,
    MERGED,
    PRUNED,
    RESCANS,
    SEEN,
    TIMED,
    W_MIN,
    Structures,
    configure,
    empty_pool,
    enlarged,
    view,
)

_MOST_AT_ONCE = 1000  # structures: their pairs take 24 MB

_COPIED = ("total", "mass", "count", "age", "id", "least", "renewals", "rank", "base", "scatter")
_SUMS = [SEEN, PRUNED, MERGED, EVALUATIONS, RESCANS]  # what happened in all of them together


def united(pools: Sequence[Floats], params: Params, concurrent: bool) -> Floats:
    """The state of several streams of the same parameters, the first one's structures the oldest.

    All structures are put together, and the two closest are merged, again and again, until N are
    left. Nothing is pruned. Very many are united in groups: the memory for pairs is quadratic.
    """
    group = max(2, _MOST_AT_ONCE // params.n_structures)
    while len(pools) > group:
        parts = [pools[k : k + group] for k in range(0, len(pools), group)]
        pools = [united(part, params, concurrent) if len(part) > 1 else part[0] for part in parts]
    pools = in_one_frame(pools)
    live = sum(int(pool[LIVE]) for pool in pools)
    wide = params._replace(n_structures=max(live, params.n_structures))
    pool = gathered(pools, wide, params.beta if concurrent else 0.0)
    pool[W_MIN] = 0.0
    if concurrent:
        pool[GAMMA] = pool[BETA] = 0.0
    pool = _reduced_in_units(pool, wide, params.n_structures)
    if concurrent and pool[TIMED] == 0.0:
        s = view(pool)
        whole = np.array([damping_sum(params.beta, age) for age in s.age[: int(pool[LIVE])]])
        s.total[: whole.size] *= whole / s.mass[: whole.size]
        s.mass[: whole.size] = whole
    if wide.n_structures > params.n_structures:
        pool = gathered([pool], params)
    configure(pool, params)
    return pool


def in_one_frame(pools: Sequence[Floats]) -> Sequence[Floats]:
    """The same states in the largest units of them all, if units follow the data."""
    if pools[0][FRAMED] == 0.0:
        return pools
    views = [view(pool) for pool in pools]
    origin = views[0].origin
    unit = np.max([each.unit for each in views], axis=0)
    apart = np.max([np.abs(each.origin - origin) for each in views], axis=0)
    unit = np.where(unit > 0.0, unit, apart)  # what is constant in each of them
    known = np.where(unit > 0.0, unit, 1.0)
    framed = []
    for pool, each in zip(pools, views, strict=True):
        ratio = np.where(each.unit > 0.0, each.unit, known) / known
        framed.append(reframed(pool, ratio, (each.origin - origin) / known))
        view(framed[-1]).origin[:], view(framed[-1]).unit[:] = origin, unit
    return framed


def gathered(pools: Sequence[Floats], params: Params, fading: float = 0.0) -> Floats:
    """A state with the structures of several, measured anew; ids go on from one to the next.

    With time stamps, weights fade at a rate, `fading`, until the last of the streams ends.
    """
    views = [view(pool) for pool in pools]
    d = int(pools[0][FEATURES])
    pool = empty_pool(params, d, _room(views, params, d))
    s, earlier = view(pool), 0.0
    s.head[IN_LOGS] = max(each.head[IN_LOGS] for each in views)
    s.head[LIVE] = sum(each.head[LIVE] for each in views)
    s.head[GROWN] = sum(each.head[GROWN] for each in views)
    s.head[LARGEST] = max(each.head[LARGEST] for each in views)
    s.head[TIMED], s.head[GAP] = views[0].head[TIMED], views[-1].head[GAP]
    s.head[CLOCK] = max(each.head[CLOCK] for each in views)
    s.origin[:], s.unit[:] = views[0].origin, views[0].unit
    seats = [0]
    for grown in (True, False):  # grown structures sit first
        for each in views:
            middle = int(each.head[GROWN])
            slots = np.arange(middle) if grown else np.arange(middle, int(each.head[LIVE]))
            _copy(each, slots, s, seats[-1] + np.arange(slots.size))
            here = slice(seats[-1], seats[-1] + slots.size)
            for weights in (s.total[here], s.mass[here]):
                weights[:] = faded_to(s.head[CLOCK], each.head[CLOCK], fading, weights)
            seats.append(here.stop)
    for k, each in enumerate(views):
        for start, stop in (seats[k : k + 2], seats[len(views) + k :][:2]):
            s.id[start:stop] += earlier
        earlier += each.head[SEEN]
    s.head[_SUMS] = sum(each.head[_SUMS] for each in views)
    s.head[DUE] = s.head[SEEN] + 1.0
    online.measure_all(pool, aligned(scratch_size(pool)))
    return pool


def _room(views: Sequence[Structures], params: Params, d: int) -> Room:
    """Memory for the directions of all structures, if spreads are of low rank, and some more."""
    if params.kind != LOWRANK:
        return Room()
    used = sum(int(each.rank[: int(each.head[LIVE])].sum()) for each in views)
    rank = max(each.place.shape[1] for each in views)
    return Room(rank, used + params.n_structures + 2 * rank)


def _copy(source: Structures, slots: Integers, target: Structures, seats: Integers) -> None:
    """Copy structures from their slots to seats in another state. Modified in place: target."""
    for name in ("anchor", "drift", "whiten"):
        blocks = getattr(source, name)[slots // LANES, :, slots % LANES]
        getattr(target, name)[seats // LANES, :, seats % LANES] = blocks
    for name in _COPIED:
        getattr(target, name)[seats] = getattr(source, name)[slots]
    now, before, gamma = target.head[CLOCK], source.head[CLOCK], target.head[GAMMA]
    target.recent[seats] = faded_to(now, before, gamma, source.recent[slots])
    if target.basis.size == 0:
        target.Sigma[seats] = source.Sigma[slots]
        return
    ours, theirs = target.Sigma.shape[2] // 2, source.Sigma.shape[2] // 2
    for part in range(2):  # packed triangles of S and of its factor
        target.Sigma[seats, :, part * ours : part * ours + theirs] = source.Sigma[
            slots, :, part * theirs : (part + 1) * theirs
        ]
    for slot, seat in zip(slots, seats, strict=True):
        rank = int(source.rank[slot])
        free = int(target.head[FREE])
        rows = target.free[free - rank : free]
        target.place[seat, :rank] = rows
        target.basis[rows.astype(np.int64)] = source.basis[
            source.place[slot, :rank].astype(np.int64)
        ]
        target.head[FREE] -= rank


def _reduced_in_units(pool: Floats, params: Params, most: int) -> Floats:
    """A state with so many structures at most; units that follow the data fit them on the way.

    They do in a stream, too, where structures become fewer for the points that there are.
    """
    if pool[FRAMED] == 0.0:
        return _reduced(pool, params, most)
    pool = fitted(pool)
    while pool[LIVE] > most:
        pool = fitted(_reduced(pool, params, max(most, int(pool[LIVE]) // 2)))
    return pool


def _reduced(pool: Floats, params: Params, most: int) -> Floats:
    """A state with so many structures at most; larger memory, if that is needed on the way."""
    while True:
        online.make_room(pool, aligned(scratch_size(pool)), most)
        if pool[CRAMPED] == 0.0:
            return pool
        kept = pool[[W_MIN, GAMMA, BETA]]
        pool = enlarged(pool, params)
        pool[[W_MIN, GAMMA, BETA]] = kept
