"""A stream of the paper's mode as scalars and logical arrays, and back.

A file holds the structures in the order of their slots, because ties and sums of later merges
depend on it, and nothing about memory: blocks of eight slots, free slots, the places of directions
and the order in which relations were written are made anew when a file is read. What is read is
checked before a kernel works on it.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.numerics.eight import LANES
from spclust.parameters import TABLE, Params, is_automatic, resolved_structures
from spclust.persistence.container import Array, RefusedError
from spclust.persistence.paper_validation import (
    memory_for_directions,
    refuse_too_large,
    refuse_unsound_arrays,
    refuse_unsound_scalars,
    scalars_of,
)
from spclust.persistence.schema import PaperScalars, packed_sizes
from spclust.state.creation import empty
from spclust.state.kinds import FULL, LOWRANK, NAMES, SPHERICAL
from spclust.state.structures import Structures
from spclust.stream.stream import Stream

# Arrays with one entry for each structure that a file and a state have under the same name.
_PER_STRUCTURE = (
    *("total", "damping", "count", "age", "recent", "id", "least", "renewals", "bound"),
)
# Scalars that a state has under the same name, parameters not included.
_FIELDS = PaperScalars._fields
_WORDS = _FIELDS[_FIELDS.index("live") : _FIELDS.index("rank_room")]
_NAMES_OF_KINDS = {kind: name for name, kind in NAMES.items()}
_SAME_EXPONENT = 1e-6  # relative: versions differ in how they round 1 / (m - 1)


def content_of(stream: Stream) -> tuple[dict[str, Any], dict[str, Array]]:
    """Scalars, as JSON has them, and arrays of a stream; arrays may be views of its state.

    Raises RefusedError if `stream_of` would refuse them.
    """
    s = stream.structures
    scalars = PaperScalars(
        n_structures=s.capacity,
        n_features=s.d,
        covariance_type=_NAMES_OF_KINDS[s.kind],
        exponent=s.exponent,
        gamma=s.gamma,
        beta=s.beta,
        w_min=s.w_min,
        nlt_max=s.nlt_max,
        scale=s.scale,
        **{name: getattr(s, name) for name in _WORDS},
        rank_room=s.rank_room,
        direction_room=s.directions,
    )
    refuse_unsound_scalars(scalars)
    arrays = {**_structures_of(s), **_covariances_of(s), **_relations_of(s)}
    refuse_unsound_arrays(scalars, arrays)
    return scalars._asdict(), arrays


def _structures_of(s: Structures) -> dict[str, Array]:
    k = s.live
    arrays = {name: s.views[name][:k] for name in _PER_STRUCTURE}
    means = {"anchor": _lanes(s.anchor, k), "drift": _lanes(s.drift, k)}
    return {**means, **arrays}


def _lanes(blocks: Floats, k: int) -> Floats:
    """What the first k slots have in an array of blocks of eight slots, a row for each."""
    slots = np.arange(k)
    rows: Floats = blocks[slots // LANES, :, slots % LANES]
    return rows


def _covariances_of(s: Structures) -> dict[str, Array]:
    """Covariances and factors of the structures that have grown."""
    g = s.grown
    if s.kind == LOWRANK:
        return _lowrank_covariances_of(s)
    covariance, factor = s.Sigma[:g], _lanes(s.whiten, g)
    if s.kind != FULL:
        covariance = covariance[:, 0]
    if s.kind == SPHERICAL:
        covariance, factor = covariance[:, 0], factor[:, 0]
    return {"covariance": covariance, "factor": factor}


def _lowrank_covariances_of(s: Structures) -> dict[str, Array]:
    rank, half = s.rank[: s.live], s.columns // 2
    slots, sizes = np.flatnonzero(rank), packed_sizes(rank)
    places = [s.place[i, : rank[i]] for i in slots]
    small = [s.Sigma[i, 0, : sizes[i]] for i in slots]
    factors = [s.Sigma[i, 0, half : half + sizes[i]] for i in slots]
    return {
        "rank": rank,
        "base": s.base[: s.live],
        "directions": s.basis[np.concatenate([np.empty(0, np.int64), *places])],
        "covariance": np.concatenate([np.empty(0), *small]),
        "factor": np.concatenate([np.empty(0), *factors]),
    }


def _relations_of(s: Structures) -> dict[str, Array]:
    k = s.live
    return {
        "odds": current_odds(s.connection[:k], s.odds[:k, :k], s.odds_back[:k, :k]),
        "pair": s.pair[:k, :k][above_diagonal(k)],
    }


def current_odds(connection: Array, odds: Floats, odds_back: Floats) -> Floats:
    """Odds (k, k) of each structure in each other, infinite in itself: see `relations.odds_in`."""
    later = connection[:, np.newaxis] >= connection
    current: Floats = np.where(later, odds, odds_back.T)
    np.fill_diagonal(current, np.inf)
    return current


def above_diagonal(k: int) -> Booleans:
    """True (k, k) above the diagonal; as an index it gives the entries there row by row."""
    return ~np.tri(k, dtype=np.bool_)


def stream_of(
    built_with: Mapping[str, Any],
    state: Any,
    arrays: Mapping[str, Array],
    max_bytes: int | None = None,
) -> Stream:
    """The stream that has such content, for the parameters that it was built with.

    Raises RefusedError unless it is the content of a stream that has learnt something.
    """
    scalars = scalars_of(state)
    params = _params(built_with, scalars)
    refuse_too_large(scalars, max_bytes)
    refuse_unsound_scalars(scalars)
    refuse_unsound_arrays(scalars, arrays)
    try:
        return Stream.of(params, lambda: _state_of(params, scalars, arrays), scalars.n_features)
    except MemoryError:
        raise RefusedError("there is not enough memory for it") from None


def _params(built_with: Mapping[str, Any], scalars: PaperScalars) -> Params:
    """The parameters of a stream, if the two places where they are found agree."""
    limit, scale = built_with.get("max_rank"), built_with.get("scale")
    constant = all(TABLE[name].admits(built_with.get(name)) for name in ("n_structures", "m"))
    changing = ("gamma", "beta", "w_min", "nlt_max")
    sound = (
        constant
        and TABLE["scale"].admits(scale)
        and TABLE["max_rank"].admits(limit)
        and all(TABLE[name].admits(getattr(scalars, name)) for name in changing)
        and scalars.n_features >= 1
        and scalars.n_structures == resolved_structures(built_with["n_structures"], scale)
        and not is_automatic(scale)
        and scalars.scale == float(scale)  # type: ignore[arg-type] # it is admitted: a number
        and _is_exponent_of(built_with["m"], scalars.exponent)
        and scalars.kind in _kinds(built_with.get("covariance_type"))
    )
    if not sound:
        raise RefusedError("its parameters and its state do not match")
    return Params(
        n_structures=scalars.n_structures,
        exponent=scalars.exponent,
        gamma=scalars.gamma,
        beta=scalars.beta,
        w_min=scalars.w_min,
        nlt_max=scalars.nlt_max,
        scale=scalars.scale,
        kind=scalars.kind,
        max_rank=scalars.n_features if limit is None else int(limit),
    )


def _is_exponent_of(m: Any, exponent: float) -> bool:
    return math.isclose(exponent, 1.0 / (float(m) - 1.0), rel_tol=_SAME_EXPONENT)


def _kinds(covariance_type: Any) -> tuple[int, ...]:
    """Kinds of covariances that a covariance_type may stand for."""
    if covariance_type == "auto":
        return (FULL, LOWRANK)
    known = isinstance(covariance_type, str) and covariance_type in NAMES
    return (NAMES[covariance_type],) if known else ()


def _state_of(params: Params, scalars: PaperScalars, arrays: Mapping[str, Array]) -> Structures:
    """A new state with this content."""
    s = empty(params, scalars.n_features, memory_for_directions(scalars))
    for name in _WORDS:
        setattr(s, name, getattr(scalars, name))
    k = s.live
    slots = np.arange(k)
    for name in ("anchor", "drift"):
        s.views[name][slots // LANES, :, slots % LANES] = arrays[name]
    for name in _PER_STRUCTURE:
        s.views[name][:k] = arrays[name]
    if s.kind == LOWRANK:
        _write_lowrank_covariances(s, arrays)
    else:
        _write_covariances(s, slots[: s.grown], arrays)
    _write_relations(s, arrays)
    return s


def _write_covariances(s: Structures, grown: Integers, arrays: Mapping[str, Array]) -> None:
    """Write the covariances of the grown slots and their factors. Modified in place: s."""
    covariance, factor = arrays["covariance"], arrays["factor"]
    s.Sigma[grown] = covariance.reshape(grown.size, s.rows, s.columns)
    s.whiten[grown // LANES, :, grown % LANES] = factor.reshape(grown.size, s.t)


def _write_lowrank_covariances(s: Structures, arrays: Mapping[str, Array]) -> None:
    """Write low-rank covariances; the memory after their directions is free. Modified: s."""
    rank, half, used = arrays["rank"], s.columns // 2, len(arrays["directions"])
    s.rank[: s.live], s.base[: s.live] = rank, arrays["base"]
    s.basis[:used] = arrays["directions"]
    sizes, rows, numbers = packed_sizes(rank), np.cumsum(rank), np.cumsum(packed_sizes(rank))
    for i in np.flatnonzero(rank):
        triangle = slice(numbers[i] - sizes[i], numbers[i])
        s.place[i, : rank[i]] = np.arange(rows[i] - rank[i], rows[i])
        s.Sigma[i, 0, : sizes[i]] = arrays["covariance"][triangle]
        s.Sigma[i, 0, half : half + sizes[i]] = arrays["factor"][triangle]
    s.free_directions = s.directions - used
    s.free[: s.free_directions] = np.arange(used, s.directions)


def _write_relations(s: Structures, arrays: Mapping[str, Array]) -> None:
    """Write odds and pair odds, as if by one connection of all. Modified in place: s."""
    k, odds = s.live, arrays["odds"]
    s.connections, s.connection[:k] = 1, 1
    s.odds[:k, :k], s.odds_back[:k, :k] = odds, odds.T
    s.pair[:k, :k] = np.inf
    s.pair[:k, :k][above_diagonal(k)] = arrays["pair"]
