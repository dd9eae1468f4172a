"""Merge of models: shards of one stream, or a stream and its continuation."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spclust.estimators.fit import online_parameters, refuse_changes
from spclust.estimators.last_batch import NO_ROWS, SUPERSEDED
from spclust.parameters import LEARNING, validate_model
from spclust.stream.access import learns, read_all
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import combined_stream, number_anew
from spclust.tracking.label_tracker import LabelTracker

When = Literal["concurrent", "later"]

_MOST_POINTS = 2**53  # larger counts are not exact


def merge_all(models: Iterable[Any], *, when: When = "concurrent") -> Any:
    """A new model of several models with the same parameters.

    All structures are put together at once, so that the order of the models hardly matters: it
    decides which ids are kept, and ties.

    Parameters
    ----------
    models : iterable of SPC
        Models of the same parameters and features; if `when` is "later", in order of time.
    when : {"concurrent", "later"}, default "concurrent"
        As in `SPC.merge`.

    Returns
    -------
    SPC

    Examples
    --------
    >>> import numpy as np
    >>> from spclust import SPC, merge_all
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> shards = [SPC(20).fit(part) for part in np.array_split(X, 4)]
    >>> whole = merge_all(shards)
    >>> whole.n_samples_seen_, len(whole.structures_)
    (400, 20)
    """
    given = list(models)
    if not given:
        raise ValueError("There is no model to merge: merge_all needs one or more.")
    first, *others = given
    model = deepcopy(first)
    merge_into(model, others, when)
    if not model._stream.automatic or model._fitted.tracker is None:  # events have its numbers
        number_anew(model._stream)
    return model


@learns
def merge_into(model: Any, others: list[Any], when: When) -> None:
    """Merge other models into one. Modified in place: model."""
    if when not in ("concurrent", "later"):
        raise ValueError(f'when must be "concurrent" or "later", but is {when!r}.')
    for each in (model, *others):
        check_is_fitted(each)
        _refuse_differences(model, each)
        validate_model(each)
        refuse_changes(each)
    streams = [each._stream for each in (model, *others)]
    if sum(stream.seen for stream in streams) > _MOST_POINTS:
        raise ValueError(
            "The models have seen more than 2^53 points together: counts would be wrong."
        )
    if len({stream.clock is None for stream in streams}) > 1:
        raise ValueError("Only some of these models learnt time stamps: they cannot be merged.")
    params = online_parameters(model, model.n_features_in_)
    access = [each._access for each in others]
    stream = read_all(access, combined_stream, streams, params, concurrent=when == "concurrent")
    tracker = model._fitted.tracker
    if isinstance(stream, AutomaticStream) and isinstance(tracker, LabelTracker):
        # The clusters of the others get their labels now: queries of a tracked stream give none.
        stream.told = getattr(model, "n_clusters", None)
        stream.lasting_labels()
        tracker.attach(stream)
    model._fitted = replace(
        model._fitted, stream=stream, last_batch=SUPERSEDED, numbered_first=NO_ROWS
    )
    model._learner = None


def _refuse_differences(model: Any, other: Any) -> None:
    if type(model) is not type(other):
        raise TypeError(
            f"A {type(model).__name__} can't take in a {type(other).__name__}: models that are "
            "merged must be of one class."
        )
    for name in LEARNING:
        ours, theirs = getattr(model, name), getattr(other, name)
        if ours != theirs:
            raise ValueError(
                f"Models that are merged must have the same parameters, but {name} is {ours!r} in "
                f"one and {theirs!r} in the other."
            )
    ours, theirs = (getattr(each, "feature_names_in_", None) for each in (model, other))
    if model.n_features_in_ != other.n_features_in_:
        raise ValueError(
            f"Models that are merged must have the same features, but one has "
            f"{model.n_features_in_} and the other {other.n_features_in_}."
        )
    if ours is not None and theirs is not None and not np.array_equal(ours, theirs):
        place = int(np.flatnonzero(ours != theirs)[0])
        raise ValueError(
            f"Models that are merged must have the same features in the same order, but feature "
            f"{place} is {str(ours[place])!r} in one and {str(theirs[place])!r} in the other."
        )
