"""Comparison of two saved models: clusters born, gone, merged, split, moved, grown and shrunk."""

from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.estimators.queries import lasting_ids
from spclust.parameters import LEARNING
from spclust.prepared_model import PreparedModel
from spclust.tracking.events import ENOUGH, ClusterEvent
from spclust.tracking.lineages.lineage import (
    Change,
    ClusterTable,
    changes,
    origins_by_events,
    origins_by_overlap,
)
from spclust.tracking.observation import NOBODY

# NLT of a structure in another model up to which it is part of a cluster there, in either mode:
_RELATED, _RELATED_AUTOMATIC = 3.0, 4.4
_LEAST = 0.01  # share of a cluster that counts, if nothing else says whether it is one


class ModelComparison(NamedTuple):
    """What has changed between two models, and by what it was decided."""

    changes: list[Change]
    by: str  # "events", "labels" or "overlap"
    recorded: bool = True  # False if a model has no record of events, of which there may be some


def compare(old: PreparedModel, new: PreparedModel) -> ModelComparison:
    """What has become of the clusters of a model in another one; ValueError if they do not match.

    Models of one stream that was tracked are compared by the events in between, others by labels
    that last and by overlap.
    """
    if old.names() != new.names():
        raise ValueError(
            f"The models have different columns, {', '.join(old.names()[:6])} and "
            f"{', '.join(new.names()[:6])}: compare models of the same columns."
        )
    one_stream = is_one_stream(old, new)
    events = _events_between(old.model, new.model) if one_stream else None
    tracked = events is not None
    before, after = _clusters(old, tracked=tracked), _clusters(new, tracked=tracked)
    if events is not None:
        origins = origins_by_events(before.ids.tolist(), after.ids.tolist(), events)
        return ModelComparison(changes(before, after, origins), "events")
    lasting = one_stream and bool(new.model._stream.automatic)
    there, back = _shares(old, new, before.ids, after.ids), _shares(new, old, after.ids, before.ids)
    origins = origins_by_overlap(before.ids, after.ids, there, back, lasting=lasting)
    recorded = old.model._tracker is not None and new.model._tracker is not None
    by = "labels" if lasting else "overlap"
    return ModelComparison(changes(before, after, origins), by, recorded)


def is_one_stream(old: PreparedModel, new: PreparedModel) -> bool:
    """True if the second model is the first one, later: it has events or structures of it.

    A structure has the number of the point that founded it. So all those of the later model that
    are not new were there in the earlier one.
    """
    a, b = old.model, new.model
    same = all(getattr(a, name) == getattr(b, name) for name in LEARNING)
    if not same or b.n_samples_seen_ < a.n_samples_seen_:
        return False
    if old.preparation.as_plain() != new.preparation.as_plain():
        return False
    events = _events(a)
    if events and _events(b):
        return events[-1] in _events(b)
    older = b.structures_.id[b.structures_.id < a.n_samples_seen_]
    return bool(older.size and np.isin(older, a.structures_.id).all())


def _events(model: Any) -> list[ClusterEvent]:
    return [] if model._tracker is None else list(model._tracker.events)


def _events_between(old: Any, new: Any) -> list[ClusterEvent] | None:
    """Events of the later model after the earlier one; None if they are not all known."""
    if old._tracker is None or new._tracker is None:
        return None
    many = new._tracker.noticed - old._tracker.noticed
    events = _events(new)
    return events[len(events) - many :] if 0 <= many <= len(events) else None


def _clusters(prepared: PreparedModel, *, tracked: bool) -> ClusterTable:
    """The clusters of a model; only those that have an id, if it is `tracked`."""
    model, preparation = prepared.model, prepared.preparation
    table = model.describe()
    ids: Integers = model.cluster_ids_ if tracked else lasting_ids(model, table["label"])
    ids = ids if tracked or (ids >= 0).all() else table["label"]
    weight = table["weight"]
    large = (weight >= _LEAST * weight.sum()) & (table["count"] >= ENOUGH)
    kept = np.flatnonzero((ids >= 0) & (tracked | large))
    share = table["weight"][kept] / max(float(table["weight"][kept].sum()), np.finfo(float).tiny)
    return ClusterTable(
        ids[kept],
        share,
        preparation.centres_in_units(table["centre"][kept]),
        preparation.deviations_in_units(table["spread"][kept]),
    )


def _shares(of: PreparedModel, into: PreparedModel, ids: Integers, others: Integers) -> Floats:
    """Share (c, o) of each cluster of a model whose structures another model has in its own."""
    table = of.model.structures_
    rows = into.preparation.applied(of.preparation.centres_in_units(np.array(table.mean)))
    limit = _RELATED_AUTOMATIC if into.model._stream.automatic else _RELATED
    labels = np.where(into.model.score_samples(rows) < -limit, NOBODY, into.model.predict(rows))
    found = _own_ids(into, labels, others)
    mine = _own_ids(of, table.label, ids)
    shares = np.zeros((ids.size, others.size))
    for row, one in enumerate(ids):
        own = mine == one
        weight = table.weight[own] / max(float(table.weight[own].sum()), np.finfo(float).tiny)
        shares[row] = [float(weight[found[own] == other].sum()) for other in others]
    return shares


def _own_ids(prepared: PreparedModel, labels: Integers, ids: Integers) -> Integers:
    """Labels (n,) as the ids by which the clusters of a model are compared."""
    lasting = lasting_ids(prepared.model, labels)
    return lasting if np.isin(lasting[labels >= 0], ids).any() else labels
