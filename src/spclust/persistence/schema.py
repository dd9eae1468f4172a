"""Content of a saved model: a header and arrays.

The header (`Header`) has what a user set, and the numbers of the state that are no arrays. Arrays
are those of the state, and those of the last batch (`OF_LAST_BATCH`). The state has other entries
in each mode: `automatic_schema` lists those of the automatic mode, `paper_schema` those of the
paper's. docs/saving.md explains every entry.

A change here is a new version of the format: raise `VERSION` in `container`, which turns all of it
into bytes, and let `versions` read the one before. `estimators.model_file` fills the header when a
model is saved, and reads it when one is loaded.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy.typing as npt

from spclust.persistence.container import Array, RefusedError

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
    state: dict[str, Any]  # "mode", and the scalars of `AutomaticScalars` or `Scalars`

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
