"""Durations, of Python, pandas or NumPy, as seconds."""

import math
import sys
from datetime import timedelta
from fractions import Fraction
from typing import Any

_SECONDS: dict[str, Fraction] = {
    **{"W": Fraction(604_800), "D": Fraction(86_400), "h": Fraction(3600), "m": Fraction(60)},
    **{f"{prefix}s": Fraction(1, 1000**i) for i, prefix in enumerate(["", *"munpfa"])},
}  # of the units of NumPy; years and months have no fixed length


def duration_seconds(value: Any) -> float | None:
    """Seconds of a timedelta of Python, pandas or NumPy; None of anything else.

    NaN if it has no length: NaT, or a number of months, or of no unit.
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


def half_life_number(half_life: Any) -> float:
    """The half-life as a number: seconds of a timedelta, infinity for None."""
    if half_life is None:
        return math.inf
    seconds = duration_seconds(half_life)
    return float(half_life) if seconds is None else seconds
