"""Queries of a fitted model: they do not change the stream."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spclust.array_types import Floats, Integers, Rows
from spclust.estimators.fit import fit
from spclust.estimators.fitted import Fitted
from spclust.estimators.input_checks import checked_rows
from spclust.estimators.last_batch import outlier_measure, threads
from spclust.inspection.description import description
from spclust.inspection.diagnosis import findings
from spclust.inspection.findings import Finding
from spclust.parameters import (
    EPS_OF_THE_PAPER,
    is_automatic,
    resolved_outlier_nlt,
    validate,
    validate_told,
)
from spclust.stream.access import learns, reads
from spclust.tracking.events import ClusterEvent
from spclust.tracking.schedule import AnyTracker, interval, new_tracker


def fitted(model: Any, attribute: str) -> Fitted:
    """The fitted state of a model; an AttributeError if it is not fitted."""
    if not model.__sklearn_is_fitted__():
        raise AttributeError(
            f"{attribute} of {type(model).__name__} exists once fit or partial_fit was called."
        )
    found: Fitted = model._fitted
    return found


def tracker(model: Any, attribute: str) -> AnyTracker:
    """The tracker of a model; an AttributeError if it has none."""
    found = fitted(model, attribute).tracker
    if found is None:
        way = "call watch, or set it" if is_automatic(model.scale) else "set it"
        raise AttributeError(
            f"{attribute} needs track_every, the number of points between two observations of the "
            f"clusters: {way} before the stream begins."
        )
    return found


def structure_labels(
    model: Any,
    eps: float | str | None = None,
    min_samples: int | None = None,
    limit: float | None = None,
) -> Integers:
    """Cluster (k,) of each structure, oldest first; parameters default to the model's."""
    eps = model.eps if eps is None else eps
    min_samples = model.min_samples if min_samples is None else min_samples
    told = getattr(model, "n_clusters", None)
    given = {"eps": eps, "min_samples": min_samples, "n_clusters": told}
    validate(given, type(model).__name__)
    found: Fitted = model._fitted
    validate_told(told, found.stream.params.n_structures, type(model).__name__)
    return found.structure_labels(eps, int(min_samples), limit, told)


def labels_of_rows(model: Any, rows: Rows) -> Integers:
    """Cluster (n,) of each row (n, d), which was checked."""
    validate({"outlier_nlt": model.outlier_nlt}, type(model).__name__)
    found: Fitted = model._fitted
    return found.labels(
        rows,
        structure_labels(model),
        outlier_limit(model),
        outlier_measure(model),
        threads(model),
    )


def outlier_limit(model: Any) -> float | None:
    """The NLT above which a row belongs to no cluster; None if every row belongs to one."""
    return resolved_outlier_nlt(model.outlier_nlt, model.scale)


@reads
def predict(model: Any, X: Any) -> Integers:
    """Cluster (n,) of each row of X (n, d)."""
    check_is_fitted(model)
    return labels_of_rows(model, checked_rows(model, X, reset=False))


def lasting_ids(model: Any, labels: Integers) -> Integers:
    """The lasting ids of clusters (n,), which in the mode of the paper are not their labels."""
    if model._stream.automatic or model._tracker is None:
        return labels
    ids = np.append(model.cluster_ids_, -1)
    places = np.searchsorted(model.cluster_labels_, labels)
    found: Integers = np.where(labels >= 0, ids[np.minimum(places, len(ids) - 1)], -1)
    return found


def has_ids_of_its_own(model: Any) -> bool:
    """True if the clusters of a fitted model have lasting ids that are not their labels."""
    return not model._stream.automatic and model._tracker is not None


def typicality_of_rows(model: Any, rows: Rows) -> Floats:
    """Typicality (n, n_clusters_) of each row (n, d), which was checked, in each cluster."""
    found: Fitted = model._fitted
    return found.typicality(rows, structure_labels(model), threads(model))


@reads
def typicality(model: Any, X: Any) -> Floats:
    """Typicality (n, n_clusters_) of each row of X (n, d) in each cluster."""
    check_is_fitted(model)
    return typicality_of_rows(model, checked_rows(model, X, reset=False))


@reads
def score_samples(model: Any, X: Any) -> Floats:
    """Log typicality (n,) of each row of X (n, d) in its best structure."""
    check_is_fitted(model)
    rows = checked_rows(model, X, reset=False)
    scores: Floats = 0.0 - model._stream.least_nlt(rows, threads(model))
    return scores


@reads
def labels(model: Any) -> Integers:
    """Cluster (n,) of each row of the last batch."""
    found = fitted(model, "labels_")
    validate({"outlier_nlt": model.outlier_nlt}, type(model).__name__)
    structures = structure_labels(model)
    return found.labels_of_last_batch(
        structures, outlier_limit(model), outlier_measure(model), threads(model)
    )


@reads
def scores_of_last_batch(model: Any, X: Any) -> Floats:
    """Log typicality (n,) of the rows X (n, d) of the last batch.

    As `labels_`, and unlike `score_samples`, these are scores of rows that have moved with the
    clusters since they arrived, if the origin of coordinates moves.
    """
    rows = fitted(model, "labels_").last_rows_now(checked_rows(model, X, reset=False))
    scores: Floats = 0.0 - model._stream.least_nlt(rows, threads(model))
    return scores


@reads
def typicality_of_last_batch(model: Any, X: Any) -> Floats:
    """Typicality (n, n_clusters_) of the rows of the last batch, as above."""
    rows = fitted(model, "labels_").last_rows_now(checked_rows(model, X, reset=False))
    return typicality_of_rows(model, rows)


