"""Models that can be saved and loaded: the four methods that a model has for it."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spclust.arrays import Integers
from spclust.estimators.last_batch import NO_ROWS, NOT_LEARNT_IN_FULL, SOMETHING_ELSE, LastRows
from spclust.parameters import validate_model
from spclust.persistence.atomic_file import AnyPath, write_whole
from spclust.persistence.container import (
    Array,
    Content,
    RefusedError,
    decode,
    encode,
    plain,
    refuse_strangers,
    unplain,
)
from spclust.persistence.logical_state import NAMES_OF_ARRAYS, arrays_of, stream_of
from spclust.state.structures import FEATURES
from spclust.stream.stream import Stream
from spclust.tracking.tracker import Tracker
from spclust.version import __version__

_ARRAYS = {*NAMES_OF_ARRAYS, "nearest", "nlt", "first"}


class Savable:
    """The part of a model that saves and loads it."""

    _stream: Stream
    _last: LastRows
    _first: Integers
    _built_with: dict[str, Any]
    _tracker: Tracker | None
    outlier_nlt: float | None
    _threads: Callable[[], int]

    def save(self, path: AnyPath) -> None:
        """Save the model to a file, which has all of it or, if anything fails, is as it was.

        Learning goes on from there to the last bit: see `load`. Parameters, features, the state
        and the labels of the last rows are kept; points never are.
        """
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: AnyPath) -> Self:
        """Load a model that `save` wrote; a ValueError says why if the file is not a sound one.

        No code is run that the file might hold.
        """
        try:
            with open(path, "rb") as file:
                start = file.read(64)
                refuse_strangers(start)
                return cls._restored(decode(start + file.read()))
        except RefusedError as error:
            raise ValueError(f"Cannot load {os.fspath(path)!r}: {error}.") from None

    def to_bytes(self) -> bytes:
        """The model as the bytes that `save` writes."""
        return encode(*self._content())

    def _content(self) -> Content:
        """Header and arrays of the model, before they are encoded."""
        check_is_fitted(self)
        validate_model(self)
        name, stream, last = type(self).__name__, self._stream, self._last
        if last.seen == stream.seen:
            last = self._last = last.found(stream, self._threads(), self.outlier_nlt is not None)
        elif last.seen is not None:
            last = SOMETHING_ELSE  # its labels are out of date
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        names = getattr(self, "feature_names_in_", None)
        header = {
            "class": name,
            "written_by": f"spclust {__version__}",
            "parameters": {key: plain(value, f"{key} of {name}") for key, value in params.items()},
            "built_with": {key: plain(value, key) for key, value in self._built_with.items()},
            "n_features_in": int(self.n_features_in_),  # type: ignore[attr-defined]
            "feature_names_in": None if names is None else [str(name) for name in names],
            "last_seen": last.seen,
            "tracker": None if self._tracker is None else self._tracker.state(),
        }
        nlt = np.empty(0) if last.nlt is None else last.nlt
        numbers = {"nearest": _small(last.nearest), "nlt": nlt, "first": _small(self._first)}
        try:
            arrays = arrays_of(stream)
        except RefusedError as error:  # points that are 10^100 scales apart may do that
            raise ValueError(
                f"This {name} cannot be saved: {error}. Call fit, with features of similar size."
            ) from None
        return Content(header, {**arrays, **numbers})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Load a model from what `to_bytes` gave; a ValueError says why if that cannot be."""
        try:
            return cls._restored(decode(bytes(data)))
        except RefusedError as error:
            raise ValueError(f"Cannot load a model from these bytes: {error}.") from None

    @classmethod
    def _restored(cls, content: Content) -> Self:
        header, arrays = content
        if header.get("class") != cls.__name__:
            saved = str(header.get("class"))[:80]
            raise RefusedError(f"it holds a {saved}, not a {cls.__name__}: use the class {saved}")
        if set(arrays) != _ARRAYS:
            raise RefusedError("its header and its arrays do not go together")
        params, built_with = _values(header, "parameters"), _values(header, "built_with")
        names = cls._get_param_names()  # type: ignore[attr-defined]
        unknown = set(params) - set(names)
        model = None if unknown else cls(**params)
        unknown |= {name for name in built_with if not hasattr(model, name)}
        if model is None or unknown:
            raise RefusedError(f"{cls.__name__} has no parameter {min(unknown)!r:.60}")
        try:
            validate_model(model)
        except ValueError as error:
            raise RefusedError(str(error).rstrip(".")) from None
        stream = stream_of(built_with, arrays, natural=params.get("eps") == "auto")
        model._built_with = built_with
        model._last, model._first = _last_rows(header, arrays, stream)
        _note_features(model, header, stream)
        model._stream, model._tracker = stream, _tracker(header, stream)
        return model


def _small(positions: Integers) -> Array:
    """Numbers of structures in as few bytes as they take: there is one for each row."""
    return positions.astype(np.min_scalar_type(int(positions.max(initial=0))))


def _values(header: Mapping[str, Any], name: str) -> dict[str, Any]:
    values = header.get(name)
    if not isinstance(values, dict):
        raise RefusedError(f"its header has no {name}")
    return {key: unplain(value) for key, value in values.items()}


def _last_rows(
    header: Mapping[str, Any], arrays: Mapping[str, Array], stream: Stream
) -> tuple[LastRows, Integers]:
    """What is known of the last rows, and the structures whose clusters come first."""
    seen, live = header.get("last_seen"), len(stream.order())
    nearest, first = arrays["nearest"], arrays["first"]
    for positions in (nearest, first):
        unsigned = positions.ndim == 1 and positions.dtype.kind == "u"
        if not unsigned or positions.max(initial=0) >= live:
            raise RefusedError("its labels are those of other structures")
    known = type(seen) is int and seen == stream.seen
    nlt = arrays["nlt"]
    sound = nlt.dtype == np.float64 and nlt.shape in ((0,), nearest.shape) and np.all(nlt >= 0.0)
    if not sound or (not known and (seen not in (None, -1) or nearest.size or first.size)):
        raise RefusedError("its labels are those of other structures")
    if not known:
        return (NOT_LEARNT_IN_FULL if seen is None else SOMETHING_ELSE), NO_ROWS
    nlt_or_none = nlt if nlt.size else None
    last = LastRows(stream.seen, None, nearest.astype(np.int64), nlt_or_none)
    return last, first.astype(np.int64)


def _tracker(header: Mapping[str, Any], stream: Stream) -> Tracker | None:
    """What is known of the clusters' names, if they have any."""
    if header.get("tracker") is None:
        return None
    try:
        return Tracker.restored(header["tracker"], int(stream.pool[FEATURES]))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise RefusedError("the names of its clusters and its state do not go together") from None


def _note_features(model: Any, header: Mapping[str, Any], stream: Stream) -> None:
    """Number and names of the features. Modified in place: model."""
    d, names = header.get("n_features_in"), header.get("feature_names_in")
    if type(d) is not int or d != int(stream.pool[FEATURES]):
        raise RefusedError("its features and its state do not go together")
    model.n_features_in_ = d
    if names is not None:
        if not isinstance(names, list) or len(names) != d:
            raise RefusedError("its features and their names do not go together")
        if not all(isinstance(name, str) for name in names):
            raise RefusedError("its features and their names do not go together")
        model.feature_names_in_ = np.array(names, dtype=object)
