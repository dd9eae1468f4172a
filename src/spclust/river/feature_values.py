"""Conversion of feature values to floats, and the order of features."""

import math
from collections.abc import Hashable, Iterable, Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class in lower case
from typing import Any, TypeAlias

import numpy as np

Name: TypeAlias = Hashable

# Packing a C double accepts every Python number, bool included, and no text: the same rule for a
# single value as for the whole points of the fast path.
_DOUBLE = Struct("d")


def in_order(names: Iterable[Name]) -> tuple[Name, ...]:
    """Names of features in a fixed order: by their text, whatever their order in a point."""
    return tuple(sorted(names, key=lambda name: (str(name), type(name).__name__)))


def as_number(name: Name, value: Any) -> float:
    """Return a value as a float; NaN if it is missing: NaN, None or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return math.nan
    try:
        if isinstance(value, complex | np.complexfloating):
            raise TypeError
        number: float = _DOUBLE.unpack(_DOUBLE.pack(value))[0]
    except (StructError, TypeError):
        if isinstance(value, int):
            number = math.inf  # too large for a float
        else:
            raise TypeError(
                f"Feature {name!r} is {value!r:.60}, where a number is needed: leave it out or "
                "encode it."
            ) from None
    if math.isinf(number):
        raise ValueError(
            f"Feature {name!r} is infinite or too large for a float: leave it out, which means "
            "missing, or limit it."
        )
    return number


def observed_values(x: Mapping[Name, Any]) -> dict[Name, float]:
    """The features of a point as floats, without the missing ones."""
    if not isinstance(x, Mapping):
        raise TypeError(f"x must be a dictionary of features, but is {x!r:.60}.")
    values = {name: as_number(name, value) for name, value in x.items()}
    return {name: number for name, number in values.items() if not math.isnan(number)}