def arrivals_of_last_batch(model: Any, rows: int, places: Integers) -> Floats:
    """When rows (n,) of the last batch, which had so many `rows`, arrived."""
    when = model._fitted.last_batch.arrivals
    if when is None or when.rows != rows:
        return np.full(len(places), np.inf)
    found: Floats = when.of(places)
    return found


@reads
def labels_and_scores(
    model: Any, X: Any, arrivals: Floats | None = None
) -> tuple[Integers, Floats]:
    """Clusters (n,), and log typicality (n,), of the rows of X (n, d).

    If these were learnt, perhaps some batches ago, and arrived at some times (n,): as if they had
    moved with the clusters since.
    """
    check_is_fitted(model)
    rows = checked_rows(model, X, reset=False)
    if arrivals is not None:
        rows = model._fitted.moved(rows, arrivals)
    return labels_of_rows(model, rows), 0.0 - model._stream.least_nlt(rows, threads(model))


@reads
def clustering(
    model: Any,
    eps: float | str | None,
    min_samples: int | None,
    nlt: float | None,
    n_clusters: int | None,
) -> Integers:
    """Cluster (k,) of each structure for another cut: see `SPC.clustering`."""
    check_is_fitted(model)
    given = {"eps": eps, "min_samples": min_samples}
    validate({name: value for name, value in given.items() if value is not None}, "clustering")
    if sum(cut is not None for cut in (eps, nlt, n_clusters)) > 1:
        raise ValueError("clustering takes one of eps, nlt and n_clusters.")
    stream, limit = model._stream, None
    if stream.automatic and min_samples is not None and nlt is None and eps in (None, "auto"):
        raise ValueError(
            f"clustering(min_samples={min_samples}) needs eps or nlt: the clusters of the "
            "automatic mode are found without neighbours."
        )
    if n_clusters is not None and stream.automatic:
        labels: Integers = stream.told_clusters(n_clusters)
        return labels
    if eps is not None and not (stream.automatic and eps == "auto"):
        limit = stream.limit_of_eps(EPS_OF_THE_PAPER if eps == "auto" else float(eps))
    if nlt is not None:
        limit = stream.limit_of_nlt(nlt)
    if n_clusters is not None:
        limit, min_samples = stream.limit_of_count(n_clusters), 1
    return structure_labels(model, eps, min_samples, limit)


def feature_names(model: Any) -> list[str]:
    """Names of the features, x0, x1, ... where the data had none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{i}" for i in range(model._stream.structures.d)]
    return [str(name) for name in names]


@reads
def describe(model: Any, what: str, as_: str) -> Any:
    """A table of the clusters or of the structures: see `SPC.describe`."""
    check_is_fitted(model)
    return description(model._stream, structure_labels(model), feature_names(model), what, as_)


@reads
def diagnose(model: Any, names: list[str] | None = None) -> list[Finding]:
    """Findings about the model: see `SPC.diagnose`; `names` are those of the features."""
    check_is_fitted(model)
    eps = EPS_OF_THE_PAPER if model.eps == "auto" else model.eps
    return findings(model._stream, structure_labels(model), names or feature_names(model), eps)


def watch(model: Any, batches: Iterable[Any]) -> Iterator[ClusterEvent]:
    """Learn batches, or pairs (X, t), and yield events: see `SPC.watch`."""
    automatic = is_automatic(model.scale)
    if model.track_every is None and not automatic:
        raise ValueError("watch needs to know how often to observe: set track_every, say to 100.")
    if model.__sklearn_is_fitted__():
        if automatic and model._tracker is None:
            _track(model)
        tracker(model, "watch")
    for batch in batches:
        X, t = batch if _is_pair(batch) else (batch, None)
        before = model._tracker.noticed if model.__sklearn_is_fitted__() else 0
        model._access.learn(fit, model, X, t, gapless=False, tracked=True)
        new = tracker(model, "watch").noticed - before
        yield from model.events_[-new:] if new else ()


def _is_pair(batch: Any) -> bool:
    """True if a batch is a pair (X, t): X has two axes, a row has one."""
    if not isinstance(batch, list | tuple) or len(batch) != 2:
        return False
    first = batch[0]
    if isinstance(first, list | tuple):
        return len(first) > 0 and np.ndim(first[0]) == 1
    return len(getattr(first, "shape", ())) == 2


def learn_unobserved(model: Any, X: Any, t: Any = None) -> None:
    """Learn rows in the automatic mode and track the clusters; `observe` is left to the caller."""
    track(model)
    model._access.learn(fit, model, X, t, gapless=False, tracked=True, observed=False)


def track(model: Any) -> None:
    """Track the clusters of a model in the automatic mode from now on, if it is fitted."""
    if model.__sklearn_is_fitted__() and model._tracker is None:
        _track(model)


@reads
def observe(model: Any) -> list[ClusterEvent]:
    """Observe the clusters of a tracked model in the automatic mode; return what has happened.

    Nothing, if hardly a point was learnt since the last observation.
    """
    stream, known = model._stream, tracker(model, "observe")
    every = interval(model.track_every, stream, timed=stream.clock is not None)
    if every is None or stream.seen - known.observed_at < every:
        return []
    found: list[ClusterEvent] = known.observe(stream)
    return found


@learns
def _track(model: Any) -> None:
    """Track the clusters of a fitted model from now on. Modified in place: model."""
    model._fitted.tracker = new_tracker(model._stream)
