"""Arrivals: how many points each structure has had since the last observation.

A structure that has absorbed another one has its points, too, which arrived earlier: they are
subtracted. A structure that is no longer there has been merged or removed. It was merged if one of
the few structures that it would have cost least to merge with has had enough points since.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.lasting_labels import NO_LABEL
from spclust.tracking.stored_values import number, whole

_PARTNERS = 5  # structures that one may have been merged with: those that cost least


class Remembered(NamedTuple):
    """What is remembered of the structures of an observation, oldest first."""

    id: Integers  # (k,) in order
    descent: Integers  # (k,) label that a structure descends from, or NO_LABEL
    absorbed: Floats  # (k,) points
    recent: Floats  # (k,) recent points: faded quickly
    partners: Integers  # (k, p) ids of the structures that cost least to merge with


NOTHING_REMEMBERED = Remembered(
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int64),
    np.empty(0),
    np.empty(0),
    np.empty((0, 0), dtype=np.int64),
)


def cheapest_partners(ids: Integers, weight: Floats, squares: Floats, *, fades: bool) -> Integers:
    """Ids (k, p) of the structures that each costs least to merge with, cheapest first.

    Of structures with weights (k,), which fade or not, at squared distances (k, k): see
    `auto.merge_cost`.
    """
    half = weight[:, np.newaxis] * weight / (weight[:, np.newaxis] + weight)
    cost = half * (half if fades else np.sqrt(half)) * squares
    np.fill_diagonal(cost, np.inf)
    many = min(_PARTNERS, ids.size - 1)
    partners: Integers = ids[np.argsort(cost, axis=1, kind="stable")[:, :many]]
    return partners


def arrivals(last: Remembered, ids: Integers, count: Floats) -> tuple[Floats, Floats]:
    """Points (k,) that structures have had since, and recent ones (k,) that they had before.

    Of structures with ids (k,), in order, that have absorbed `count` (k,) points.
    """
    known, places = places_of(ids, last.id)
    arrived, recent = count.copy(), np.zeros(ids.size)
    arrived[known] -= last.absorbed[places[known]]
    recent[known] = last.recent[places[known]]
    gone = np.flatnonzero(~np.isin(last.id, ids))
    for j in gone[np.argsort(-last.absorbed[gone], kind="stable")].tolist():
        there, among = places_of(last.partners[j], ids)
        for i in among[there].tolist():
            if known[i] and arrived[i] >= last.absorbed[j]:
                arrived[i] -= last.absorbed[j]
                recent[i] += last.recent[j]
                break
    return arrived, recent


def places_of(ids: Integers, among: Integers) -> tuple[Booleans, Integers]:
    """True (k,) for ids (k,) that are among others, in order, and their places; else any place."""
    if among.size == 0:
        return np.zeros(ids.size, dtype=np.bool_), np.zeros(ids.size, dtype=np.int64)
    places: Integers = np.minimum(np.searchsorted(among, ids), among.size - 1)
    return among[places] == ids, places


def remembered_of(state: dict[str, Any], given: int) -> Remembered:
    """What a saved tracker remembers of structures; labels are below `given`.

    Raises KeyError, TypeError or ValueError if that cannot be.
    """
    ids = np.array([whole(its_id, 0) for its_id in state["ids"]], dtype=np.int64)
    descents = [whole(label, NO_LABEL, given - 1) for label in state["descent"]]
    count, recent = (
        np.array([number(value) for value in state[key]], dtype=np.float64)
        for key in ("counts", "recent")
    )
    rows = [[whole(its_id, 0) for its_id in row] for row in state["partners"]]
    partners = np.array(rows, dtype=np.int64).reshape(len(rows), len(rows[0]) if rows else 0)
    sizes = {len(descents), count.size, recent.size, len(rows)}
    if sizes != {ids.size} or (np.diff(ids) <= 0).any():
        raise ValueError("structures and what is remembered of them do not go together")
    return Remembered(ids, np.array(descents, dtype=np.int64), count, recent, partners)
