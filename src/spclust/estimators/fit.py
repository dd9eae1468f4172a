"""Fitting: rows, times and weights are checked, and learnt into a new or an existing stream."""

from typing import Any

import numpy as np

from spclust.auto.renewal import TooFarError, too_far
from spclust.estimators.fitted import Fitted, outlying
from spclust.estimators.input_checks import checked_rows, features_kept_on_failure, place
from spclust.estimators.last_batch import (
    INTERRUPTED,
    NO_ROWS,
    LastBatch,
    arrivals_of,
    outlier_measure,
    threads,
)
from spclust.estimators.sample_weights import checked_weights, without_weightless
from spclust.estimators.times import checked_times, refuse_duration
from spclust.jit import notice
from spclust.parameters import (
    FIXED,
    Params,
    exponent_of,
    half_life_number,
    is_automatic,
    resolved_outlier_nlt,
    resolved_structures,
    validate_model,
)
from spclust.state.kinds import kind_for
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream, number_anew
from spclust.stream.stream import Stream
from spclust.tracking.schedule import interval, learn_and_observe, new_tracker


def online_parameters(model: Any, d: int, kind: int | None = None) -> Params:
    """The parameters of the online phase for d features, from those of a model."""
    automatic = is_automatic(model.scale)
    return Params(
        n_structures=resolved_structures(model.n_structures, model.scale),
        exponent=exponent_of(float(model.m)),
        gamma=float(model.gamma),
        beta=float(model.beta),
        w_min=float(model.w_min),
        nlt_max=float(model.nlt_max),
        scale=1.0 if automatic else float(model.scale),
        kind=kind_for(model.covariance_type, d, automatic) if kind is None else kind,
        max_rank=d if model.max_rank is None else int(model.max_rank),
        automatic=automatic,
        half_life=half_life_number(model.half_life),
    )


def new_stream(params: Params, d: int) -> AnyStream:
    """An empty stream of points with d features, in the mode that the parameters have."""
    return AutomaticStream(params, d) if params.automatic else Stream(params, d)


def fit(
    model: Any,
    X: Any,
    t: Any,
    sample_weight: Any = None,
    *,
    gapless: bool,
    new: bool = False,
    tracked: bool = False,
    observed: bool = True,
    named: bool = True,
) -> None:
    """Learn the rows of X. Modified in place: model, which stays as it was if X is refused.

    They continue the stream of the model, if it has one, unless a `new` one is to begin, which is
    tracked if `track_every` is set, or if `tracked` says so. A tracked one is not `observed` if
    that is left to the caller. Rows that are not `named` need no names of features, even if those
    before them had some.
    """
    new = new or not model.__sklearn_is_fitted__()
    model._learner = None
    if "_valid" not in model.__dict__:  # validating again takes as long as learning 50 points
        validate_model(model)
    if not new:
        refuse_changes(model)
    listener = vars(model).get("_listener")  # of a live page, which observes the clusters itself
    observed = observed and (listener is None or model.track_every is not None)
    with features_kept_on_failure(model), notice.one_line():
        rows = checked_rows(model, X, reset=new, named=named)
        last_time = None if new else model._stream.clock
        learnt, columns = rows, dict[str, Any]()
        if t is not None or last_time is not None:
            columns["t"] = checked_times(t, len(rows), last_time, new=new)
        elif model.half_life is not None:
            refuse_duration(model.half_life, new=new)
        if sample_weight is not None:
            columns["weights"] = checked_weights(model, sample_weight, len(rows), new=new)
        of_all_rows = columns
        if "weights" in columns:
            learnt, columns = without_weightless(rows, columns)
        params = online_parameters(model, rows.shape[1])
        if new:
            stream = new_stream(params, rows.shape[1])
            tracked |= model.track_every is not None or (params.automatic and listener is not None)
            tracker = new_tracker(stream) if tracked else None
        else:
            stream, tracker = model._fitted.stream, model._fitted.tracker
            model._fitted.last_batch, model._fitted.numbered_first = INTERRUPTED, NO_ROWS
        stream.configure(params)
        if isinstance(stream, AutomaticStream):
            stream.told = getattr(model, "n_clusters", None)
            stream.record_path()
        every = None
        if tracker is not None:
            tracker.paced = not observed
        if tracker is not None and observed:
            every = interval(model.track_every, stream, timed="t" in columns)
        seen = stream.seen
        try:
            if tracker is None or every is None:
                stream.learn(learnt, **columns)
            else:
                labels = model._labels_of_structures
                learn_and_observe(stream, learnt, columns, tracker, every, labels)
        except TooFarError as error:
            kept = np.flatnonzero(of_all_rows.get("weights", np.ones(len(rows))))
            row, names = int(kept[stream.seen - seen]), getattr(model, "feature_names_in_", None)
            number = f"{rows[row, error.column]:.5g} at {place(row, error.column, names)}"
            raise ValueError(too_far(f"X holds {number}, which")) from None
        limit = resolved_outlier_nlt(model.outlier_nlt, model.scale)
        measure = outlier_measure(model)
        when = arrivals_of(len(rows), stream, **of_all_rows)
        last = LastBatch.of(rows, stream, threads(model), when, at_once=gapless, measure=measure)
    first = NO_ROWS
    if gapless and not (params.automatic and tracker is not None):  # events have its numbers
        number_anew(stream)
        nearest = last.nearest
        if last.nlt is not None:
            nearest = nearest[~outlying(stream, None, nearest, last.nlt, limit, measure)]
        first = np.unique(nearest)
    built_with = {name: getattr(model, name) for name in FIXED}
    model._fitted = Fitted(stream, tracker, last, first, built_with)
    model._learner = None
    model._valid = True
    if listener is not None:
        listener(rows)


def refuse_changes(model: Any) -> None:
    """Refuse changes of parameters that the state was built from."""
    for name, value in model._fitted.built_with.items():
        if getattr(model, name) != value:
            raise ValueError(
                f"{name} was changed from {value!r} to {getattr(model, name)!r} in the middle "
                "of a stream: set it back, or call fit to start a new stream."
            )


def as_row(x: Any) -> Any:
    """A point x (d,) as a batch of one row."""
    if np.ndim(x) != 1:
        raise ValueError(f"x must be one point of shape (d,), but has shape {np.shape(x)}.")
    return np.asanyarray(x)[np.newaxis]
