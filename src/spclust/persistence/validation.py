"""Whether a state that came from outside is one that learning could have left.

Kernels trust the state: they look up slots, ranks and directions in it without a second look, and
count on numbers that are none of NaN. So all of that is checked here, once, when a model is loaded.
"""

import math

import numpy as np

from spclust.arrays import Booleans, Floats
from spclust.numerics.eight import LANES
from spclust.persistence.container import RefusedError
from spclust.state.kinds import DIAGONAL, LOWRANK, SPHERICAL
from spclust.state.structures import (
    BETA,
    CAPACITY,
    CLOCK,
    CONNECTIONS,
    CRAMPED,
    CUT_DUE,
    DIRECTIONS,
    DUE,
    EVALUATIONS,
    EXPONENT,
    FRAMED,
    FREE,
    GAMMA,
    GAP,
    GROWN,
    IN_LOGS,
    KIND,
    LARGEST,
    LIVE,
    LOOKED,
    MERGED,
    NLT_MAX,
    PRUNED,
    RANK,
    RESCANS,
    SEEN,
    STALE,
    TIMED,
    W_MIN,
    Structures,
)

_LARGEST_COUNT = 2.0**53  # whole numbers above are not all floats
_LARGEST_AGE = 2.0**62  # ages become integers
_FARTHEST_DRIFT = 1e300  # sums of two of them are finite
_ALMOST_ONE = 0.999  # spreads are at least 1, and directions 1 long, but for rounding

_COUNTS = (LIVE, SEEN, PRUNED, MERGED, GROWN, FREE, LARGEST, LOOKED, CRAMPED, STALE)
_COUNTERS = (EVALUATIONS, RESCANS, CONNECTIONS)
_TIME = (TIMED, CLOCK, GAP, DUE, CUT_DUE)
# What a stream changes in the head of its pool; all else in there it never does.
_CHANGING = (*_COUNTS, *_COUNTERS, IN_LOGS, EXPONENT, GAMMA, BETA, W_MIN, NLT_MAX, *_TIME)


def refuse_unsound_head(head: Floats, fresh: Floats) -> None:
    """Raise RefusedError if a head (40,) cannot have come of that of a fresh pool."""
    same = head == fresh[: head.size]
    same[list(_CHANGING)] = True
    counts, counters = head[list(_COUNTS)], head[list(_COUNTERS)]
    live, grown, largest = head[LIVE], head[GROWN], head[LARGEST]
    cramped_at_most = 2.0 * largest + 1.0 if head[KIND] == LOWRANK else 0.0
    _demand(
        bool(same.all())
        and bool(np.all(_whole(counts) & (counts >= 0.0) & (counts <= _LARGEST_COUNT)))
        and bool(np.all(np.isfinite(counters) & (counters >= 0.0)))
        and head[IN_LOGS] in (0.0, 1.0)
        and head[TIMED] in (0.0, 1.0)
        and math.isfinite(head[CLOCK])
        and bool(np.all(np.isfinite(head[[DUE, CUT_DUE]]) & _whole(head[[DUE, CUT_DUE]])))
        and (head[FRAMED] == 0.0 or head[DUE] > head[SEEN] - 1.0)
        and (0.0 <= head[GAP] < math.inf if head[TIMED] else head[GAP] == 1.0)
        and 1.0 <= live <= min(head[CAPACITY] + 1.0, head[SEEN])
        and grown <= min(live, head[CAPACITY])
        and head[FREE] <= head[DIRECTIONS]
        and largest <= head[RANK]
        and head[LOOKED] <= head[SEEN]
        and head[STALE] <= live
        and head[CRAMPED] <= cramped_at_most,
        "numbers",
    )


def refuse_unsound(s: Structures) -> None:
    """Raise RefusedError if the arrays of a state, whose head is sound, are not."""
    live, grown = int(s.head[LIVE]), int(s.head[GROWN])
    _refuse_clocks(s, live, grown)
    _refuse_frame(s)
    owners = s.owner[:live]
    _demand(bool(np.all(_whole(owners) & (owners >= 0.0) & (owners <= s.owner.size))), "clusters")
    _refuse_means(s, live)
    _refuse_fresh_spreads(s, grown)
    _refuse_spreads(s, grown)
    if s.head[KIND] == LOWRANK:
        _refuse_directions(s, grown)
    _refuse_odds(s, live)
    _refuse_to_prune_all(s, live)


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise RefusedError(f"the {what} of its structures are not what learning leaves")


def _whole(numbers: Floats) -> Booleans:
    whole: Booleans = numbers == np.floor(numbers)
    return whole


def _refuse_clocks(s: Structures, live: int, grown: int) -> None:
    """Points absorbed, ages, ids and weights."""
    count, age, ids = s.count[:live], s.age[:live], s.id[:live]
    total, mass = s.total[:live], s.mass[:live]
    _demand(
        bool(np.all(_whole(count)))
        and bool(np.all(count[:grown] >= 1.0))
        and bool(np.all(count[grown:] == 1.0))
        and float(np.sum(count)) + s.head[PRUNED] == s.head[SEEN]
        and bool(np.all((age >= 0.0) & np.isfinite(age)))
        and bool(s.head[TIMED] or np.all(_whole(age) & (age >= 1.0) & (age <= _LARGEST_AGE))),
        "clocks",
    )
    recent = s.recent[:live]
    _demand(bool(np.all((recent > 0.0) & (recent <= 1.001 * count))), "shares")
    sound = _whole(ids) & (ids >= 0.0) & (ids < s.head[SEEN])
    _demand(bool(np.all(sound)) and np.unique(ids).size == live, "ids")
    sound = (mass > 0.0) & np.isfinite(mass) & (total >= 0.0) & (_ALMOST_ONE * total <= mass)
    _demand(bool(np.all(sound)), "weights")


