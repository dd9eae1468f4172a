"""Content of a saved state of the paper's mode: scalars by name and type, arrays by shape, too."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Integers
from spclust.persistence.container import Array, RefusedError
from spclust.persistence.schema import LARGEST_INTEGER, Layout, mismatch, unsound
from spclust.state.kinds import DIAGONAL, FULL, LOWRANK, NAMES, SPHERICAL

_NAMES_OF_KINDS = {kind: name for name, kind in NAMES.items()}


class Scalars(NamedTuple):
    """The numbers of a state that are not arrays."""

    # Parameters that the state was learnt with
    n_structures: int
    n_features: int
    covariance_type: str  # never "auto"
    exponent: float
    gamma: float
    beta: float
    w_min: float
    nlt_max: float
    scale: float

    # Counters and clocks
    live: int
    grown: int
    seen: int
    pruned: int
    merged: int
    evaluations: int
    rescans: int
    in_logs: bool
    timed: bool
    clock: float
    gap: float

    # What is left to do, if a call was interrupted
    prune_from: int
    stale: int
    needed_rank: int

    # Memory of low-rank covariances
    largest_rank: int
    rank_room: int
    direction_room: int

    @property
    def kind(self) -> int:
        """The kind of covariances: see `state.kinds`."""
        return NAMES[self.covariance_type]


# Scalars that a state has under the same name, parameters not included.
WORDS = Scalars._fields[Scalars._fields.index("live") : Scalars._fields.index("rank_room")]

_TYPES = Scalars.__annotations__


def name_of_kind(kind: int) -> str:
    """The covariance_type of a kind of covariances."""
    return _NAMES_OF_KINDS[kind]


def scalars_of(state: Any) -> Scalars:
    """The scalars in the header of a file; RefusedError if one is missing or of another type."""
    if not isinstance(state, dict) or set(state) != set(_TYPES):
        raise RefusedError("its header has no state, or not all of it")
    for name, value in state.items():
        if not _is_of_type(value, _TYPES[name]):
            raise RefusedError(f"{name!r} of its state is not a valid value")
    return Scalars(**{name: _TYPES[name](value) for name, value in state.items()})


def _is_of_type(value: Any, wanted: type) -> bool:
    if wanted is str:
        return isinstance(value, str) and value in NAMES
    if wanted is float and type(value) is float:
        return math.isfinite(value)
    whole = type(value) is int and abs(value) <= LARGEST_INTEGER
    return type(value) is bool if wanted is bool else whole


def layouts(scalars: Scalars, rank: Integers) -> dict[str, Layout]:
    """Type and shape of every array of a state; rank (k,) is empty unless covariances have one."""
    k, d = scalars.live, scalars.n_features
    shapes: dict[str, tuple[int, ...]] = {"anchor": (k, d), "drift": (k, d)}
    shapes |= dict.fromkeys(("total", "damping", "count", "age", "recent", "id"), (k,))
    shapes |= _covariance_shapes(scalars, rank)
    shapes |= {"odds": (k, k), "pair": (k * (k - 1) // 2,), "bound": (k,)}
    integers = ("id", "rank")
    return {
        name: Layout(np.int64 if name in integers else np.float64, shape)
        for name, shape in shapes.items()
    }


def _covariance_shapes(scalars: Scalars, rank: Integers) -> dict[str, tuple[int, ...]]:
    """Shapes of the covariances, of which single points have none, and of their factors."""
    k, g, d = scalars.live, scalars.grown, scalars.n_features
    if scalars.kind == LOWRANK:
        numbers = (int(packed_sizes(rank).sum()),)
        shapes = {"rank": (k,), "base": (k,), "directions": (int(rank.sum()), d)}
        shapes |= {"covariance": numbers, "factor": numbers}
    else:
        covariance = {FULL: (g, d, d), DIAGONAL: (g, d), SPHERICAL: (g,)}
        factor = {FULL: (g, d * (d + 1) // 2), DIAGONAL: (g, d), SPHERICAL: (g,)}
        shapes = {"covariance": covariance[scalars.kind], "factor": factor[scalars.kind]}
    return {**shapes, "least": (k,), "renewals": (k,)}


def packed_sizes(rank: Integers) -> Integers:
    """Numbers of the triangle, row by row, of square matrices with `rank` rows."""
    sizes: Integers = rank * (rank + 1) // 2
    return sizes


def rank_of(scalars: Scalars, arrays: Mapping[str, Array]) -> Integers:
    """Rank (k,) of each structure, empty if covariances have none; RefusedError if not sound."""
    if scalars.kind != LOWRANK:
        return np.empty(0, dtype=np.int64)
    rank = arrays.get("rank")
    if rank is None or not Layout(np.int64, (scalars.live,)).fits(rank):
        raise RefusedError(mismatch("rank"))
    if np.any(rank < 0) or np.any(rank > scalars.largest_rank) or np.any(rank[scalars.grown :]):
        raise RefusedError(unsound("ranks"))
    return rank
