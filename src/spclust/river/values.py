"""Values at the border: what a feature may be, and the order that features have."""

import math
from collections.abc import Hashable, Iterable, Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 - its own name says nothing
from typing import Any, TypeAlias

import numpy as np

Name: TypeAlias = Hashable

# What packs a C double takes all that is a number to Python, bool included, and no text: the same
# rule for a single value as for the many of the quick path.
_DOUBLE = Struct("d")


def in_order(names: Iterable[Name]) -> tuple[Name, ...]:
    """Names in the order that features have: by their text, whatever order they came in."""
    return tuple(sorted(names, key=lambda name: (str(name), type(name).__name__)))


def as_number(name: Name, value: Any) -> float:
    """A value as a float; NaN if it is missing, as None and pandas' NA are, too."""
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
    """The features of a point that are there, as floats; what is missing is left out."""
    if not isinstance(x, Mapping):
        raise TypeError(f"x must be a dictionary of features, but is {x!r:.60}.")
    values = {name: as_number(name, value) for name, value in x.items()}
    return {name: number for name, number in values.items() if not math.isnan(number)}