def _refuse_frame(s: Structures) -> None:
    """Units that are numbers above 0, or 0 if not known yet, and 1 if they do not follow."""
    sound = np.isfinite(s.origin) & np.isfinite(s.unit) & (s.unit >= 0.0)
    if s.head[FRAMED] == 0.0:
        sound &= (s.origin == 0.0) & (s.unit == 1.0)
    _demand(bool(np.all(sound)), "units")


def _refuse_means(s: Structures, live: int) -> None:
    """Those of free slots, too: they are measured together with their neighbours in a block."""
    near = np.abs(s.drift) <= _FARTHEST_DRIFT
    _demand(bool(np.all(near) and np.all(np.isfinite(s.anchor))), "means")
    slots = np.arange(live)
    with np.errstate(over="ignore"):
        means = (s.anchor + s.drift)[slots // LANES, :, slots % LANES]
    _demand(bool(np.all(np.isfinite(means))), "means")


def _refuse_fresh_spreads(s: Structures, grown: int) -> None:
    """Every slot behind the grown ones has the spread of a point, as the last one must have."""
    d = s.drift.shape[1]
    spread, factor = np.ones(s.Sigma.shape[1:]), np.ones(s.whiten.shape[1])
    if s.head[KIND] not in (DIAGONAL, SPHERICAL, LOWRANK):
        spread, factor = np.eye(d), np.eye(d)[np.tril_indices(d)]
    block, lane = grown // LANES, grown % LANES
    _demand(
        bool(np.all(s.Sigma[grown:] == spread))
        and bool(np.all(s.whiten[block, :, lane:] == factor[:, np.newaxis]))
        and bool(np.all(s.whiten[block + 1 :] == factor[:, np.newaxis]))
        and bool(np.all(s.least[grown:] == 1.0) and np.all(s.base[grown:] == 1.0))
        and bool(np.all(s.renewals[grown:] == 0.0) and np.all(s.rank[grown:] == 0.0)),
        "spreads",
    )


def _refuse_spreads(s: Structures, grown: int) -> None:
    """Spreads that have grown are finite, and at least 1 in every feature."""
    Sigma, least, renewals = s.Sigma[:grown], s.least[:grown], s.renewals[:grown]
    _demand(bool(np.all(np.isfinite(s.whiten))), "factors")
    _demand(bool(np.all(least > 0.0) and np.all(renewals >= 0.0)), "spreads")
    if s.head[KIND] != LOWRANK:
        across = Sigma if Sigma.shape[1] == 1 else np.diagonal(Sigma, axis1=1, axis2=2)
        _demand(bool(np.all(np.isfinite(Sigma)) and np.all(across >= _ALMOST_ONE)), "spreads")
        _demand(bool(np.all(s.rank == 0.0) and np.all(s.base == 1.0)), "spreads")


def _refuse_directions(s: Structures, grown: int) -> None:
    """Every direction has one owner or none; ranks are what there is room for."""
    rank, free, half = s.rank[:grown], int(s.head[FREE]), s.Sigma.shape[2] // 2
    _demand(bool(np.all(_whole(rank) & (rank >= 0.0) & (rank <= s.head[LARGEST]))), "ranks")
    base = s.base[:grown]
    _demand(bool(np.all((base >= _ALMOST_ONE) & np.isfinite(base))), "spreads")
    taken = [s.place[slot, : int(k)] for slot, k in enumerate(rank)]
    owned = np.concatenate([np.empty(0), *taken])
    everywhere = np.sort(np.concatenate([owned, s.free[:free]]))
    _demand(np.array_equal(everywhere, np.arange(s.head[DIRECTIONS])), "directions")
    for place in owned.astype(np.int64):  # one by one: a copy of them all may be large
        length = float(np.dot(s.basis[place], s.basis[place]))
        _demand(_ALMOST_ONE <= length <= 1.0 / _ALMOST_ONE, "directions")
    for slot, k in enumerate(rank.astype(np.int64)):
        numbers, corners = k * (k + 1) // 2, np.cumsum(np.arange(1, k + 1)) - 1
        for part in (s.Sigma[slot, 0, :numbers], s.Sigma[slot, 0, half : half + numbers]):
            _demand(bool(np.all(np.isfinite(part)) and np.all(part[corners] > 0.0)), "spreads")


def _refuse_odds(s: Structures, live: int) -> None:
    """No odds are NaN, some pair is within reach, and no pair is below the bound of its row."""
    least = -np.inf if s.head[IN_LOGS] == 1.0 else 0.0
    closest = np.inf
    for i in range(live):
        ours = s.pair[i, i + 1 : live]
        smallest = np.min(ours, initial=np.inf)  # NaN if one is
        _demand(
            bool(np.all(s.odds[i, :live] >= least) and np.all(s.odds_back[i, :live] >= least))
            and bool(smallest >= least)
            and bool(least <= s.bound[i] <= smallest),
            "distances",
        )
        closest = min(closest, smallest)
    _demand(live == 1 or s.head[STALE] > 0.0 or closest < np.inf, "distances")
    order = s.connection[:live]
    _demand(bool(np.all((order >= 0.0) & (order <= s.head[CONNECTIONS]))), "distances")


def _refuse_to_prune_all(s: Structures, live: int) -> None:
    """Where pruning was interrupted, something is left when it is done."""
    if live <= s.head[CAPACITY] and s.head[LOOKED] == 0.0:
        return
    light = s.total[:live] < s.head[W_MIN] * s.mass[:live]
    _demand(not np.all(light & (s.id[:live] >= s.head[LOOKED])), "weights")
