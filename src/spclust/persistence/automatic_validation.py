"""Validation of a saved state of the automatic mode: refuse what learning cannot have produced."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.array_types import Floats
from spclust.auto.clusters.lasting_labels import NO_LABEL, NOT_READ
from spclust.auto.common_drift import NO_GROUP
from spclust.auto.renewal import CALMEST
from spclust.persistence.container import Array, RefusedError, refuse_memory
from spclust.persistence.paper_validation import (
    LARGEST_COUNT,
    ROUNDED_UP,
    demand,
    within,
)
from spclust.persistence.schema import (
    LABELS,
    LARGEST_INTEGER,
    OF_CLUSTER,
    AutomaticScalars,
    automatic_layouts,
    refuse_other_layouts,
)
from spclust.state.automatic_structures import AutomaticStructures, axes_of

_LARGEST_MASS = 1e9  # of a point; all masses are divided long before
_LEAST_MASS = 1e-9  # with weights; all masses are multiplied long before
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-101, 1e101  # of points on average
_FARTHEST_MEAN = 1e152  # sums of squares are finite; points are nearer, by far
_UNEQUAL, _LEAST_NUMBER = 1e-6, 1e-300
_LARGEST = 1e150  # of a metric: its square is a number
_FINITE = (
    *("mean", "z", "scatter", "origin", "metric", "missed", "clock_then", "time"),
    *("displacement", "velocity", "drift", "arrival_time", "arrival_place", "arrival_motion"),
)
_TYPES = AutomaticScalars.__annotations__
# Scalars that files from before there were weights do not have.
_WITHOUT_WEIGHTS = {"weighted": False, "mean_weight": 1.0}


def automatic_scalars_of(state: Any) -> AutomaticScalars:
    """The scalars in the header of a file; RefusedError if one is missing or of another type."""
    if isinstance(state, dict) and not _WITHOUT_WEIGHTS.keys() & state.keys():
        state = {**state, **_WITHOUT_WEIGHTS}
    if not isinstance(state, dict) or set(state) != set(_TYPES):
        raise RefusedError("its header has no state, or not all of it")
    for name, value in state.items():
        whole = type(value) is int and 0 <= value <= LARGEST_INTEGER
        number = type(value) is float and math.isfinite(value)
        if not {int: whole, float: number, bool: type(value) is bool}[_TYPES[name]]:
            raise RefusedError(f"{name!r} of its state is not a valid value")
    return AutomaticScalars(**state)


def refuse_too_large_automatic(scalars: AutomaticScalars, max_bytes: int | None) -> None:
    """Raise RefusedError if state and copy take more memory than `max_bytes`, or than there is."""
    axes = axes_of(scalars.n_structures, scalars.n_features, diagonal=scalars.diagonal)
    numbers = sum(math.prod(array.shape(axes)) for array in AutomaticStructures.arrays())
    refuse_memory(2 * 8 * numbers, max_bytes)


def refuse_unsound_automatic(scalars: AutomaticScalars, arrays: Mapping[str, Array]) -> None:
    """Raise RefusedError if a state cannot be the result of learning."""
    c = scalars
    demand(
        1 <= c.live <= min(c.n_structures, c.seen)
        and c.n_features >= 1
        and max(c.removed, c.merged, c.measured, c.rescans, c.metric_due) <= LARGEST_COUNT
        and c.labels_given <= LARGEST_COUNT
        and 1 <= c.clusters <= c.n_structures
        and 1 <= c.groups <= c.n_structures
        and c.seen <= c.renewal_due <= c.metric_due
        and 1 <= c.calm <= CALMEST
        and max(c.near, c.strange) <= c.n_structures
        and c.agreeing <= LARGEST_COUNT
        and c.drift_evidence >= 0.0
        and c.drift_clock >= 0.0
        and c.window_began <= c.drift_clock
        and 0.0 <= c.home_median < math.inf  # infinite only if distances are
        and c.home_rare >= 0.0
        and (_LEAST_MASS if c.weighted else 1.0) <= c.point_mass <= _LARGEST_MASS
        and _LEAST_WEIGHT <= c.mean_weight <= _LARGEST_WEIGHT
        and c.half_life >= 0.0,
        "numbers",
    )
    refuse_other_layouts(automatic_layouts(scalars), arrays)
    for name in _FINITE:
        demand(bool(np.all(np.isfinite(arrays[name]))), f"array {name!r}")
    for name in ("mean", "z"):
        demand(within(-_FARTHEST_MEAN, arrays[name], _FARTHEST_MEAN), "means")
    count, ids, mass = arrays["count"], arrays["id"], arrays["mass"]
    whole = within(1.0, count, LARGEST_COUNT) and bool(np.all(count == np.floor(count)))
    demand(whole and int(count.sum()) + c.removed == c.seen, "counts")
    demand(within(0, ids, c.seen - 1) and np.unique(ids).size == ids.size, "ids")
    demand(within(0, arrays["cluster"], c.clusters - 1), "clusters")
    demand(within(NO_GROUP, arrays["group"], c.groups - 1), "groups")
    for name in ("arrivals", "arrival_squares", "arrival_scatter"):
        demand(_positive(arrays[name], or_zero=True), f"array {name!r}")
    new = arrays["label"] == NOT_READ
    for name in LABELS[:2]:
        demand(bool(np.all((arrays[name] == NOT_READ) == new)), "labels")
        demand(within(NO_LABEL, arrays[name][~new], c.labels_given - 1), "labels")
    demand(within(NO_LABEL, arrays["own_label_seen"][~new], c.seen), "labels")
    of_cluster = arrays[OF_CLUSTER]
    unknown = bool(np.all(of_cluster == NOT_READ))
    demand(unknown or within(NO_LABEL, of_cluster, c.labels_given - 1), "labels")
    # Without weights no point has a larger mass than the last one.
    light = c.weighted or bool(np.all(mass <= ROUNDED_UP * c.point_mass * count))
    demand(light and _positive(mass), "masses")
    demand(c.half_life > 0.0 or not arrays["velocity"].any(), "velocity")
    demand(_positive(arrays["cluster_mass"], or_zero=True), "masses")
    demand(bool(np.all(np.isfinite(arrays["cluster_clock"]))), "clocks")
    demand(_are_scatters(arrays["scatter"], c.diagonal), "scatters")
    demand(_is_metric(arrays["metric"], c.diagonal), "metric")
    demand(bool(np.abs(arrays["metric"]).max(initial=0.0) < _LARGEST), "metric")
    demand(bool(np.all(np.isin(np.frexp(arrays["unit"])[0], (0.0, 0.5)))), "array 'unit'")
    for name in ("unit", "width"):
        demand(_positive(arrays[name], or_zero=True), f"array {name!r}")
    for name in ("recent", "reach"):
        demand(within(0.0, arrays[name], np.inf), "distances")


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


def _positive(numbers: Floats, *, or_zero: bool = False) -> bool:
    above = numbers >= 0.0 if or_zero else numbers > 0.0
    return bool(np.all(above & np.isfinite(numbers)))
