"""Durations, of Python, pandas or NumPy, as seconds."""

import math
import sys
from datetime import timedelta
from fractions import Fraction
from typing import Any

# Of the units of NumPy, but for years and months, which have no fixed length.
_SECONDS = {
    name: Fraction(seconds)
    for name, seconds in (("W", 604_800), ("D", 86_400), ("h", 3600), ("m", 60), ("s", 1))
} | {f"{prefix}s": Fraction(1, 1000**power) for power, prefix in enumerate("munpfa", start=1)}


def duration_seconds(value: Any) -> float | None:
    """Seconds of a timedelta, of Python, pandas or NumPy, or None.

    None of anything else. NaN if it has no length: NaT, or a number of months, or of no unit.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    numpy = sys.modules.get("numpy")  # not imported here: the command starts without it
    if numpy is None or not isinstance(value, numpy.timedelta64):
        return None
    unit, count = numpy.datetime_data(value.dtype)
    if numpy.isnat(value) or unit not in _SECONDS:
        return math.nan
    return float(int(value.astype("int64")) * count * _SECONDS[unit])
