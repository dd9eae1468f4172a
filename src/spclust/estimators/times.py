"""Checks of time stamps: numbers, or dates, that never go backwards."""

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from spclust.algorithm.kernels import EXACT
from spclust.array_types import Floats
from spclust.durations import duration_seconds
from spclust.time_units import seconds_of_dates

_SECOND = np.timedelta64(1, "s")


def checked_times(t: Any, rows: int, last: float | None, *, new: bool) -> Floats | None:
    """Time stamps (rows,) as floats, dates as seconds; None if there are none.

    A single one counts for all rows. `last` is the last time stamp of the stream, None if it has
    none; a `new` stream may choose. Raises a ValueError or TypeError that says what is wrong.
    """
    if not new and (t is None) != (last is None):
        raise ValueError(
            "t is missing: this stream has had a time stamp for every point, so go on with them."
            if t is None
            else "t is given, but the points of this stream had no time stamps so far: leave t "
            "out, or start a new stream with it."
        )
    if t is None:
        return None
    times = as_numbers(t)
    if times.ndim == 0:
        times = np.full(rows, float(times))
    if times.shape != (rows,):
        raise ValueError(
            f"t must have one time stamp for each row, {rows}, but has shape {times.shape}."
        )
    finite = np.isfinite(times)
    if not finite.all():
        raise ValueError(f"t has no finite time stamp at row {int(np.argmin(finite))}.")
    before = np.concatenate([times[:1] if new or last is None else [last], times[:-1]])
    backwards = times < before
    if backwards.any():
        row = int(np.argmax(backwards))
        raise ValueError(
            f"Time stamps must not go backwards, but at row {row} of t {times[row]:.17g} follows "
            f"{before[row]:.17g}: bring the points in order of time first."
        )
    return times


def refuse_duration(half_life: Any, *, new: bool) -> None:
    """Refuse a half-life that is a timedelta: points have no time stamps."""
    if duration_seconds(half_life) is not None:
        raise ValueError(
            f"half_life={half_life!r} is a time, but "
            + (
                "the points have no time stamps: pass t=, or give half_life as a number of points."
                if new
                else "the points of this stream had no time stamps so far: give half_life as a "
                "number of points, or start a new stream with t=."
            )
        )


def as_numbers(t: Any) -> Floats:
    """Numbers as they are, dates as seconds since 1970, without a time zone in UTC."""
    if isinstance(t, np.ma.MaskedArray):
        # A masked time stamp is refused, as one that is not finite.
        t = np.where(np.ma.getmaskarray(t), np.nan, 0.0) if np.ma.is_masked(t) else t.data
    stamps = np.asarray(t)
    if stamps.dtype == object:
        stamps = np.array([_seconds(one) for one in stamps.reshape(-1)]).reshape(stamps.shape)
    if stamps.dtype.kind == "M":
        return seconds_of_dates(stamps)
    if stamps.dtype.kind == "m":
        return stamps / _SECOND
    if stamps.dtype.kind not in "iuf":
        raise TypeError(f"t must be numbers or dates, but holds {stamps.dtype} ({t!r:.60}).")
    _require_exact(stamps)
    return stamps.astype(np.float64)


def _require_exact(stamps: Any) -> None:
    """Raise ValueError if one of integers, such as nanoseconds since 1970, would be rounded."""
    for most in (stamps.max(), stamps.min()) if stamps.dtype.kind in "iu" and stamps.size else ():
        _require_exact_integer(int(most))


def _require_exact_integer(stamp: int) -> None:
    if not -EXACT <= stamp <= EXACT:
        raise ValueError(
            f"t holds {stamp!r:.40}, but integers above 2**53 would be rounded: subtract a start "
            "of your own, the same for all points of the stream, or give dates, such as "
            "t.astype('datetime64[ns]') for nanoseconds since 1970, whose unit is a second."
        )


def _seconds(stamp: Any) -> float:
    if isinstance(stamp, np.datetime64 | np.timedelta64):
        return float(as_numbers(stamp))
    if isinstance(stamp, date) and stamp != stamp:  # pandas' NaT
        return math.nan
    if isinstance(stamp, timedelta):
        return stamp.total_seconds()
    if isinstance(stamp, date) and not isinstance(stamp, datetime):
        stamp = datetime(stamp.year, stamp.month, stamp.day)
    if isinstance(stamp, datetime):
        aware = stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=UTC)
        return aware.timestamp()
    if isinstance(stamp, int | float | np.number) and not isinstance(stamp, bool):
        if isinstance(stamp, int | np.integer):
            _require_exact_integer(int(stamp))
        return float(stamp)
    raise TypeError(f"t must be numbers or dates, but holds {stamp!r:.60}.")
