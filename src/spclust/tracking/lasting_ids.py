"""Cluster ids that last, for a stream whose clusters are read again and again.

An id belongs to the cluster that has most of the weight of the structures which had it before. So
of two clusters that merge the heavier one keeps its id, and so does the heavier part of one that
splits. No id is given twice. A cluster that is not found, because it is one with another for a
while, gets its id back if it appears again soon: its structures remember it.
"""

from typing import Any

import numpy as np

from spclust.arrays import Booleans, Floats, Integers
from spclust.state.automatic_structures import read_z
from spclust.stream.automatic_stream import AutomaticStream
from spclust.tracking.observation import NOBODY

_SHARE, _PARTS = 20, 10  # points between two readings: a part of those learnt, or of the structures


class LastingIds:
    """The ids of the clusters of a stream in the automatic mode, given when they are read."""

    def __init__(self) -> None:
        self.ids_given = 0
        self._structures = np.empty(0, dtype=np.int64)  # ids of structures last read, sorted,
        self._assigned = np.empty(0, dtype=np.int64)  # their cluster ids,
        self._remembered = np.empty(0, dtype=np.int64)  # and those that they remember
        self._missing: dict[int, int] = {}  # points learnt when a cluster id was first not found
        self._seen, self._due = -1, 0

    def of(self, stream: AutomaticStream, eps: Any, min_samples: int) -> Integers:
        """Cluster id (k,) of each structure, oldest first; -1 for strays.

        Clusters are read again when some points were learnt since they were last read; until then
        new structures belong to the cluster of the nearest one.
        """
        if self._seen == stream.seen:
            return self._assigned
        structures = stream.structures.id[stream.order()]
        if stream.seen >= self._due or not np.isin(structures, self._structures).any():
            self._match(structures, stream, stream.clusters(eps, min_samples))
            step = min(stream.seen // _SHARE, stream.structures.capacity // _PARTS)
            self._due = stream.seen + max(step, 1)
        else:
            self._follow(structures, stream)
        self._seen = stream.seen
        return self._assigned

    def _match(self, structures: Integers, stream: AutomaticStream, clusters: Integers) -> None:
        """Assign ids to clusters (k,) of structures with ids (k,)."""
        own, seen = self._of_structures(structures, self._remembered), stream.seen
        ids: list[int] = [NOBODY] * (int(clusters.max(initial=-1)) + 1)
        for its_id, cluster in _by_shared_weight(own, clusters, stream.faded_counts()):
            if ids[cluster] == NOBODY and its_id not in ids:
                ids[cluster] = its_id
        for cluster, its_id in enumerate(ids):
            if its_id == NOBODY:
                ids[cluster] = self.ids_given
                self.ids_given += 1
        now = np.array([*ids, NOBODY])[clusters]  # the last one is that of -1
        lost = np.setdiff1d(own[own != NOBODY], ids).tolist()
        self._missing = {its_id: self._missing.get(its_id, seen) for its_id in lost}
        patience = stream.structures.capacity  # points, in which all structures can have changed
        waiting = [its_id for its_id, since in self._missing.items() if seen - since <= patience]
        own = np.where(np.isin(own, waiting), own, now)
        self._structures, self._assigned, self._remembered = structures, now, own

    def _follow(self, structures: Integers, stream: AutomaticStream) -> None:
        """Keep the ids of structures that were there when clusters were last read."""
        now, own = (
            self._of_structures(structures, ids) for ids in (self._assigned, self._remembered)
        )
        known: Booleans = np.isin(structures, self._structures)
        if not known.all():
            z = read_z(stream.structures, stream.order())
            squares = np.sum((z[~known][:, np.newaxis] - z[known]) ** 2, axis=2)
            nearest = np.flatnonzero(known)[squares.argmin(axis=1)]
            now[~known], own[~known] = now[nearest], own[nearest]
        self._structures, self._assigned, self._remembered = structures, now, own

    def _of_structures(self, structures: Integers, ids: Integers) -> Integers:
        """Those of the ids that belong to structures (k,), -1 where a structure is new."""
        found = np.full(structures.size, NOBODY)
        known = np.isin(structures, self._structures)
        found[known] = ids[np.searchsorted(self._structures, structures[known])]
        return found


def _by_shared_weight(own: Integers, clusters: Integers, weight: Floats) -> list[tuple[int, int]]:
    """Pairs of an id and a cluster that share structures, most weight first."""
    shared: dict[tuple[int, int], float] = {}
    for its_id, cluster, one in zip(own.tolist(), clusters.tolist(), weight.tolist(), strict=True):
        if its_id != NOBODY and cluster != NOBODY:
            shared[its_id, cluster] = shared.get((its_id, cluster), 0.0) + one
    return sorted(shared, key=lambda pair: (-shared[pair], pair))
