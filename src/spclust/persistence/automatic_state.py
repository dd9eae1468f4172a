"""A stream of the automatic mode as scalars and logical arrays, and back.

Structures are in the order of their slots, because ties depend on it. What is read is checked
before a kernel works on it; `least` and `partner`, which follow from the costs, are found anew.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats
from spclust.auto.merge_cost import find_partners
from spclust.parameters import TABLE, Params, is_automatic, resolved_structures
from spclust.persistence.container import Array, RefusedError
from spclust.persistence.schema import LARGEST_INTEGER, Layout, unsound
from spclust.persistence.validation import refuse_memory
from spclust.state.automatic_structures import (
    RECENT,
    AutomaticStructures,
    axes_of,
    empty_automatic,
    read_z,
    write_z,
)
from spclust.state.kinds import DIAGONAL, FULL, SPHERICAL
from spclust.stream.automatic_stream import AutomaticStream

_LARGEST_COUNT = 2**53  # larger counts are not exact
_LARGEST_MASS = 1e9  # of a point; all masses are divided long before
_ROUNDED_UP = 1.001
_UNEQUAL, _LEAST_NUMBER = 1e-6, 1e-300
_SAME_EXPONENT = 1e-6  # relative: versions differ in how they round 1 / (m - 1)


class AutomaticScalars(NamedTuple):
    """The numbers of a state that are not arrays."""

    n_structures: int
    n_features: int
    diagonal: bool
    exponent: float
    live: int
    seen: int
    merged: int
    removed: int
    measured: int
    rescans: int
    timed: bool
    clock: float
    point_mass: float
    renewal_due: int
    metric_due: int
    clusters: int


_WORDS = AutomaticScalars._fields[2:]
_TYPES = AutomaticScalars.__annotations__
_PER_STRUCTURE = ("mass", "count", "id", "cluster", "missed", "clock_then", "reach")
_INTEGERS = ("id", "cluster")


def layouts(scalars: AutomaticScalars) -> dict[str, Layout]:
    """Type and shape of every array of a state."""
    k, d, clusters = scalars.live, scalars.n_features, scalars.clusters
    rows = 1 if scalars.diagonal else d
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_PER_STRUCTURE, (k,))
    shapes |= {"mean": (k, d), "z": (k, d), "scatter": (k, rows, d), "cost": (k * (k - 1) // 2,)}
    shapes |= {"cluster_mass": (clusters,), "cluster_clock": (clusters,), "recent": (RECENT,)}
    shapes |= {"origin": (d,), "unit": (d,), "width": (d,), "metric": (rows, d)}
    return {
        name: Layout(np.int64 if name in _INTEGERS else np.float64, shape)
        for name, shape in shapes.items()
    }


def content_of_automatic(stream: AutomaticStream) -> tuple[dict[str, Any], dict[str, Array]]:
    """Scalars, as JSON has them, and arrays of a stream; arrays may be views of its state."""
    s, k = stream.structures, stream.structures.live
    words = {name: getattr(s, name) for name in _WORDS}
    scalars = AutomaticScalars(n_structures=s.capacity, n_features=s.d, **words)
    arrays: dict[str, Array] = {name: s.views[name][:k] for name in _PER_STRUCTURE}
    arrays |= {"mean": s.mean[:k], "scatter": s.scatter[:k], "z": read_z(s, np.arange(k))}
    arrays["cost"] = s.cost[:k, :k][np.triu_indices(k, 1)]
    for name in ("cluster_mass", "cluster_clock"):
        arrays[name] = s.views[name][: s.clusters]
    for name in ("origin", "unit", "width", "metric", "recent"):
        arrays[name] = s.views[name]
    refuse_unsound(scalars, arrays)
    return scalars._asdict(), arrays


def automatic_stream_of(
    built_with: Mapping[str, Any], state: Any, arrays: Mapping[str, Array], half_life: float
) -> AutomaticStream:
    """The stream that has such content, for the parameters that it was built with.

    Raises RefusedError unless it is the content of a stream that has learnt something.
    """
    scalars = _scalars_of(state)
    params = _params(built_with, scalars, half_life)
    _refuse_too_large(scalars)
    refuse_unsound(scalars, arrays)
    try:
        return AutomaticStream.of(params, _state_of(params, scalars, arrays))
    except MemoryError:
        raise RefusedError("there is not enough memory for it") from None


def _refuse_too_large(scalars: AutomaticScalars) -> None:
    """Raise RefusedError if state and copy take more memory than this machine has."""
    axes = axes_of(scalars.n_structures, scalars.n_features, diagonal=scalars.diagonal)
    numbers = sum(math.prod(array.shape(axes)) for array in AutomaticStructures.arrays())
    refuse_memory(2 * 8 * numbers)


def _scalars_of(state: Any) -> AutomaticScalars:
    if not isinstance(state, dict) or set(state) != set(_TYPES):
        raise RefusedError("its header has no state, or not all of it")
    for name, value in state.items():
        whole = type(value) is int and 0 <= value <= LARGEST_INTEGER
        number = type(value) is float and math.isfinite(value)
        if not {int: whole, float: number, bool: type(value) is bool}[_TYPES[name]]:
            raise RefusedError(f"{name!r} of its state is not a valid value")
    return AutomaticScalars(**state)


def _params(built_with: Mapping[str, Any], scalars: AutomaticScalars, half_life: float) -> Params:
    """The parameters of a stream, if the two places where they are found agree."""
    n, m, kind = (built_with.get(name) for name in ("n_structures", "m", "covariance_type"))
    sound = (
        is_automatic(built_with.get("scale"))
        and TABLE["n_structures"].admits(n)
        and TABLE["m"].admits(m)
        and scalars.n_structures == resolved_structures(n, "auto")  # type: ignore[arg-type]
        and math.isclose(scalars.exponent, 1.0 / (float(m) - 1.0), rel_tol=_SAME_EXPONENT)  # type: ignore[arg-type]
        and kind in ("auto", "diag" if scalars.diagonal else "full", "spherical")
        and built_with.get("max_rank") is None
        and (scalars.diagonal or kind != "spherical")
    )
    if not sound:
        raise RefusedError("its parameters and its state do not match")
    kinds = {"spherical": SPHERICAL, "full": FULL}
    return Params(
        n_structures=scalars.n_structures,
        exponent=scalars.exponent,
        gamma=0.0,
        beta=0.0,
        w_min=TABLE["w_min"].default,
        nlt_max=TABLE["nlt_max"].default,
        scale=1.0,
        kind=kinds.get(str(kind), DIAGONAL if scalars.diagonal else FULL),
        max_rank=scalars.n_features,
        automatic=True,
        half_life=half_life,
    )


def refuse_unsound(scalars: AutomaticScalars, arrays: Mapping[str, Array]) -> None:
    """Raise RefusedError if a state cannot be the result of learning."""
    c = scalars
    _demand(
        1 <= c.live <= min(c.n_structures, c.seen)
        and c.n_features >= 1
        and max(c.removed, c.merged, c.measured, c.rescans, c.metric_due) <= _LARGEST_COUNT
        and 1 <= c.clusters <= c.n_structures
        and c.seen <= c.renewal_due <= c.metric_due
        and 1.0 <= c.point_mass <= _LARGEST_MASS,
        "numbers",
    )
    expected = layouts(scalars)
    for name, layout in expected.items():
        if not layout.fits(arrays.get(name)):
            raise RefusedError(f"its array {name!r} is missing or has another shape or type")
    if len(arrays) > len(expected):
        raise RefusedError("it holds arrays that belong to no state")
    for name in ("mean", "z", "scatter", "origin", "metric", "missed", "clock_then"):
        _demand(bool(np.all(np.isfinite(arrays[name]))), f"array {name!r}")
    count, ids, mass = arrays["count"], arrays["id"], arrays["mass"]
    whole = _within(1.0, count, _LARGEST_COUNT) and bool(np.all(count == np.floor(count)))
    _demand(whole and int(count.sum()) + c.removed == c.seen, "counts")
    _demand(_within(0, ids, c.seen - 1) and np.unique(ids).size == ids.size, "ids")
    _demand(_within(0, arrays["cluster"], c.clusters - 1), "clusters")
    # No point has a larger mass than the last one.
    light = bool(np.all(mass <= _ROUNDED_UP * c.point_mass * count))
    _demand(light and _positive(mass), "masses")
    _demand(_positive(arrays["cluster_mass"], or_zero=True), "masses")
    _demand(bool(np.all(np.isfinite(arrays["cluster_clock"]))), "clocks")
    _demand(_are_scatters(arrays["scatter"], c.diagonal), "scatters")
    _demand(_is_metric(arrays["metric"], c.diagonal), "metric")
    _demand(bool(np.all(np.isin(np.frexp(arrays["unit"])[0], (0.0, 0.5)))), "array 'unit'")
    for name in ("unit", "width"):
        _demand(_positive(arrays[name], or_zero=True), f"array {name!r}")
    for name in ("cost", "recent", "reach"):
        _demand(
            not np.any(np.isnan(arrays[name])) and _within(0.0, arrays[name], np.inf), "distances"
        )


def _are_scatters(scatter: Floats, diagonal: bool) -> bool:
    """True if variances are not negative, and covariances the same on both sides of the diagonal.

    They are added up in two orders, which rounding tells apart.
    """
    if diagonal:
        return _positive(scatter, or_zero=True)
    variances = np.einsum("kcc->kc", scatter)
    if not _positive(variances, or_zero=True):
        return False
    deviations = np.sqrt(variances)
    allowed = _UNEQUAL * deviations[:, :, np.newaxis] * deviations[:, np.newaxis] + _LEAST_NUMBER
    halves = 0.5 * scatter  # their difference does not overflow
    return bool(np.all(np.abs(halves - halves.transpose(0, 2, 1)) <= allowed))


def _is_metric(metric: Floats, diagonal: bool) -> bool:
    """True if it is lower triangular, or a diagonal, and measures every feature."""
    if diagonal:
        return _positive(metric)
    return _positive(np.diagonal(metric)) and bool(np.all(np.triu(metric, 1) == 0.0))


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise RefusedError(unsound(what))


def _within(low: float, numbers: Array, high: float) -> bool:
    return numbers.size == 0 or bool(numbers.min() >= low and numbers.max() <= high)


def _positive(numbers: Floats, *, or_zero: bool = False) -> bool:
    above = numbers >= 0.0 if or_zero else numbers > 0.0
    return bool(np.all(above & np.isfinite(numbers)))


def _state_of(
    params: Params, scalars: AutomaticScalars, arrays: Mapping[str, Array]
) -> AutomaticStructures:
    """A new state with this content."""
    s, k = empty_automatic(params, scalars.n_features), scalars.live
    s.live, s.clusters = k, scalars.clusters
    for name in (*_PER_STRUCTURE, "mean", "scatter"):
        s.views[name][:k] = arrays[name]
    write_z(s, arrays["z"])
    cost = np.full((k, k), np.inf)
    cost[np.triu_indices(k, 1)] = arrays["cost"]
    s.cost[:k, :k] = np.minimum(cost, cost.T)
    for name in ("cluster_mass", "cluster_clock"):
        s.views[name][: s.clusters] = arrays[name]
    for name in ("origin", "unit", "width", "metric", "recent"):
        s.views[name][:] = arrays[name]
    find_partners(s.memory)
    for name in _WORDS:  # last: the search is counted
        setattr(s, name, getattr(scalars, name))
    return s
