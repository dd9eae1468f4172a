"""Models in files and bytes: header and arrays of a model, and back."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spclust.array_types import Floats, Integers
from spclust.durations import duration_seconds
from spclust.estimators.fitted import Fitted
from spclust.estimators.last_batch import (
    INTERRUPTED,
    NO_ROWS,
    SUPERSEDED,
    LastBatch,
    outlier_measure,
    threads,
)
from spclust.parameters import (
    DEFAULTS,
    FIXED,
    TABLE,
    half_life_number,
    resolved_structures,
    validate_model,
)
from spclust.persistence.atomic_file import AnyPath, write_whole
from spclust.persistence.container import (
    Array,
    Content,
    RefusedError,
    decode,
    encode,
    plain,
    read_saved,
    unplain,
    version_of,
)
from spclust.persistence.schema import OF_LAST_BATCH, Header
from spclust.persistence.stream_content import content_of_stream, saved_stream
from spclust.persistence.versions import as_current_version
from spclust.stream.access import reads
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.tracking.label_tracker import LabelTracker
from spclust.tracking.schedule import AnyTracker
from spclust.tracking.tracker import Tracker
from spclust.version import __version__


def save(model: Any, path: AnyPath) -> None:
    """Write a model to a file: see `SPC.save`."""
    write_whole(path, to_bytes(model))


def load(cls: Any, path: AnyPath, max_bytes: int | None = None) -> Any:
    """Read a model of a class from a file: see `SPC.load`."""
    try:
        return restored(cls, read_saved(path, max_bytes), max_bytes)
    except RefusedError as error:
        raise ValueError(f"Cannot load {os.fspath(path)!r}: {error}.") from None


def from_bytes(cls: Any, data: bytes, max_bytes: int | None = None) -> Any:
    """Read a model of a class from bytes: see `SPC.from_bytes`."""
    try:
        return restored(cls, bytes(data), max_bytes)
    except RefusedError as error:
        raise ValueError(f"Cannot load a model from these bytes: {error}.") from None


@reads
def to_bytes(model: Any) -> bytes:
    """The bytes of a model: see `SPC.to_bytes`."""
    try:
        return encode(*model._content())
    except RefusedError as error:  # a thousand events of clusters with many thousand features
        raise ValueError(f"This {type(model).__name__} cannot be saved: {error}.") from None


def content_of_model(model: Any) -> Content:
    """Header and arrays of a model; arrays may be views of its state."""
    check_is_fitted(model)
    validate_model(model)
    name, fitted = type(model).__name__, model._fitted
    stream, last = fitted.stream, fitted.last_batch
    if last.seen == stream.seen:
        last = fitted.last_batch = last.found(stream, threads(model), outlier_measure(model))
    elif last.seen is not None:
        last = SUPERSEDED  # its labels are out of date
    # A file does not say what it is: what the parameters have asked for since then is another one.
    known = last.nlt is not None and last.measure == outlier_measure(model)
    nlt = last.nlt if known else np.empty(0)
    first = fitted.numbered_first
    numbers = {"nearest": _small(last.nearest), "nlt": nlt, "first": _small(first)}
    try:
        state, arrays = content_of_stream(stream)
    except RefusedError as error:  # points that are 10^100 scales apart may do that
        raise ValueError(
            f"This {name} cannot be saved: {error}. Call fit, with features of similar size."
        ) from None
    header = Header(
        class_name=name,
        written_by=f"spclust {__version__}",
        parameters=_plain(model.get_params(deep=False), name),
        built_with={key: plain(value, key) for key, value in fitted.built_with.items()},
        n_features_in=int(model.n_features_in_),
        feature_names_in=_names(model),
        last_seen=last.seen,
        tracker=None if fitted.tracker is None else fitted.tracker.state(),
        state=state,
    )
    return Content(header.entries(), {**arrays, **numbers})


def _plain(params: Mapping[str, Any], owner: str) -> dict[str, Any]:
    return {name: plain(value, f"{name} of {owner}") for name, value in params.items()}


def _names(model: Any) -> list[str] | None:
    """Names of the features, if they have any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def restored(cls: Any, data: bytes, max_bytes: int | None = None) -> Any:
    """The model of a class that was saved; RefusedError if the bytes do not hold one."""
    content = decode(data, max_bytes)
    saved = str(content.header.get("class"))[:80]
    if saved != cls.__name__:
        raise RefusedError(f"it holds a {saved}, not a {cls.__name__}: use the class {saved}")
    content = as_current_version(content, version_of(data), max_bytes)
    return cls._of_content(content, max_bytes)


def model_of_content(cls: Any, content: Content, max_bytes: int | None) -> Any:
    """The `SPC` with this content, of a class; RefusedError if there is none."""
    header, arrays = content
    if not arrays.keys() >= set(OF_LAST_BATCH):
        raise RefusedError("its header and its arrays do not match")
    model, built_with = _with_parameters(cls, header), _values(header, "built_with")
    if set(built_with) != set(FIXED):
        raise RefusedError("its parameters and its state do not match")
    of_state = {name: array for name, array in arrays.items() if name not in OF_LAST_BATCH}
    stream = saved_stream(built_with, header.get("state"), of_state, max_bytes)
    last, first = _last_batch(header, arrays, stream)
    if last.nlt is not None:
        last = last._replace(measure=outlier_measure(model))
    if isinstance(stream, AutomaticStream):
        stream.told = getattr(model, "n_clusters", None)
        if stream.clock is None and duration_seconds(model.half_life) is not None:
            model.half_life = half_life_number(model.half_life)  # earlier versions took it as that
    _note_features(model, header, stream)
    model._fitted = Fitted(stream, _tracker(header, stream), last, first, built_with)
    return model


