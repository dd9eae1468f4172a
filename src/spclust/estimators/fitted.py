"""The fitted state of a model: stream, tracker, last batch, numbering of clusters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spclust.array_types import Booleans, Floats, Integers, Rows
from spclust.estimators.last_batch import LastBatch, Measure, measured_nlt
from spclust.stream.access import Access, PointLearner
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.tracking.observation import observe
from spclust.tracking.schedule import (
    AnyTracker,
    Labels,
    interval,
    observe_if_due,
    observing_learner,
)
from spclust.tracking.tracker import Tracker


@dataclass
class Fitted:
    """The fitted state of an `SPC`."""

    stream: AnyStream
    tracker: AnyTracker | None  # None if the stream is not tracked
    last_batch: LastBatch
    numbered_first: Integers  # positions of structures whose clusters are numbered first
    built_with: dict[str, Any]  # parameters that may not change in the middle of the stream

    def structure_labels(
        self, eps: float | str, min_samples: int, limit: float | None, told: int | None
    ) -> Integers:
        """Cluster (k,) of each structure, oldest first, numbered for the user."""
        if limit is None:
            if isinstance(self.stream, AutomaticStream):
                self.stream.told = told
                return self.stream.lasting_labels(self.numbered_first).copy()
            if told is not None:
                min_samples = 1
                limit = self.stream.limit_of_count(min(told, self.stream.structures.live))
        if limit is None:
            labels = self.stream.clusters(eps, min_samples).copy()
        else:
            labels = self.stream.clustering(limit, min_samples).copy()
        first = np.isin(np.arange(labels.max(initial=-1) + 1), labels[self.numbered_first])
        numbers = np.argsort(np.argsort(~first, kind="stable"))
        labels[labels >= 0] = numbers[labels[labels >= 0]]
        return labels

    def labels(
        self,
        rows: Rows,
        structures: Integers,
        outlier_nlt: float | None,
        measure: Measure,
        threads: int,
    ) -> Integers:
        """Cluster (n,) of each row (n, d), by the labels (k,) of the structures."""
        nearest = self.stream.nearest(rows, threads)
        labels: Integers = structures[nearest]
        nlt = measured_nlt(rows, self.stream, threads, measure)
        if nlt is not None:
            labels[outlying(self.stream, structures, nearest, nlt, outlier_nlt, measure)] = -1
        return labels

    def labels_of_last_batch(
        self, structures: Integers, outlier_nlt: float | None, measure: Measure, threads: int
    ) -> Integers:
        """Cluster (n,) of each row of the last batch, by the labels (k,) of the structures."""
        last = self._last_learnt().found(self.stream, threads, measure)
        self.last_batch = last
        labels: Integers = structures[last.nearest]
        if outlier_nlt is not None and labels.size:
            if last.nlt is None or last.measure != measure:
                raise AttributeError(
                    "labels_ cannot tell outliers, because outlier_nlt was another one when the "
                    "rows of the last fit or partial_fit were there: call predict."
                )
            of = last.nearest, last.nlt, outlier_nlt, measure
            labels[outlying(self.stream, structures, *of)] = -1
        return labels

    def last_rows_now(self, rows: Rows) -> Rows:
        """The rows (n, d) of the last batch where they are now, for labels."""
        last = self._last_learnt()
        if last.arrivals is not None and last.arrivals.rows != len(rows):
            raise ValueError(f"The last batch had {last.arrivals.rows} rows, not {len(rows)}.")
        parts = list(last.as_of_now(rows, self.stream))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _last_learnt(self) -> LastBatch:
        """The last batch; AttributeError if something else was learnt since."""
        if self.last_batch.seen not in (None, self.stream.seen):
            raise AttributeError(
                "labels_ are those of the rows of the last fit or partial_fit, but something else "
                "was learnt since then, points one by one or another model: call predict."
            )
        return self.last_batch

    def moved(self, rows: Rows, arrivals: Floats) -> Rows:
        """Rows (n, d), which arrived at some times (n,), where they are now."""
        stream = self.stream
        return stream.moved(rows, arrivals) if isinstance(stream, AutomaticStream) else rows

    def typicality(self, rows: Rows, structures: Integers, threads: int) -> Floats:
        """Typicality (n, clusters) of each row in the best structure of each cluster."""
        labels, places = numbered(structures)
        u: Floats = np.exp(-self.stream.nlt(rows, places, labels.size, threads))
        return u

    def _interval(self, track_every: int | None) -> int | None:
        if self.tracker is None or self.tracker.paced:
            return None
        return interval(track_every, self.stream, timed=self.stream.clock is not None)

    def point_learner(
        self, track_every: int | None, labels: Labels, access: Access
    ) -> PointLearner:
        """What learning one point at a time needs; clusters are observed if they are tracked."""
        every = self._interval(track_every)
        if self.tracker is None or every is None:
            return self.stream.point_learner(access)
        return observing_learner(self.stream, self.tracker, every, labels, access)

    def finish(self, track_every: int | None, labels: Labels) -> None:
        """Finish a single point, and observe the clusters if that is due."""
        self.stream.finish()
        every = self._interval(track_every)
        if self.tracker is not None and every is not None:
            observe_if_due(self.stream, self.tracker, every, labels)

    def cluster_ids(self, structures: Integers) -> Integers:
        """Id (clusters,) of each cluster, -1 if there is none yet; for a model that tracks."""
        assert self.tracker is not None
        labels, places = numbered(structures)
        if not isinstance(self.tracker, Tracker):
            return self.tracker.tracked(labels)
        ids = self.tracker.cluster_ids(observe(self.stream, places))
        return np.array([ids.get(place, -1) for place in range(labels.size)], dtype=np.int64)


def numbered(structures: Integers) -> tuple[Integers, Integers]:
    """The labels of clusters, in order, and the place (k,) among them of that of each structure.

    -1, which is no cluster, stays.
    """
    labels: Integers = np.unique(structures[structures >= 0])
    places: Integers = np.where(structures >= 0, np.searchsorted(labels, structures), -1)
    return labels, places


def outlying(
    stream: AnyStream,
    structures: Integers | None,
    nearest: Integers,
    nlt: Floats,
    outlier_nlt: float | None,
    measure: Measure,
) -> Booleans:
    """True for rows (n,) that are outliers, by their NLT (n,) and their nearest structures (n,).

    Structures have these labels (k,), or those of the clusters as they are.
    """
    limit = np.inf if outlier_nlt is None else outlier_nlt
    if measure == "nearest" and isinstance(stream, AutomaticStream):
        return stream.are_novel(nearest, nlt, limit, structures)
    far: Booleans = nlt > limit
    return far
