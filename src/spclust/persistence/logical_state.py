"""A stream as named arrays, and back; what comes back is checked before any kernel sees it."""

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.arrays import Floats
from spclust.parameters import TABLE, Params
from spclust.persistence.container import Array, RefusedError
from spclust.persistence.validation import refuse_unsound, refuse_unsound_head
from spclust.state.kinds import FULL, LOWRANK, NAMES, Room
from spclust.state.structures import (
    BETA,
    CAPACITY,
    DIRECTIONS,
    EXPONENT,
    FEATURES,
    FRAMED,
    GAMMA,
    KIND,
    NLT_MAX,
    RANK,
    SCALE,
    W_MIN,
    Structures,
    empty_pool,
    pool_size,
    view,
)
from spclust.stream.stream import Stream

NAMES_OF_ARRAYS = Structures._fields

_HEAD = (40,)
_MOST_FEATURES = 2**40  # more than any memory holds
_SIMILAR = 1e-6  # relative: exponents that were rounded in another way


def arrays_of(stream: Stream) -> dict[str, Floats]:
    """The arrays of a stream by name, without rows at their ends that nothing was written to.

    Raises RefusedError if `stream_of` would not take them back: better to know before they are
    needed.
    """
    pool = stream.pool
    fresh = empty_pool(stream.params, int(pool[FEATURES]), _room(pool))
    refuse_unsound_head(view(pool).head, fresh)
    refuse_unsound(view(pool))
    arrays = {
        name: ours[: _rows_written(ours, untouched)]
        for name, ours, untouched in zip(NAMES_OF_ARRAYS, view(pool), view(fresh), strict=True)
    }
    return {**arrays, "head": view(pool).head}


def _rows_written(array: Floats, fresh: Floats) -> int:
    """Number of the last row that is another one, to the bit, plus one."""
    if array.size == 0:
        return 0
    differs = array.view(np.int64) != fresh.view(np.int64)
    rows = np.flatnonzero(differs.any(axis=tuple(range(1, array.ndim))))
    return int(rows[-1]) + 1 if rows.size else 0


def stream_of(
    built_with: Mapping[str, Any], arrays: Mapping[str, Array], *, natural: bool = False
) -> Stream:
    """The stream that gave such arrays, for the parameters that it was built with.

    Raises RefusedError if they are not those of a stream that has learnt something.
    """
    head = arrays.get("head", np.empty(0))
    if head.shape != _HEAD or head.dtype != np.float64:
        raise RefusedError("it holds no state")
    params = _params(built_with, head, natural)
    d, room = int(head[FEATURES]), _room(head)
    _refuse_if_too_large(pool_size(params, d, room))
    try:
        pool = empty_pool(params, d, room)
        refuse_unsound_head(head, pool)
        _fill(view(pool), arrays)
        refuse_unsound(view(pool))
        stream = Stream.__new__(Stream)
        stream.__setstate__({"params": params, "pool": pool})
    except MemoryError:
        raise RefusedError("there is not enough memory for it") from None
    return stream


def _params(built_with: Mapping[str, Any], head: Floats, natural: bool) -> Params:
    """The parameters of a stream, if the two places where they are found agree."""
    numbers = ("n_structures", "m", "scale")
    limit, covariance = built_with.get("max_rank"), built_with.get("covariance_type")
    whole = head[[CAPACITY, FEATURES, KIND, RANK, DIRECTIONS]]
    sound = (
        all(TABLE[name].admits(built_with.get(name)) for name in numbers)
        and (limit is None or (type(limit) is int and limit >= 1))
        and bool(np.all((whole >= 0.0) & (whole < _MOST_FEATURES) & (whole == np.floor(whole))))
        and _changing_ones_are_admitted(head)
        and head[FEATURES] >= 1.0
        and head[CAPACITY] == built_with["n_structures"]
        and (head[SCALE], head[FRAMED]) == _scale(built_with["scale"])
        and math.isclose(head[EXPONENT], 1.0 / (float(built_with["m"]) - 1.0), rel_tol=_SIMILAR)
        and int(head[KIND]) in _kinds(covariance)
        and (head[KIND] == LOWRANK or head[RANK] == head[DIRECTIONS] == 0.0)
        and head[RANK] <= head[FEATURES]
    )
    if not sound:
        raise RefusedError("its parameters and its state do not go together")
    d = int(head[FEATURES])
    return Params(
        n_structures=int(head[CAPACITY]),
        exponent=float(head[EXPONENT]),
        gamma=float(head[GAMMA]),
        beta=float(head[BETA]),
        w_min=float(head[W_MIN]),
        nlt_max=float(head[NLT_MAX]),
        scale=float(head[SCALE]),
        kind=int(head[KIND]),
        max_rank=d if limit is None else int(limit),
        framed=bool(head[FRAMED]),
        natural=natural,
    )


def _scale(scale: Any) -> tuple[float, float]:
    """What the head has of a scale: the number, and whether it is found out."""
    return (1.0, 1.0) if scale == "auto" else (float(scale), 0.0)


def _changing_ones_are_admitted(head: Floats) -> bool:
    changing = {"gamma": GAMMA, "beta": BETA, "w_min": W_MIN, "nlt_max": NLT_MAX}
    return all(TABLE[name].admits(float(head[place])) for name, place in changing.items())


def _kinds(covariance_type: Any) -> tuple[int, ...]:
    """Kinds of spreads that a covariance_type may stand for."""
    if covariance_type == "auto":
        return (FULL, LOWRANK)
    known = isinstance(covariance_type, str) and covariance_type in NAMES
    return (NAMES[covariance_type],) if known else ()


def _room(head: Floats) -> Room:
    return Room(int(head[RANK]), int(head[DIRECTIONS]))


def _refuse_if_too_large(numbers: int) -> None:
    """A few bytes may ask for any amount of memory, and some systems would even try."""
    try:
        there_is = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        there_is = 2**46
    if 8 * numbers > there_is:
        raise RefusedError(f"it takes {8e-9 * numbers:.0f} GB, more than this machine has")


def _fill(s: Structures, arrays: Mapping[str, Array]) -> None:
    """Write the arrays, or as many rows of each as there are. Modified in place: s."""
    for name, ours in zip(NAMES_OF_ARRAYS, s, strict=True):
        theirs = arrays.get(name)
        fits = (
            theirs is not None
            and theirs.dtype == np.float64
            and theirs.ndim == ours.ndim
            and theirs.shape[1:] == ours.shape[1:]
            and len(theirs) <= len(ours)
        )
        if theirs is None or not fits:
            raise RefusedError(f"its array {name!r} is missing or of another shape")
        ours[: len(theirs)] = theirs
