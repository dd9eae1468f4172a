"""Content of a saved model: a header and arrays. This file lists the entries of both.

The header (`Header`) has what a user set, and the numbers of the state that are no arrays:
`AutomaticScalars` or, in the mode of the paper, `PaperScalars`. Arrays are those of the state
(`automatic_layouts`, `paper_layouts`) and those of the last batch (`OF_LAST_BATCH`).
docs/reference/file_format.md explains every entry.

A change here is a new version of the format: raise `VERSION` in `container`, which turns all of it
into bytes, and let `versions` read the one before. `estimators.model_file` fills the header when a
model is saved, and reads it when one is loaded; `automatic_state` and `paper_state` do so with the
state. The command adds its columns and standardisation to the header (`prepared_model`), and an
outlier detector its scores.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spclust.array_types import Integers
from spclust.auto.clusters import lasting_labels
from spclust.persistence.container import Array, RefusedError
from spclust.state.automatic_structures import RECENT
from spclust.state.kinds import DIAGONAL, FULL, LOWRANK, NAMES, SPHERICAL

LARGEST_INTEGER = 2**62  # sums of two of them are 64-bit integers


class Header(NamedTuple):
    """The header of a file, as JSON has it."""

    class_name: str  # "class" in the file
    written_by: str  # name and version of the library
    parameters: dict[str, Any]  # of the estimator, by name
    built_with: dict[str, Any]  # those that may not change in the middle of a stream
    n_features_in: int
    feature_names_in: list[str] | None
    last_seen: int | None  # points learnt after the last batch; see `LastBatch`
    tracker: dict[str, Any] | None  # cluster ids and events, if clusters are tracked
    state: dict[str, Any]  # "mode", and the scalars of `AutomaticScalars` or `PaperScalars`

    def entries(self) -> dict[str, Any]:
        """The entries of the header by their names in a file."""
        names = {"class_name": "class"}
        return {names.get(name, name): value for name, value in self._asdict().items()}


# Arrays of the last batch: position of the nearest structure of each row, NLT of each row, and
# positions of the structures whose clusters are numbered first.
OF_LAST_BATCH = ("nearest", "nlt", "first")


class Layout(NamedTuple):
    """Type and shape of an array."""

    dtype: npt.DTypeLike
    shape: tuple[int, ...]

    def fits(self, array: Array | None) -> bool:
        """True if an array has this type and shape."""
        return array is not None and array.dtype == self.dtype and array.shape == self.shape


class AutomaticScalars(NamedTuple):
    """The numbers of a state of the automatic mode that are not arrays."""

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
    drift_clock: float
    point_mass: float
    weighted: bool
    mean_weight: float
    renewal_due: int
    metric_due: int
    calm: int
    near: int
    strange: int
    agreeing: int
    drift_evidence: float
    window_began: float
    home_median: float
    home_rare: float  # 0 if it is not known yet
    clusters: int
    groups: int
    labels_given: int


# Scalars that are 0 in a file where they are infinite in a state.
UNBOUNDED = ("half_life", "home_rare")
# Arrays with one entry for each structure.
PER_STRUCTURE = (
    *("mass", "time", "count", "id", "cluster", "group", "missed", "clock_then", "reach"),
)
# Arrays with one entry for each group of structures.
PER_GROUP = ("arrivals", "arrival_time", "arrival_squares")
PLACES_PER_GROUP = ("arrival_place", "arrival_motion", "arrival_scatter")
# Arrays with one entry for each feature.
PER_FEATURE = ("origin", "unit", "displacement", "velocity", "drift", "width")
# Such arrays that are no part of the state.
LABELS, OF_CLUSTER = lasting_labels.NAMES, lasting_labels.OF_CLUSTER


def automatic_layouts(scalars: AutomaticScalars) -> dict[str, Layout]:
    """Type and shape of every array of a state of the automatic mode."""
    k, d, clusters = scalars.live, scalars.n_features, scalars.clusters
    rows = 1 if scalars.diagonal else d
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*PER_STRUCTURE, *LABELS), (k,))
    shapes |= {"mean": (k, d), "z": (k, d), "scatter": (k, rows, d)}
    shapes |= dict.fromkeys(("cluster_mass", "cluster_clock", OF_CLUSTER), (clusters,))
    shapes |= {"recent": (RECENT,)}
    shapes |= dict.fromkeys(PER_FEATURE, (d,)) | {"metric": (rows, d)}
    shapes |= dict.fromkeys(PER_GROUP, (scalars.groups,))
    shapes |= dict.fromkeys(PLACES_PER_GROUP, (scalars.groups, d))
    integers = ("id", "cluster", "group", *LABELS, OF_CLUSTER)
    return {
        name: Layout(np.int64 if name in integers else np.float64, shape)
        for name, shape in shapes.items()
    }


class PaperScalars(NamedTuple):
    """The numbers of a state of the mode of the paper that are not arrays."""

    # Parameters that the state was learnt with
    n_structures: int
    n_features: int
    covariance_type: str  # never "auto"
    exponent: float
    gamma: float
    beta: float
    w_min: float
    nlt_max: float
    scale: float

    # Counters and clocks
    live: int
    grown: int
    seen: int
    pruned: int
    merged: int
    evaluations: int
    rescans: int
    in_logs: bool
    timed: bool
    clock: float
    gap: float

    # What is left to do, if a call was interrupted
    prune_from: int
    stale: int
    needed_rank: int

    # Memory of low-rank covariances
    largest_rank: int
    rank_room: int
    direction_room: int

    @property
    def kind(self) -> int:
        """The kind of covariances: see `state.kinds`."""
        return NAMES[self.covariance_type]


def paper_layouts(scalars: PaperScalars, rank: Integers) -> dict[str, Layout]:
    """Type and shape of every array of a state; rank (k,) is empty unless covariances have one."""
    k, d = scalars.live, scalars.n_features
    shapes: dict[str, tuple[int, ...]] = {"anchor": (k, d), "drift": (k, d)}
    shapes |= dict.fromkeys(("total", "damping", "count", "age", "recent", "id"), (k,))
    shapes |= _covariance_shapes(scalars, rank)
    shapes |= {"odds": (k, k), "pair": (k * (k - 1) // 2,), "bound": (k,)}
    integers = ("id", "rank")
    return {
        name: Layout(np.int64 if name in integers else np.float64, shape)
        for name, shape in shapes.items()
    }


def _covariance_shapes(scalars: PaperScalars, rank: Integers) -> dict[str, tuple[int, ...]]:
    """Shapes of the covariances, of which single points have none, and of their factors."""
    k, g, d = scalars.live, scalars.grown, scalars.n_features
    if scalars.kind == LOWRANK:
        numbers = (int(packed_sizes(rank).sum()),)
        shapes = {"rank": (k,), "base": (k,), "directions": (int(rank.sum()), d)}
        shapes |= {"covariance": numbers, "factor": numbers}
    else:
        covariance = {FULL: (g, d, d), DIAGONAL: (g, d), SPHERICAL: (g,)}
        factor = {FULL: (g, d * (d + 1) // 2), DIAGONAL: (g, d), SPHERICAL: (g,)}
        shapes = {"covariance": covariance[scalars.kind], "factor": factor[scalars.kind]}
    return {**shapes, "least": (k,), "renewals": (k,)}


def packed_sizes(rank: Integers) -> Integers:
    """Numbers of the triangle, row by row, of square matrices with `rank` rows."""
    sizes: Integers = rank * (rank + 1) // 2
    return sizes


def refuse_other_layouts(expected: Mapping[str, Layout], arrays: Mapping[str, Array]) -> None:
    """Raise RefusedError unless all arrays of a state, and no others, have their shapes."""
    for name, layout in expected.items():
        if not layout.fits(arrays.get(name)):
            raise RefusedError(mismatch(name))
    if len(arrays) > len(expected):
        raise RefusedError("it holds arrays that belong to no state")


def mismatch(name: str) -> str:
    """The reason to refuse a file without an array that it should have."""
    return f"its array {name!r} is missing or has another shape or type"


def unsound(what: str) -> str:
    """The reason to refuse a state in which some numbers cannot be the result of learning."""
    return f"the {what} of its structures cannot be the result of learning"
