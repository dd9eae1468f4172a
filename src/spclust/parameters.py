"""The parameters: one table of symbol, default, range and meaning, and one validator.

Every interface reads this table: the scikit-learn estimators, River, the command and Spark.
"""

import math
import sys
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

from spclust.durations import duration_seconds


class Parameter(NamedTuple):
    """One parameter: its symbol in the paper, its default, its range and its meaning."""

    symbol: str  # in the paper; "" if the paper has none
    default: Any
    kind: type  # Integral, Real, or str for one of `words`
    low: float
    high: float | None  # None is no limit
    closed: Literal["left", "right", "both", "neither"]  # which ends belong to the range
    meaning: str
    optional: bool = False  # None is allowed
    words: tuple[str, ...] = ()  # allowed strings
    fixed: bool = False  # the state is built from it: it cannot change in the middle of a stream
    learning: bool = False  # it changes what is learnt: merged models must agree in it
    duration: bool = False  # a timedelta is allowed
    mode: Literal["both", "paper", "automatic"] = "both"  # which has it: see `is_automatic`

    @property
    def allowed(self) -> str:
        """The range in words."""
        if self.kind is str:
            return f"one of {', '.join(repr(word) for word in self.words)}"
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        number = "an integer" if self.kind is Integral else "a number"
        high = "inf" if self.high is None else f"{self.high:.7g}"
        words = "".join(f'"{word}" or ' for word in self.words)
        none = "None or " if self.optional else ""
        none += "a positive timedelta or " if self.duration else ""
        return f"{none}{words}{number} in the range {left}{self.low:g}, {high}{right}"

    def admits(self, value: Any) -> bool:
        """True if `value` is of the right kind and within range."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return value in self.words
        seconds = None if type(value) in (int, float) else duration_seconds(value)
        if seconds is not None:
            return self.duration and 0.0 < seconds < math.inf
        if self.kind is str or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        try:
            number = float(value)  # type: ignore[arg-type] # a Real or an Integral
        except OverflowError:
            return False
        high = math.inf if self.high is None else self.high
        above = number >= self.low if self.closed in ("left", "both") else number > self.low
        below = number <= high if self.closed in ("right", "both") else number < high
        return above and below


# What "auto" stands for.
_STRUCTURES, _STRUCTURES_OF_THE_PAPER = 100, 30
EPS_OF_THE_PAPER = 0.95
NOVEL_NLT = 8.0  # chosen on drifts: docs/explanation/automatic_constants.md

COVARIANCE_TYPES = ("auto", "full", "lowrank", "diag", "spherical")

TABLE: dict[str, Parameter] = {
    "n_structures": Parameter(
        "N", "auto", Integral, 1, 1_000_000, "both",
        f"maximum number of structures; auto is {_STRUCTURES}, or {_STRUCTURES_OF_THE_PAPER}, the "
        "paper's, if scale is a number",
        words=("auto",), fixed=True, learning=True,
    ),
    "half_life": Parameter(
        "", None, Real, 0.0, None, "neither",
        "points, or time, after which the influence of a point has halved; None forgets nothing",
        optional=True, duration=True, learning=True, mode="automatic",
    ),
    "n_clusters": Parameter(
        "", None, Integral, 1, 1_000_000, "both",
        "number of clusters, at most n_structures; None finds it, too",
        optional=True,
    ),
    "m": Parameter(
        "m", 1.5, Real, 1.0, 100.0, "right",
        "fuzzifier: the smaller, the sharper the edge of a structure",
        fixed=True, learning=True,
    ),
    "gamma": Parameter(
        "gamma", 0.0, Real, 0.0, None, "left",
        "decay of a structure's mean per point that the structure absorbs",
        learning=True, mode="paper",
    ),
    "beta": Parameter(
        "beta", 0.0, Real, 0.0, None, "left",
        "decay of a structure's weight per point of the stream",
        learning=True, mode="paper",
    ),
    "w_min": Parameter(
        "w_min", 0.01, Real, 0.0, 1.0, "left",
        "a structure lighter than this is pruned",
        learning=True, mode="paper",
    ),
    "nlt_max": Parameter(
        "NLT_max", 3.0, Real, 0.0, None, "left",
        "a pruned structure is merged into the nearest one if its NLT there is below this",
        learning=True, mode="paper",
    ),
    "eps": Parameter(
        "epsilon", "auto", Real, 0.0, 1.0, "both",
        f"structures at most this distance D apart are neighbours (DBSCAN); auto is "
        f"{EPS_OF_THE_PAPER} if scale is a number, and finds the clusters by itself if not",
        words=("auto",), mode="paper",
    ),
    "min_samples": Parameter(
        "min_pts", 1, Integral, 1, 1_000_000, "both",
        "neighbours, itself included, that make a structure a core of a cluster (DBSCAN)",
        mode="paper",
    ),
    "scale": Parameter(
        "", "auto", Real, 1e-160, 1e150, "both",  # the squares of both ends are representable
        "standard deviation of a fresh structure, in the unit of the data: the paper's mode; auto "
        "is the automatic mode",
        words=("auto",), fixed=True, learning=True,
    ),
    "covariance_type": Parameter(
        "", "auto", str, 0.0, None, "left",
        f"form of the covariances: {', '.join(COVARIANCE_TYPES)}",
        words=COVARIANCE_TYPES, fixed=True, learning=True,
    ),
    "max_rank": Parameter(
        "", None, Integral, 1, None, "left",
        "maximum number of directions of a lowrank covariance",
        optional=True, fixed=True, learning=True, mode="paper",
    ),
    "track_every": Parameter(
        "", None, Integral, 1, None, "left",
        "number of points between two observations of the clusters, which report events",
        optional=True,
    ),
    "outlier_nlt": Parameter(
        "", "auto", Real, 0.0, None, "left",
        "a row whose NLT in its best structure is above this belongs to no cluster, -1; auto is "
        f"{NOVEL_NLT:g} in the automatic mode, and no limit if scale is a number",
        optional=True, words=("auto",),
    ),
    "n_jobs": Parameter(
        "", None, Integral, -math.inf, None, "neither",
        "number of threads that label rows; -1 is one for each core",
        optional=True,
    ),
}  # fmt: skip

CONTAMINATION = Parameter(  # of the outlier detector alone
    "", "auto", Real, 0.0, 0.5, "right",
    "share of the rows that are outliers",
    words=("auto",),
)  # fmt: skip

FIXED = tuple(name for name, row in TABLE.items() if row.fixed)
LEARNING = tuple(name for name, row in TABLE.items() if row.learning)

DEFAULTS: dict[str, Any] = {name: row.default for name, row in TABLE.items()}


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
    automatic: bool = False  # the automatic mode
    half_life: float = math.inf  # of the automatic mode; in points, or in the unit of time stamps


def validate(values: Mapping[str, Any], owner: str, table: Mapping[str, Parameter] = TABLE) -> None:
    """Raise a ValueError that names the first parameter out of range, its range and its value."""
    for name, value in values.items():
        row = CONTAMINATION if name == "contamination" else table[name]
        if not row.admits(value):
            raise ValueError(f"{name} of {owner} must be {row.allowed}, but is {value!r}.")


def validate_model(model: Any) -> None:
    """Validate the parameters of an estimator, those that a subclass adds excepted."""
    known = {*TABLE, "contamination"}
    values = {name: v for name, v in model.get_params(deep=False).items() if name in known}
    validate(values, type(model).__name__)
    validate_mode({"scale": model.scale, **values}, type(model).__name__)
    most = resolved_structures(model.n_structures, model.scale)
    validate_told(values.get("n_clusters"), most, type(model).__name__)


def validate_told(n_clusters: int | None, n_structures: int, owner: str) -> None:
    """Raise a ValueError if there are to be more clusters than structures."""
    if n_clusters is not None and n_clusters > n_structures:
        raise ValueError(
            f"n_clusters of {owner} must not exceed n_structures, {n_structures}, but is "
            f"{n_clusters!r}: raise n_structures, or tell fewer clusters."
        )


def is_automatic(scale: Any) -> bool:
    """True for the automatic mode, scale="auto"; a number is the mode of the paper."""
    return isinstance(scale, str) and scale == "auto"


def validate_mode(values: Mapping[str, Any], owner: str) -> None:
    """Raise a ValueError that names a parameter of the other mode, of those that are given.

    A parameter that has its default is not given.
    """
    automatic = is_automatic(values["scale"])
    other = "paper" if automatic else "automatic"
    for name, value in values.items():
        row = TABLE.get(name)
        if row is None or row.mode != other or value == row.default:
            continue
        if automatic:
            raise ValueError(
                f"{name}={value!r} of {owner} belongs to the mode of the paper, which has a number "
                "as scale: give scale, too, or leave it out (half_life is what forgets)."
            )
        raise ValueError(
            f"{name}={value!r} of {owner} belongs to the automatic mode: leave scale out, or set "
            "beta and gamma instead."
        )
    if automatic and values.get("covariance_type") == "lowrank":
        raise ValueError(
            f'covariance_type="lowrank" of {owner} belongs to the mode of the paper: give scale, '
            'too, or choose "diag".'
        )


def resolved_structures(n_structures: int | str, scale: Any) -> int:
    """The maximum number of structures; "auto" depends on the mode."""
    if isinstance(n_structures, str):
        return _STRUCTURES if is_automatic(scale) else _STRUCTURES_OF_THE_PAPER
    return int(n_structures)


def resolved_outlier_nlt(outlier_nlt: float | str | None, scale: Any) -> float | None:
    """The NLT above which a row belongs to no cluster, or None; "auto" depends on the mode."""
    if isinstance(outlier_nlt, str):
        return NOVEL_NLT if is_automatic(scale) else None
    return outlier_nlt


def exponent_of(m: float) -> float:
    """The exponent 1/(m-1) of Eq. (1), without the rounding error of m - 1 where it shows.

    m = 1.4 means 2.5, not 2.500000000000001: half-integers have a fast power.
    """
    p = 1.0 / (m - 1.0)
    nearest = round(2.0 * p) / 2.0
    rounding_error = 4.0 * sys.float_info.epsilon * p / (m - 1.0)
    return nearest if 0.0 < nearest < 50.0 and abs(p - nearest) <= rounding_error else p


def half_life_number(half_life: Any) -> float:
    """The half-life as a number: seconds of a timedelta, infinity for None."""
    if half_life is None:
        return math.inf
    seconds = duration_seconds(half_life)
    return float(half_life) if seconds is None else seconds


def decay_from_half_life(points: float) -> float:
    """Decay rate (gamma or beta) at which the influence of a point halves every `points` points.

    For `beta` points of the stream count, for `gamma` the points that the structure absorbs.

    >>> round(decay_from_half_life(100), 6)
    0.006931
    >>> decay_from_half_life(float("inf"))
    0.0
    """
    if isinstance(points, bool) or not isinstance(points, Real) or not points > 0:
        raise ValueError(f"points must be a number above 0, but is {points!r}.")
    return float(math.log(2) / points)
