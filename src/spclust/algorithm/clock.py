"""A point arrives, and the time that it takes: one unit, or as long as time stamps say.

The paper counts points. Its weights fade at every point (Eq. 13), so there a time stamp only says
how long the step was. A mean, though, fades by the points that its own structure takes in (Eq. 10):
such a clock has no unit of time. With time stamps a point's share in a mean fades as Eq. 5 is
written, by the time since the point came, e^(-gamma (now - t)). The sum of these shares is kept for
each structure (`recent`); on one common clock nothing else is needed to merge two of them.
"""

from typing import Any

import numpy as np

from spclust.algorithm.footprint import fading, newer_share
from spclust.arrays import Floats
from spclust.jit.decorators import part
from spclust.numerics.eight import LANES, larger_of, load, same, store
from spclust.state.scratch import Scratch
from spclust.state.structures import POINT, Structures

# Shares that faded long ago are alike: two structures of them meet halfway.
_FADED = 1e-300


@part
def row_width(s: Structures) -> int:
    """Numbers in a row of X: those of a point, behind its time stamp if it has one."""
    return s.d + int(s.timed)


@part
def holds(rows: int, X: Floats, s: Structures) -> bool:
    """True if X holds just so many rows, one number after the other."""
    return X.size == rows * row_width(s) and (X.size < 2 or X.strides[0] == X.itemsize)


@part
def take(X: Floats, row: int, s: Structures, work: Scratch) -> bool:
    """Make a row of X the point work.x; False if it is not finite. Modified in place: s, work."""
    start, sum_of_zeros, x = row * row_width(s), 0.0, work.x
    now = X[start]
    if s.timed:
        start += 1
    for c in range(x.shape[1]):
        x[0, c], x[1, c] = X[start + c], 0.0
        sum_of_zeros += X[start + c] - X[start + c]
    finite = sum_of_zeros == 0.0
    if s.timed and finite:  # a point that is refused takes no time
        tick(now, s)
    return finite


@part
def tick(now: float, s: Structures) -> None:
    """Set the clock to `now`, the time stamp of the next point. Modified in place: s.

    The first point of a stream comes one unit after nothing, as in the paper.
    """
    s.gap = now - s.clock if s.seen > 0 else 1.0
    s.clock = now


@part
def fade_shares(s: Structures) -> None:
    """Let the shares of all points in their means fade, with time stamps. Modified in place: s.

    The first point fades nothing: there are no structures.
    """
    if not s.timed or s.gamma == 0.0:
        return
    left, recent = fading(s.gamma, s.gap), s.recent
    for i in range(0, s.live, LANES):
        store(larger_of(load(recent, i) * left, same(_FADED)), recent, i)


@part
def share_of(other: int, keeper: int, s: Structures) -> float:
    """Share of another structure, or of the point, in the mean of its union with slot `keeper`.

    Eq. 10 speaks of the older and the newer one (E7); the point is the newest.
    """
    if s.timed:
        theirs = 1.0 if other == POINT else s.recent[other]
        return theirs / (s.recent[keeper] + theirs)
    count, newer = 1.0, True
    if other != POINT:
        count, newer = s.count[other], s.id[other] > s.id[keeper]
    if newer:
        return newer_share(s.gamma, s.count[keeper], count)
    return 1.0 - newer_share(s.gamma, count, s.count[keeper])


def faded_to(now: float, clock: float, rate: float, what: Floats) -> Floats:
    """What is left of something, known at `clock`, at a later time."""
    if rate == 0.0:
        return what
    faded: Floats = np.maximum(what * np.exp(-rate * (now - clock)), _FADED)
    return faded


def stamped(x: Floats, t: Any, s: Structures) -> Floats:
    """A point (d,) behind its time stamp, as kernels take it; empty if `can_follow` says no."""
    if not can_follow(t, s):
        return np.empty(0)
    row = np.empty(x.size + 1)
    row[0], row[1:] = t, x
    return row


def can_follow(t: Any, s: Structures) -> bool:
    """True if t is a plain time stamp, not before the last, and the points of the stream have one.

    Anything else may still be converted to one by the slow path.
    """
    plain = isinstance(t, float) or type(t) is int
    return plain and s.timed and bool(s.clock <= t < np.inf)