def _with_parameters(cls: Any, header: Mapping[str, Any]) -> Any:
    """A model that has learnt nothing, with the parameters of a header."""
    params = _values(header, "parameters")
    unknown = set(params) - set(cls._get_param_names())
    if unknown:
        raise RefusedError(f"{cls.__name__} has no parameter {min(unknown)!r:.60}")
    model = cls(**_told_at_most(params))
    try:
        validate_model(model)
        threads(model)
    except ValueError as error:
        raise RefusedError(str(error).rstrip(".")) from None
    return model


def content_of_detector(detector: Any, scores: Floats) -> Content:
    """Header and arrays of an outlier detector that keeps `scores` (n,)."""
    check_is_fitted(detector)
    validate_model(detector)
    header, arrays = content_of_model(detector.model_)
    header |= {
        "class": type(detector).__name__,
        "parameters": _plain(detector.get_params(deep=False), type(detector).__name__),
        "feature_names_in": _names(detector),
        "detector": {
            "offset": plain(detector.offset_, "offset_"),
            "scores": [plain(score, "a score") for score in scores],
        },
    }
    return Content(header, arrays)


def detector_of_content(cls: Any, of: Any, content: Content, max_bytes: int | None) -> Any:
    """The detector with this content; its model is `of` another class."""
    header, arrays = content
    detector, own = _with_parameters(cls, header), header.get("detector")
    shared = _plain(detector._shared(), of.__name__)
    of_model = {**header, "parameters": shared, "feature_names_in": None}
    detector.model_ = model_of_content(of, Content(of_model, arrays), max_bytes)
    if not isinstance(own, dict) or not isinstance(own.get("scores"), list):
        raise RefusedError("it has no scores of a detector")
    numbers = [unplain(number) for number in (own.get("offset"), *own["scores"])]
    if not all(type(number) is float and number == number for number in numbers):
        raise RefusedError("a score in its header is no number")
    detector.offset_, detector._recent = numbers[0], np.array(numbers[1:])
    _note_features(detector, header, detector.model_._stream)
    return detector


def _small(positions: Integers) -> Array:
    """Positions of structures, one for each row, in the smallest unsigned type that holds them."""
    return positions.astype(np.min_scalar_type(int(positions.max(initial=0))))


def _values(header: Mapping[str, Any], name: str) -> dict[str, Any]:
    values = header.get(name)
    if not isinstance(values, dict):
        raise RefusedError(f"its header has no {name}")
    return {key: unplain(value) for key, value in values.items()}


def _told_at_most(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with no more clusters than structures.

    Earlier versions allowed more, and found as many as there were structures.
    """
    told, n = params.get("n_clusters"), params.get("n_structures", DEFAULTS["n_structures"])
    if type(told) is not int or not TABLE["n_structures"].admits(n):
        return params
    most = resolved_structures(n, params.get("scale", DEFAULTS["scale"]))
    return {**params, "n_clusters": min(told, most)}


def _last_batch(
    header: Mapping[str, Any], arrays: Mapping[str, Array], stream: AnyStream
) -> tuple[LastBatch, Integers]:
    """The last batch, and the structures whose clusters are numbered first."""
    seen, live = header.get("last_seen"), len(stream.order())
    nearest, first = arrays["nearest"], arrays["first"]
    for positions in (nearest, first):
        unsigned = positions.ndim == 1 and positions.dtype.kind == "u"
        if not unsigned or positions.max(initial=0) >= live:
            raise RefusedError("its labels do not match its structures")
    known = type(seen) is int and seen == stream.seen
    nlt = arrays["nlt"]
    sound = nlt.dtype == np.float64 and nlt.shape in ((0,), nearest.shape) and np.all(nlt >= 0.0)
    if not sound or (not known and (seen not in (None, -1) or nearest.size or first.size)):
        raise RefusedError("its labels do not match its structures")
    if not known:
        return (INTERRUPTED if seen is None else SUPERSEDED), NO_ROWS
    nlt_or_none = nlt if nlt.size else None
    last = LastBatch(stream.seen, None, nearest.astype(np.int64), nlt_or_none)
    return last, first.astype(np.int64)


def _tracker(header: Mapping[str, Any], stream: AnyStream) -> AnyTracker | None:
    """The tracker of cluster ids; None if the model has none."""
    if header.get("tracker") is None:
        return None
    try:
        if isinstance(stream, AutomaticStream):
            return LabelTracker.restored(header["tracker"], stream)
        return Tracker.restored(header["tracker"], stream.structures.d)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise RefusedError("the ids of its clusters and its state do not match") from None


def _note_features(model: Any, header: Mapping[str, Any], stream: AnyStream) -> None:
    """Set the number and names of the features. Modified in place: model."""
    d, names = header.get("n_features_in"), header.get("feature_names_in")
    if type(d) is not int or d != stream.structures.d:
        raise RefusedError("its features and its state do not match")
    model.n_features_in_ = d
    if names is not None:
        if not isinstance(names, list) or len(names) != d:
            raise RefusedError("its features and their names do not match")
        if not all(isinstance(name, str) for name in names):
            raise RefusedError("its features and their names do not match")
        model.feature_names_in_ = np.array(names, dtype=object)
