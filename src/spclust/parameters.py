"""The parameters: one table of symbol, range and meaning, and one validation."""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple


class Parameter(NamedTuple):
    """One parameter: what the paper calls it, the values it may take, what it means."""

    symbol: str
    kind: type
    low: float
    high: float | None  # None is no limit
    closed: Literal["left", "right", "both", "neither"]  # which ends belong to the range
    meaning: str
    optional: bool = False  # whether it may be None
    automatic: bool = False  # whether it may be "auto"

    @property
    def allowed(self) -> str:
        """The range in words."""
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        number = "an integer" if self.kind is Integral else "a number"
        high = "inf" if self.high is None else f"{self.high:g}"
        none = "None or " if self.optional else '"auto" or ' if self.automatic else ""
        return f"{none}{number} in the range {left}{self.low:g}, {high}{right}"

    def admits(self, value: Any) -> bool:
        """Whether `value` is of the right kind and within range."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return self.automatic and value == "auto"
        if isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        try:
            number = float(value)  # type: ignore[arg-type] # a Real or an Integral
        except OverflowError:
            return False
        high = math.inf if self.high is None else self.high
        above = number >= self.low if self.closed in ("left", "both") else number > self.low
        below = number <= high if self.closed in ("right", "both") else number < high
        return above and below


TABLE: dict[str, Parameter] = {
    "n_structures": Parameter(
        "N", Integral, 1, 1_000_000, "both",
        "structures kept at the most",
    ),
    "m": Parameter(
        "m", Real, 1.0, 100.0, "right",
        "fuzzifier: the smaller, the sharper the edge of a structure",
    ),
    "gamma": Parameter(
        "gamma", Real, 0.0, None, "left",
        "decay of a structure's mean per point that the structure takes in",
    ),
    "beta": Parameter(
        "beta", Real, 0.0, None, "left",
        "decay of a structure's weight per point of the stream",
    ),
    "w_min": Parameter(
        "w_min", Real, 0.0, 1.0, "left",
        "a structure lighter than this is pruned",
    ),
    "nlt_max": Parameter(
        "NLT_max", Real, 0.0, None, "left",
        "a pruned structure is merged into the nearest one if its NLT there is below this",
    ),
    "eps": Parameter(
        "epsilon", Real, 0.0, 1.0, "both",
        "structures at most this distance D apart are neighbours (DBSCAN)",
        automatic=True,
    ),
    "min_samples": Parameter(
        "min_pts", Integral, 1, 1_000_000, "both",
        "neighbours, itself included, that make a structure a core of a cluster (DBSCAN)",
    ),
    "scale": Parameter(
        "", Real, 1e-160, 1e150, "both",  # the squares of both ends are representable
        "standard deviation of a fresh structure, in the unit of the data",
        automatic=True,
    ),
    "outlier_nlt": Parameter(
        "none", Real, 0.0, None, "left",
        "a row whose NLT in its best structure is above this belongs to no cluster, -1",
        optional=True,
    ),
}  # fmt: skip

COVARIANCE_TYPES = ("auto", "full", "lowrank", "diag", "spherical")


class Params(NamedTuple):
    """The parameters that the online phase needs."""

    n_structures: int
    exponent: float  # 1 / (m - 1)
    gamma: float
    beta: float
    w_min: float
    nlt_max: float
    scale: float
    kind: int = 0  # of covariances; see `spclust.state.kinds`
    max_rank: int = 1_000_000  # of those of low rank
    framed: bool = False  # whether the unit of the data is found out; see `spclust.auto.scale`
    natural: bool = False  # whether clusters are found without eps; see `spclust.auto.hysteresis`


def validate(values: Mapping[str, Any], owner: str) -> None:
    """Raise a ValueError that names the first parameter out of range, its range and its value."""
    for name, value in values.items():
        if not TABLE[name].admits(value):
            raise ValueError(f"{name} of {owner} must be {TABLE[name].allowed}, but is {value!r}.")


def decay_from_half_life(points: float) -> float:
    """Decay rate (gamma or beta) at which the influence of a point halves every `points` points.

    For `beta` points of the stream count, for `gamma` the points that the structure takes in.

    >>> round(decay_from_half_life(100), 6)
    0.006931
    >>> decay_from_half_life(float("inf"))
    0.0
    """
    if isinstance(points, bool) or not isinstance(points, Real) or not points > 0:
        raise ValueError(f"points must be a number above 0, but is {points!r}.")
    return float(math.log(2) / points)
