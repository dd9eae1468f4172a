"""Kinds of spreads: what a covariance may look like, and what that takes in memory.

Each kind has a module of its own with the same few functions: see `spreads`. A kernel is compiled
for one kind, which the compiler knows: it leaves out the branches of all others.
"""

from collections.abc import Container
from typing import NamedTuple

from spclust.jit.decorators import COMPILED

# PLANE is FULL for two features: the same state, but code of its own.
FULL, PLANE, DIAGONAL, SPHERICAL, LOWRANK = range(5)
# FIXED + d is FULL for d features, if there are not too many to be written out one by one: see
# `fixed`. Only the kernel that learns is compiled for it.
FIXED = 100
# With fewer features, what does not depend on them takes most of the time.
FIXED_FEATURES: Container[int] = range(6, 17)
NAMES = {"full": FULL, "diag": DIAGONAL, "spherical": SPHERICAL, "lowrank": LOWRANK}


# Up to so many features "auto" is "full"; see docs/dimension.md for what was measured.
MOST_FEATURES_OF_FULL = 128


def kind_for(name: str, d: int) -> int:
    """The kind of a covariance_type if there are d features."""
    if name == "auto":
        return FULL if d <= MOST_FEATURES_OF_FULL else LOWRANK
    return NAMES[name]


def kind_of_kernel(kind: int, d: int) -> int:
    """The kind of kernel that learns a state of a kind with d features."""
    if kind == FULL and d == 2:
        return PLANE
    return FIXED + d if kind == FULL and d in FIXED_FEATURES and COMPILED else kind


def plain(kind: int) -> int:
    """The kind of kernels that do all the rest."""
    return FULL if kind > FIXED else kind


class Room(NamedTuple):
    """How much memory spreads of low rank have at the moment: both grow when it is needed."""

    rank: int = 0  # the largest rank
    directions: int = 0  # of all structures together


class Sizes(NamedTuple):
    """Numbers that the spread of one structure takes."""

    factor: int  # of W, with which distances are measured, if it is kept in blocks of eight
    rows: int  # of the array that holds the spread itself: all of Sigma, or its diagonal,
    columns: int  # or the one number on it; or, of low rank, packed triangles of S and its factor


def sizes(kind: int, d: int, room: Room) -> Sizes:
    """What spreads of a kind take if there are d features."""
    if kind == SPHERICAL:
        return Sizes(1, 1, 1)
    if kind == DIAGONAL:
        return Sizes(d, 1, d)
    if kind == LOWRANK:
        return Sizes(0, 1, room.rank * (room.rank + 1))
    return Sizes(d * (d + 1) // 2, d, d)


def spare_size(d: int, rank: int) -> int:
    """Numbers of scratch memory that spreads of low rank take to be merged, or measured."""
    if rank == 0:
        return 0
    return 2 * d + 16 + 16 * rank + 4 * rank * rank + rank * (rank + 1) // 2
