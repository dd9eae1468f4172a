"""Validation of a saved state of the paper's mode: refuse what learning cannot have produced.

Kernels trust the state: they follow slots, ranks and directions in it without a check, and rely on
numbers that are not NaN. So all of that is checked here, once, when a model is loaded; and when it
is saved, because a file that cannot be loaded is of no use.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.numerics.eight import LANES
from spclust.persistence.container import Array, RefusedError, refuse_memory
from spclust.persistence.schema import (
    LARGEST_INTEGER,
    Layout,
    PaperScalars,
    mismatch,
    packed_sizes,
    paper_layouts,
    refuse_other_layouts,
    unsound,
)
from spclust.state.kinds import FULL, LOWRANK, NAMES, Room, covariance_extents
from spclust.state.record import Together
from spclust.state.structures import Structures

LARGEST_COUNT = 2**53  # not all integers above are floats, and counts of points are floats
ROUNDED_UP = 1.001  # a bound that rounding may exceed by a little is multiplied by this
_LARGEST_AGE = 2.0**62  # ages become integers
_LARGEST_FLOAT = float(np.finfo(np.float64).max)
_FARTHEST_DRIFT = 1e300  # sums of two of them are finite
_SPARE_DIRECTIONS = 100  # that a state has memory for from the beginning
_ALMOST_ONE = 0.999  # variances are at least 1, and directions 1 long, except for rounding

Arrays = Mapping[str, Array]
_TYPES = PaperScalars.__annotations__


def scalars_of(state: Any) -> PaperScalars:
    """The scalars in the header of a file; RefusedError if one is missing or of another type."""
    if not isinstance(state, dict) or set(state) != set(_TYPES):
        raise RefusedError("its header has no state, or not all of it")
    for name, value in state.items():
        if not _is_of_type(value, _TYPES[name]):
            raise RefusedError(f"{name!r} of its state is not a valid value")
    return PaperScalars(**{name: _TYPES[name](value) for name, value in state.items()})


def _is_of_type(value: Any, wanted: type) -> bool:
    if wanted is str:
        return isinstance(value, str) and value in NAMES
    if wanted is float and type(value) is float:
        return math.isfinite(value)
    whole = type(value) is int and abs(value) <= LARGEST_INTEGER
    return type(value) is bool if wanted is bool else whole


def refuse_too_large(scalars: PaperScalars, max_bytes: int | None) -> None:
    """Raise RefusedError if the state takes more memory than `max_bytes`, or than there is.

    A few bytes may ask for any amount of memory, and some systems would try to provide it.
    """
    kind, d, room = scalars.kind, scalars.n_features, memory_for_directions(scalars)
    n = (scalars.n_structures + LANES) // LANES * LANES
    axes = {"n": n, "blocks": n // LANES, "d": d, **covariance_extents(kind, d, room)}
    axes |= {"rank_room": room.rank, "directions": room.directions}
    stored = (array for array in Structures.arrays() if not isinstance(array, Together))
    refuse_memory(8 * sum(math.prod(array.shape(axes)) for array in stored), max_bytes)


def memory_for_directions(scalars: PaperScalars) -> Room:
    """Memory that the state has for the directions of low-rank covariances."""
    return Room(scalars.rank_room, scalars.direction_room)


def refuse_unsound_scalars(scalars: PaperScalars) -> None:
    """Raise RefusedError if scalars of the right types cannot be the result of learning."""
    seen, live, grown, capacity = scalars.seen, scalars.live, scalars.grown, scalars.n_structures
    counts = (seen, scalars.pruned, scalars.merged, grown, scalars.prune_from)
    counters = (scalars.evaluations, scalars.rescans)
    numbers = (value for value in scalars if isinstance(value, float))
    sound = (
        all(0 <= count <= LARGEST_COUNT for count in counts)
        and all(0 <= counter <= LARGEST_INTEGER for counter in counters)
        and all(math.isfinite(number) for number in numbers)
        and 1 <= capacity <= LARGEST_COUNT
        and 1 <= scalars.n_features <= LARGEST_COUNT
        and 1 <= live <= min(capacity + 1, seen)
        and grown <= min(live, capacity)
        and scalars.prune_from <= seen
        and 0 <= scalars.stale <= live
        and (scalars.gap >= 0.0 if scalars.timed else scalars.gap == 1.0)
        and _ranks_are_sound(scalars)
    )
    demand(sound, "numbers")


def _ranks_are_sound(scalars: PaperScalars) -> bool:
    """True if the ranks of low-rank covariances have room, and all other kinds have none."""
    largest, room, needed = scalars.largest_rank, scalars.rank_room, scalars.needed_rank
    if scalars.kind != LOWRANK:
        return largest == room == needed == scalars.direction_room == 0
    return (
        1 <= room <= scalars.n_features
        and 0 <= largest <= room
        and 0 <= needed <= 2 * largest + 1
        and 0 <= scalars.direction_room <= _most_directions(scalars)
    )


def _most_directions(scalars: PaperScalars) -> int:
    """Directions for which a state of low-rank covariances has memory at most.

    Memory for each structure's, which is twice as much as any has got so far.
    """
    return 2 * (scalars.n_structures + 1) * (scalars.rank_room + 1) + _SPARE_DIRECTIONS


def refuse_unsound_arrays(scalars: PaperScalars, arrays: Arrays) -> None:
    """Raise RefusedError if the arrays of a state, whose scalars are sound, are not."""
    rank = rank_of(scalars, arrays)
    refuse_other_layouts(paper_layouts(scalars, rank), arrays)
    _refuse_counts(scalars, arrays)
    _refuse_means(arrays)
    _refuse_covariances(scalars, arrays)
    if scalars.kind == LOWRANK:
        _refuse_directions(scalars, rank, arrays)
    _refuse_odds(scalars, arrays)
    _refuse_to_prune_all(scalars, arrays)


def demand(holds: bool, what: str) -> None:
    """Raise RefusedError, in which `what` is named, if a condition does not hold."""
    if not holds:
        raise RefusedError(unsound(what))


def _whole(numbers: Floats) -> Booleans:
    whole: Booleans = numbers == np.floor(numbers)
    return whole


def within(low: float, numbers: Array, high: float) -> bool:
    """True if all numbers are from `low` to `high`, and none is NaN; also if there are none."""
    return numbers.size == 0 or bool(numbers.min() >= low and numbers.max() <= high)


def _refuse_counts(scalars: PaperScalars, arrays: Arrays) -> None:
    """Points absorbed, ages, ids and weights."""
    count, age, ids = arrays["count"], arrays["age"], arrays["id"]
    demand(
        within(1.0, count, LARGEST_COUNT)
        and bool(np.all(_whole(count)))
        and within(1.0, count[scalars.grown :], 1.0)
        and int(count.sum()) + scalars.pruned == scalars.seen,
        "counts",
    )
    if scalars.timed:
        demand(within(0.0, age, _LARGEST_FLOAT), "ages")
    else:
        demand(within(1.0, age, _LARGEST_AGE) and bool(np.all(_whole(age))), "ages")
    recent = arrays["recent"]
    demand(bool(np.all((recent > 0.0) & (recent <= ROUNDED_UP * count))), "shares")
    demand(within(0, ids, scalars.seen - 1) and np.unique(ids).size == ids.size, "ids")
    total, damping = arrays["total"], arrays["damping"]
    demand(
        within(0.0, total, np.inf)
        and within(0.0, damping, _LARGEST_FLOAT)
        and bool(np.all(damping > 0.0) and np.all(_ALMOST_ONE * total <= damping)),
        "weights",
    )


def _refuse_means(arrays: Arrays) -> None:
    anchor, drift = arrays["anchor"], arrays["drift"]
    near = within(-_FARTHEST_DRIFT, drift, _FARTHEST_DRIFT)
    demand(near and bool(np.all(np.isfinite(anchor))), "means")
    with np.errstate(over="ignore"):
        demand(bool(np.all(np.isfinite(anchor + drift))), "means")


def _refuse_covariances(scalars: PaperScalars, arrays: Arrays) -> None:
    """Covariances are finite, and at least 1 in every feature; those of single points are I."""
    g, least, renewals = scalars.grown, arrays["least"], arrays["renewals"]
    covariance, factor = arrays["covariance"], arrays["factor"]
    demand(bool(np.all(np.isfinite(factor))), "factors")
    demand(
        bool(np.all(least > 0.0) and np.all(renewals >= 0.0))
        and bool(np.all(least[g:] == 1.0) and np.all(renewals[g:] == 0.0))
        and bool(np.all(np.isfinite(covariance))),
        "covariances",
    )
    if scalars.kind == FULL:
        covariance = np.diagonal(covariance, axis1=1, axis2=2)
    if scalars.kind != LOWRANK:
        demand(within(_ALMOST_ONE, covariance, np.inf), "covariances")


def _refuse_directions(scalars: PaperScalars, rank: Integers, arrays: Arrays) -> None:
    """Directions have unit length and room; the small covariances have positive diagonals."""
    base, directions = arrays["base"], arrays["directions"]
    demand(within(_ALMOST_ONE, base, _LARGEST_FLOAT), "covariances")
    demand(bool(np.all(base[scalars.grown :] == 1.0)), "covariances")
    demand(len(directions) <= scalars.direction_room, "directions")
    lengths = np.einsum("ij,ij->i", directions, directions)
    demand(within(_ALMOST_ONE, lengths, 1.0 / _ALMOST_ONE), "directions")
    corners = _corners(rank)
    for triangles in (arrays["covariance"], arrays["factor"]):
        demand(bool(np.all(triangles[corners] > 0.0)), "covariances")


def _corners(rank: Integers) -> Integers:
    """Where the diagonals are in packed triangles of these ranks, one after the other."""
    sizes = packed_sizes(rank)
    starts = np.repeat(np.cumsum(sizes) - sizes, rank)
    firsts = np.repeat(np.cumsum(rank) - rank, rank)
    rows = np.arange(firsts.size) - firsts
    corners: Integers = starts + packed_sizes(rows + 1) - 1
    return corners


def _refuse_odds(scalars: PaperScalars, arrays: Arrays) -> None:
    """No odds are NaN, some pair is within reach, and no pair is below the bound of its row."""
    odds, pair, bound = arrays["odds"], arrays["pair"], arrays["bound"]
    k, least = scalars.live, -np.inf if scalars.in_logs else 0.0
    demand(within(least, odds, np.inf) and within(least, pair, np.inf), "distances")
    smallest = np.full(k, np.inf)
    if k > 1:
        lengths = np.arange(k - 1, 0, -1)
        smallest[:-1] = np.minimum.reduceat(pair, np.cumsum(lengths) - lengths)
    demand(bool(np.all((least <= bound) & (bound <= smallest))), "distances")
    demand(k == 1 or scalars.stale > 0 or bool(smallest.min() < np.inf), "distances")


def _refuse_to_prune_all(scalars: PaperScalars, arrays: Arrays) -> None:
    """Where pruning was interrupted, something is left when it is done."""
    if scalars.live <= scalars.n_structures and scalars.prune_from == 0:
        return
    light = arrays["total"] < scalars.w_min * arrays["damping"]
    demand(not np.all(light & (arrays["id"] >= scalars.prune_from)), "weights")


def rank_of(scalars: PaperScalars, arrays: Mapping[str, Array]) -> Integers:
    """Rank (k,) of each structure, empty if covariances have none; RefusedError if not sound."""
    if scalars.kind != LOWRANK:
        return np.empty(0, dtype=np.int64)
    rank = arrays.get("rank")
    if rank is None or not Layout(np.int64, (scalars.live,)).fits(rank):
        raise RefusedError(mismatch("rank"))
    if np.any(rank < 0) or np.any(rank > scalars.largest_rank) or np.any(rank[scalars.grown :]):
        raise RefusedError(unsound("ranks"))
    return rank
