"""A moment at a model while it learns: what the page shows, all of it read at one moment."""

from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.estimators.queries import labels_and_scores, lasting_ids, outlier_limit
from spclust.live.view.recent import Sample
from spclust.prepared_model import PreparedModel
from spclust.stream.structure_table import StructureTable

DEFAULT_NLT = 3.0  # of outliers, without outlier_nlt: a typicality of 0.05


class Moment(NamedTuple):
    """A model at one moment."""

    points: int  # learnt
    names: list[str]  # of the features
    table: StructureTable
    ids: Integers  # (k,) lasting id of the cluster of each structure; -1 is noise
    clusters: dict[str, Any]  # as `describe` gives them
    cluster_ids: Integers  # (clusters,)
    sample: Sample | None  # rows that were learnt lately,
    labels: Integers  # their clusters, by id,
    nlt: Floats  # and their NLT
    limit: float  # NLT above which a row is an outlier


class Scored(NamedTuple):
    """Rows as the model sees them."""

    label: Integers
    id: Integers
    typicality: Floats
    outlier: Any  # (n,) of truth values


def moment_of(prepared: PreparedModel, sample: Sample | None) -> Moment | None:
    """What there is to see; None if nothing was learnt."""
    if not prepared.has_learnt:
        return None
    found: Moment = prepared.model._access.read(_moment, prepared, sample)
    return found


def _moment(prepared: PreparedModel, sample: Sample | None) -> Moment:
    model = prepared.model
    table, clusters = model.structures_, model.describe()
    labels, nlt = np.empty(0, dtype=np.int64), np.empty(0)
    if sample is not None:
        labels, nlt = _labels_and_nlt(prepared, sample.values, sample.arrival)
    return Moment(
        points=model.n_samples_seen_,
        names=prepared.names(),
        table=table,
        ids=lasting_ids(model, table.label),
        clusters=clusters,
        cluster_ids=lasting_ids(model, clusters["label"]),
        sample=sample,
        labels=lasting_ids(model, labels),
        nlt=nlt,
        limit=_limit(model),
    )


def _labels_and_nlt(
    prepared: PreparedModel, values: Floats, arrivals: Floats | None = None
) -> tuple[Integers, Floats]:
    """Labels (n,) and NLT (n,) of rows (n, d) in the units of the data.

    Those that were learnt have moved with the clusters since they arrived.
    """
    if not len(values):
        return np.empty(0, dtype=np.int64), np.empty(0)
    rows = prepared.preparation.applied(values)
    labels, scores = labels_and_scores(prepared.model, rows, arrivals)
    return labels, -scores


def _limit(model: Any) -> float:
    limit = outlier_limit(model)
    return DEFAULT_NLT if limit is None else limit


def scored(prepared: PreparedModel, values: Floats) -> Scored:
    """Label, lasting id, typicality and outlier flag of rows (n, d) in the units of the data."""
    found: Scored = prepared.model._access.read(_scored, prepared, values)
    return found


def _scored(prepared: PreparedModel, values: Floats) -> Scored:
    labels, nlt = _labels_and_nlt(prepared, values)
    outlier = nlt > _limit(prepared.model)
    return Scored(labels, lasting_ids(prepared.model, labels), np.exp(-nlt), outlier)
