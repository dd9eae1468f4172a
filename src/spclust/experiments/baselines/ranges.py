"""Ranges of the parameters of the baselines, as rows of `spclust.parameters`.

Defaults and meanings are in the signatures and docstrings of the classes.
"""

from numbers import Integral, Real
from typing import Literal

from spclust.parameters import Parameter


def number(
    low: float,
    high: float | None = None,
    closed: Literal["left", "right", "both", "neither"] = "left",
) -> Parameter:
    """A real number between two ends; no upper end by default."""
    return Parameter("", None, Real, low, high, closed, "")


def integer(low: int, high: int | None = None, *, optional: bool = False) -> Parameter:
    """An integer of at least `low`, at most `high`; None too if it is optional."""
    closed: Literal["left", "both"] = "left" if high is None else "both"
    return Parameter("", None, Integral, low, high, closed, "", optional=optional)


def word(*words: str) -> Parameter:
    """One of some words."""
    return Parameter("", None, str, 0.0, None, "left", "", words=words)


LENGTH = number(1e-150, 1e150, "both")  # the squares of both ends can be represented
