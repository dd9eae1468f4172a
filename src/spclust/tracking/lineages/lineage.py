"""Lineage: which clusters of an earlier model each cluster of a later one comes from.

Between two models of one stream that was tracked, the events in between tell it exactly. Else it is
decided by what both models have: labels and structures that last, if they are of one stream, and by
overlap, the share of a cluster's structures that the other model has in a cluster of its own.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.tracking.events import FAR, ClusterEvent

MOST = 0.5  # share of a cluster that overlaps with another one, so that they are related
FACTOR = 1.5  # between two shares of the stream, from which on a cluster has grown or shrunk


class ClusterTable(NamedTuple):
    """The clusters of a model, in the units of the data."""

    ids: Integers  # (c,)
    share: Floats  # (c,) of the weights of all clusters
    centre: Floats  # (c, d)
    deviation: Floats  # (c, d) standard deviations


class Change(NamedTuple):
    """What has become of clusters between two models."""

    kind: str  # born, gone, merged, split, moved, grown, shrunk or same
    before: tuple[int, ...]  # ids of clusters of the earlier model
    after: tuple[int, ...]  # and of the later one
    share_before: float | None  # of the stream; None if there is no such cluster
    share_after: float | None
    centre_before: tuple[float, ...] | None  # of the first of them
    centre_after: tuple[float, ...] | None
    way: float | None  # between them, in standard deviations, if there is one of each


def origins_by_events(
    before: Iterable[int], after: Iterable[int], events: Iterable[ClusterEvent]
) -> dict[int, set[int]]:
    """Clusters `before` that each cluster `after` comes from, by the events in between."""
    known = set(before)
    found = {one: {one} for one in known}
    for event in events:
        if event.kind == "birth":  # also under the id of one that has died near there
            found |= {one: set() for one in event.after}
        elif event.kind == "death":
            for one in event.before:
                found.pop(one, None)
        elif event.kind == "merge":
            parts = [found.pop(one, set()) for one in event.before]
            found[event.after[0]] = set().union(*parts)
        elif event.kind == "split":
            whole = found.get(event.before[0], set())
            found |= {one: set(whole) for one in event.after}
    return {one: found.get(one, {one} & known) for one in after}


def origins_by_overlap(
    before: Integers, after: Integers, there: Floats, back: Floats, *, lasting: bool
) -> dict[int, set[int]]:
    """The same by overlap: `there` (b, a) has shares of each cluster before in those after.

    `back` (a, b) has shares of each cluster after in those before. Ids that are `lasting` are the
    same for the same cluster.
    """
    found: dict[int, set[int]] = {one: set() for one in after.tolist()}
    kept = set(before.tolist()) & set(after.tolist()) if lasting else set[int]()
    related: Booleans = np.asarray(there >= MOST)
    theirs: Booleans = np.asarray(back >= MOST)
    for i, old in enumerate(before.tolist()):
        for j, new in enumerate(after.tolist()):
            if old in kept and new in kept:
                linked = old == new
            elif old in kept:  # it is there, and may have lost a part
                linked = bool(theirs[j, i])
            elif new in kept:
                linked = bool(related[i, j])
            else:
                linked = bool(related[i, j] or theirs[j, i])
            if linked:
                found[new].add(old)
    return found


def changes(
    before: ClusterTable, after: ClusterTable, origins: Mapping[int, set[int]]
) -> list[Change]:
    """What has become of the clusters: those that are gone, then the others, the largest first."""
    fates: dict[int, list[int]] = {one: [] for one in before.ids.tolist()}
    for new, olds in origins.items():
        for old in olds:
            fates[old].append(new)
    found = [_change("gone", before, after, (old,), ()) for old, new in fates.items() if not new]
    for old, news in fates.items():
        if len(news) > 1:
            order = sorted(news, key=lambda new: (new != old, new))
            found.append(_change("split", before, after, (old,), tuple(order)))
    for new, olds in origins.items():
        if not olds:
            found.append(_change("born", before, after, (), (new,)))
        elif len(olds) > 1:
            order = sorted(olds, key=lambda old: (old != new, old))
            found.append(_change("merged", before, after, tuple(order), (new,)))
        elif len(fates[next(iter(olds))]) == 1:
            found += _continued(before, after, next(iter(olds)), new)
    place = {kind: i for i, kind in enumerate(("gone", "born", "merged", "split", "moved"))}
    largest = {one: -max(one.share_before or 0.0, one.share_after or 0.0) for one in found}
    return sorted(found, key=lambda one: (place.get(one.kind, len(place)), largest[one]))


def _continued(before: ClusterTable, after: ClusterTable, old: int, new: int) -> list[Change]:
    """Changes of a cluster that is still one; "same" if there is none."""
    one = _change("same", before, after, (old,), (new,))
    assert one.share_before is not None
    assert one.share_after is not None
    kinds = ["moved"] if one.way is not None and one.way > FAR else []
    if one.share_after >= FACTOR * one.share_before:
        kinds.append("grown")
    elif one.share_before >= FACTOR * one.share_after:
        kinds.append("shrunk")
    return [one._replace(kind=kind) for kind in kinds or ["same"]]


def _change(
    kind: str,
    before: ClusterTable,
    after: ClusterTable,
    old: tuple[int, ...],
    new: tuple[int, ...],
) -> Change:
    rows, now = _rows(before.ids, old), _rows(after.ids, new)
    way = None
    if len(rows) == len(now) == 1:
        variance = np.mean(after.deviation[now[0]] ** 2)
        square = np.sum((after.centre[now[0]] - before.centre[rows[0]]) ** 2)
        way = float(np.sqrt(square / max(variance, np.finfo(float).tiny)))
    return Change(
        kind,
        old,
        new,
        float(before.share[rows].sum()) if old else None,
        float(after.share[now].sum()) if new else None,
        tuple(before.centre[rows[0]].tolist()) if old else None,
        tuple(after.centre[now[0]].tolist()) if new else None,
        way,
    )


def _rows(ids: Integers, wanted: tuple[int, ...]) -> list[int]:
    places = {int(one): row for row, one in enumerate(ids)}
    return [places[one] for one in wanted]
