"""Dates as seconds, and durations as people write them: 30s, 10m, 6h, 7d."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from spclust.array_types import Floats

_EPOCH = np.datetime64(0, "s")
_SECOND = np.timedelta64(1, "s")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|h|d)")


def seconds_of_dates(dates: Any) -> Floats:
    """Dates of NumPy as seconds since 1970, rounded once, whatever their unit; NaT becomes NaN.

    Nanoseconds since 1970 have too many digits for a float: whole seconds are set apart.
    """
    since = dates - _EPOCH
    whole = since.astype("timedelta64[s]")
    seconds: Floats = whole / _SECOND + (since - whole) / _SECOND
    return seconds


def date_text(seconds: float) -> str:
    """Seconds since 1970 as a date of ISO 8601 in UTC, to the microsecond.

    >>> date_text(1.5)
    '1970-01-01T00:00:01.500000Z'
    """
    try:
        whole = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=round(seconds * 1e6))
    except OverflowError:  # a date that has no year of four digits
        return str(seconds)
    return whole.isoformat().replace("+00:00", "Z")


def duration_of(text: str) -> timedelta | None:
    """A duration of a number and a unit, ms, s, m, h or d; None if the text is none.

    >>> duration_of("1.5h")
    datetime.timedelta(seconds=5400)
    """
    found = _DURATION.fullmatch(text.strip().lower())
    try:
        return None if found is None else timedelta(seconds=float(found[1]) * _UNITS[found[2]])
    except OverflowError:
        return None


def duration_text(duration: timedelta) -> str:
    """A duration as `duration_of` reads it."""
    return f"{duration.total_seconds():.15g}s"
