"""The part of a model that watches its clusters: their names, and what happens to them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from spclust.arrays import Floats, Integers, Rows
from spclust.state.structures import SEEN
from spclust.stream.stream import PointLearner, Stream
from spclust.tracking.tracker import ClusterEvent, Tracker


class Watcher:
    """Names and events of clusters, if `track_every` is set."""

    track_every: int | None
    eps: float | str
    min_samples: int
    _stream: Stream
    _tracker: Tracker | None = None
    partial_fit: Callable[..., Any]
    _fitted_stream: Callable[[str], Stream]
    _structure_labels: Callable[..., Integers]

    def watch(self, batches: Iterable[Any]) -> Iterator[ClusterEvent]:
        """Learn batches of rows, one after the other, and yield events as they are noticed.

        Of each batch the last thousand at most, which is as many as are kept.

        Parameters
        ----------
        batches : iterable of array-like of shape (n, d)
            The stream, which may be endless; any iterable of what `partial_fit` takes.

        Yields
        ------
        ClusterEvent
        """
        if self.track_every is None:
            raise ValueError("watch needs to know how often to look: set track_every, say to 100.")
        if hasattr(self, "_stream"):
            self._tracking("watch")
        for batch in batches:
            before = 0 if self._tracker is None else self._tracker.noticed
            self.partial_fit(batch)
            new = self._tracking("watch").noticed - before
            yield from self.events_[-new:] if new else ()

    @property
    def events_(self) -> list[ClusterEvent]:
        """What happened to clusters, the last thousand events; see `track_every`."""
        return list(self._tracking("events_").events)

    @property
    def cluster_ids_(self) -> Integers:
        """Id (n_clusters_,) of each cluster that stays the same while the cluster lives.

        -1 if there is not, or not yet, enough to it: see `track_every`.
        """
        tracker = self._tracking("cluster_ids_")
        labels = self._structure_labels()
        names = tracker.names_of(self._stream.look(labels))
        count = int(labels.max(initial=-1)) + 1
        return np.array([names.get(cluster, -1) for cluster in range(count)], dtype=np.int64)

    def _learn_and_look(
        self, stream: Stream, rows: Rows, times: Floats | None, tracker: Tracker | None
    ) -> None:
        """Learn rows, looking at the clusters whenever it is time to. It may be a new stream."""
        at = 0
        if tracker is None or self.track_every is None:
            stream.learn(rows, times)
            return
        while True:
            # First of all, if the last call was interrupted before it looked.
            self._look_if_it_is_time(stream, tracker, self.track_every)
            if at >= len(rows):
                return
            until = at + self.track_every - stream.seen % self.track_every
            stream.learn(rows[at:until], None if times is None else times[at:until])
            at = until

    def _look_if_it_is_time(self, stream: Stream, tracker: Tracker, every: int) -> None:
        if stream.pool[SEEN] % every == 0.0 and tracker.looked < stream.seen:
            tracker.look(stream.look(stream.clusters(self.eps, int(self.min_samples))))

    def _point_learner(self) -> PointLearner:
        """What learning one point at a time needs, see `Stream`; it looks when it is time to."""
        stream, tracker, every = self._stream, self._tracker, self.track_every
        learn, pool, scratch, address = plain = stream.point_learner()
        if tracker is None or every is None:
            return plain

        def learn_and_look(pool: Floats, x: Floats, scratch: Floats, address: int) -> int:
            learnt: int = learn(pool, x, scratch, address)
            if learnt == 1 and pool[SEEN] % every == 0.0:
                self._look_if_it_is_time(stream, tracker, every)
            return learnt

        return learn_and_look, pool, scratch, address

    def _tracking(self, what: str) -> Tracker:
        self._fitted_stream(what)
        if self._tracker is None:
            raise AttributeError(
                f"{what} needs track_every, the number of points between two looks at the "
                "clusters: set it before the stream begins."
            )
        return self._tracker
