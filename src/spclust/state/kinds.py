"""Kinds of covariances: which forms there are, and how much memory each takes.

Each kind has a module of its own with the same few functions: see `spclust.covariance`. A kernel is
compiled for one kind, which the compiler knows.
"""

from collections.abc import Container
from types import ModuleType
from typing import NamedTuple

from spclust.jit.decorators import COMPILED

# PLANE is FULL for two features: the same state, but code of its own.
FULL, PLANE, DIAGONAL, SPHERICAL, LOWRANK = range(5)
# UNROLLED + d is FULL for d features, few enough for loops to be written out: see
# `covariance.unrolled`. Only the kernel that learns is compiled for it.
UNROLLED = 100
# With fewer features, what does not depend on them takes most of the time.
UNROLLED_FEATURES: Container[int] = range(6, 17)
NAMES = {"full": FULL, "diag": DIAGONAL, "spherical": SPHERICAL, "lowrank": LOWRANK}

# Up to so many features "auto" is "full"; docs/explanation/low_rank.md has the measurements.
MOST_FEATURES_OF_FULL = 128

# The module of each kind, by the kind; `spclust.covariance` fills it.
MODULES: dict[int, ModuleType] = {}


def kind_for(name: str, d: int, automatic: bool = False) -> int:
    """The kind of a covariance_type if there are d features, in the automatic mode or not."""
    if name == "auto":
        many = DIAGONAL if automatic else LOWRANK
        return FULL if d <= MOST_FEATURES_OF_FULL else many
    return NAMES[name]


def kind_of_kernel(kind: int, d: int) -> int:
    """The kind of kernel that learns a state of a kind with d features."""
    if kind == FULL and d == 2:
        return PLANE
    return UNROLLED + d if kind == FULL and d in UNROLLED_FEATURES and COMPILED else kind


def without_unrolling(kind: int) -> int:
    """The kind of all kernels but the one that learns."""
    return FULL if kind > UNROLLED else kind


def known_extents(kind: int) -> dict[str, int]:
    """Extents of the state that the kind of a kernel determines."""
    d = 2 if kind == PLANE else kind - UNROLLED if kind > UNROLLED else 0
    return {"d": d, "t": d * (d + 1) // 2, "rows": d, "columns": d} if d else {}


class Room(NamedTuple):
    """How much memory covariances of low rank have: both grow when more is needed."""

    rank: int = 0  # the largest rank
    directions: int = 0  # of all structures together


def covariance_extents(kind: int, d: int, room: Room) -> dict[str, int]:
    """Extents of the arrays that hold covariances of a kind for d features.

    `t` numbers are a factor W, with which distances are measured. The covariance itself takes
    (rows, columns): all of Sigma, or its diagonal, or the one number on it; or, of low rank, packed
    triangles of S and its factor.
    """
    if kind == SPHERICAL:
        return {"t": 1, "rows": 1, "columns": 1}
    if kind == DIAGONAL:
        return {"t": d, "rows": 1, "columns": d}
    if kind == LOWRANK:
        return {"t": 0, "rows": 1, "columns": room.rank * (room.rank + 1)}
    return {"t": d * (d + 1) // 2, "rows": d, "columns": d}


def spare_size(d: int, rank: int) -> int:
    """Numbers of scratch memory that covariances of low rank need to be merged, or measured."""
    if rank == 0:
        return 0
    return 2 * d + 16 + 16 * rank + 4 * rank * rank + rank * (rank + 1) // 2
