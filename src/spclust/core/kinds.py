"""Kinds of spreads: what a covariance may look like, and what that takes in memory.

Each kind has a module of its own with the same few functions: see `spreads`. A kernel is compiled
for one kind, which the compiler knows: it leaves out the branches of all others.
"""

from typing import NamedTuple

# PLANE is FULL for two features: the same state, but code of its own.
FULL, PLANE, DIAGONAL, SPHERICAL = range(4)
NAMES = {"full": FULL, "diag": DIAGONAL, "spherical": SPHERICAL}


class Sizes(NamedTuple):
    """Numbers that the spread of one structure takes."""

    factor: int  # of W, with which distances are measured
    rows: int  # of the array that holds the spread itself: all of Sigma, or its diagonal,
    columns: int  # or the one number on it


def sizes(kind: int, d: int) -> Sizes:
    """What spreads of a kind take if there are d features."""
    if kind == SPHERICAL:
        return Sizes(1, 1, 1)
    if kind == DIAGONAL:
        return Sizes(d, 1, d)
    return Sizes(d * (d + 1) // 2, d, d)
