"""Content of a saved state of the automatic mode: scalars by name and type, arrays by shape."""

import math
from typing import Any, NamedTuple

import numpy as np

from spclust.auto.clusters import lasting_labels
from spclust.persistence.container import RefusedError
from spclust.persistence.schema import LARGEST_INTEGER, Layout
from spclust.state.automatic_structures import RECENT


class AutomaticScalars(NamedTuple):
    """The numbers of a state that are not arrays."""

    n_structures: int
    n_features: int
    diagonal: bool
    exponent: float
    half_life: float  # 0 if there is none
    live: int
    seen: int
    merged: int
    removed: int
    measured: int
    rescans: int
    timed: bool
    clock: float
    point_mass: float
    weighted: bool
    mean_weight: float
    renewal_due: int
    metric_due: int
    calm: int
    near: int
    strange: int
    home_median: float
    home_rare: float  # 0 if it is not known yet
    clusters: int
    labels_given: int


# Scalars that are 0 in a file where they are infinite in a state.
UNBOUNDED = ("half_life", "home_rare")
# All others that a state has under the same name, and as the same number.
WORDS = tuple(n for n in AutomaticScalars._fields[2:] if n not in (*UNBOUNDED, "labels_given"))
# Scalars that files from before there were weights do not have.
_WITHOUT_WEIGHTS = {"weighted": False, "mean_weight": 1.0}
# Arrays with one entry for each structure.
PER_STRUCTURE = ("mass", "count", "id", "cluster", "missed", "clock_then", "reach")
# Such arrays that are no part of the state.
LABELS = lasting_labels.NAMES

_TYPES = AutomaticScalars.__annotations__
_INTEGERS = ("id", "cluster", *LABELS)


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


def automatic_layouts(scalars: AutomaticScalars) -> dict[str, Layout]:
    """Type and shape of every array of a state."""
    k, d, clusters = scalars.live, scalars.n_features, scalars.clusters
    rows = 1 if scalars.diagonal else d
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*PER_STRUCTURE, *LABELS), (k,))
    shapes |= {"mean": (k, d), "z": (k, d), "scatter": (k, rows, d)}
    shapes |= {"cluster_mass": (clusters,), "cluster_clock": (clusters,), "recent": (RECENT,)}
    shapes |= {"origin": (d,), "unit": (d,), "width": (d,), "metric": (rows, d)}
    return {
        name: Layout(np.int64 if name in _INTEGERS else np.float64, shape)
        for name, shape in shapes.items()
    }
