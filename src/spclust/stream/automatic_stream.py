"""One stream in the automatic mode: its state, and learning. `stream.Stream` is the paper's.

Both have the same methods; the interfaces of the library hold one of them and do no arithmetic.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spclust.array_types import Floats, Integers, Rows
from spclust.auto.automatic_kernels import automatic_learner
from spclust.auto.clusters.evidence import in_order
from spclust.auto.clusters.lasting_labels import (
    NO_LABEL,
    NO_POSITIONS,
    NOTHING_READ,
    Reading,
    brought_forward,
    labels_of_clusters,
)
from spclust.auto.common_drift import begin_window, stop_origin
from spclust.auto.origin_path import OriginPath
from spclust.auto.renewal import learn_units, renew
from spclust.numerics.memory import aligned_copy
from spclust.parameters import Params
from spclust.state.automatic_structures import (
    AutomaticStructures,
    empty_automatic,
)
from spclust.stream.access import Access, PointLearner
from spclust.stream.automatic_combination import combined_automatically
from spclust.stream.automatic_query import AutomaticQuery
from spclust.stream.flat_rows import flat_chunks, with_columns


class AutomaticStream(AutomaticQuery):
    """State of one stream of points with d features, in the automatic mode."""

    _copy: AutomaticStructures | None  # memory for a renewal, if there has been one
    path: OriginPath | None  # of the origin, once it is recorded

    def __init__(self, params: Params, d: int) -> None:
        self._use(params, _or_memory_error(params, d), NOTHING_READ)

    def _use(self, params: Params, structures: AutomaticStructures, reading: Reading) -> None:
        vars(self).update(params=params, structures=structures, _copy=None)
        vars(self).update(reading=reading, told=None, followed=False)
        vars(self).update(_clustering=None, _read_as=(-1, None), _labels_due=0, path=None)

    @classmethod
    def of(
        cls, params: Params, structures: AutomaticStructures, reading: Reading = NOTHING_READ
    ) -> "AutomaticStream":
        """A stream with a given state, and the labels of its clusters."""
        stream = cls.__new__(cls)
        stream._use(params, structures, reading)
        return stream

    def __getstate__(self) -> dict[str, Any]:
        return {
            "params": self.params,
            "memory": self.structures.memory,
            "told": self.told,
            "reading": self.reading,
            "labels_due": self._labels_due,
            "followed": self.followed,
            "read_as": self._read_as if self.followed else (-1, None),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        structures = AutomaticStructures(aligned_copy(state["memory"]))
        self._use(state["params"], structures, state["reading"])
        self.told, self._labels_due = state["told"], state["labels_due"]
        self.followed = state.get("followed", False)
        if self.followed:
            self._read_as = state["read_as"]

    @classmethod
    def combined(
        cls, streams: Sequence["AutomaticStream"], params: Params, *, concurrent: bool
    ) -> "AutomaticStream":
        """One stream of several with the same parameters, at the same time or one after another."""
        states = [stream.structures for stream in streams]
        combined = combined_automatically(states, params, concurrent)
        # Labels of the others mean other clusters, and their clusters are others now.
        reading = streams[0].reading._replace(of_cluster=NO_POSITIONS)
        return cls.of(params, combined, reading)

    @property
    def seen(self) -> int:
        """Points learnt."""
        return self.structures.seen

    def configure(self, params: Params) -> None:
        """Use another half-life from now on."""
        s = self.structures
        if s.half_life != params.half_life:
            if s.seen >= s.capacity:
                s.renewal_due = s.metric_due = s.seen  # what is to be forgotten changes at once
            if params.half_life == np.inf:
                stop_origin(s)
            elif s.half_life == np.inf:
                begin_window(s, s.drift_clock)
        s.half_life, self.params = params.half_life, params

    def learn(self, X: Rows, t: Floats | None = None, weights: Floats | None = None) -> None:
        """Learn the rows of X (rows, d), all finite, in order.

        With time stamps t (rows,), never earlier than the one before, for all points of the stream
        or for none; and with weights (rows,), all above 0. A point without one has a weight of 1.
        """
        s = self.structures
        if s.seen == 0 and len(X):
            s.mean_weight = 1.0 if weights is None else float(weights[0])
        if weights is None and s.mean_weight != 1.0:
            weights = np.ones(len(X))
        if weights is not None and not s.weighted:
            # As long as all weights are equal there are none. A renewal before the first one that
            # differs must not know of it: batches and units make no difference.
            differs = weights != s.mean_weight
            plain = int(np.argmax(differs)) if differs.any() else len(X)
            if plain:
                self._learn(X[:plain], None if t is None else t[:plain], None)
                X, weights = X[plain:], weights[plain:]
                t = None if t is None else t[plain:]
        self._learn(X, t, weights)

    def _learn(self, X: Rows, t: Floats | None, weights: Floats | None) -> None:
        """`learn` rows of which the first one has another weight than those before, or none has."""
        s, seen = self.structures, self.structures.seen
        if seen == 0 and len(X):
            s.timed = t is not None
            s.origin[:] = X[0]
            if t is not None:
                s.clock = float(t[0])
        first_weights = weights is not None and len(X) > 0 and not s.weighted
        if first_weights:
            s.weighted = True
        if s.weighted and weights is None:
            weights = np.ones(len(X))
        columns = [t] if t is not None else []
        if s.weighted and weights is not None:
            columns.append(weights)
        try:
            for part, rows in flat_chunks(X):
                self._learn_flat(with_columns(rows, [column[part] for column in columns]))
        except BaseException:  # interrupted, perhaps before the first of them was learnt
            if first_weights and self.seen == seen:
                self.structures.weighted = False
            raise

    def _learn_flat(self, rows: Floats) -> None:
        learn, first = automatic_learner(), self.structures.timed + self.structures.weighted
        width, row = first + self.structures.d, 0
        n = rows.size // width
        while row < n:
            self.renew_if_due()
            s = self.structures
            row += learn(s.memory, rows[row * width :], s.memory, n - row)
            if row < n and s.seen < s.metric_due:
                row += self._learn_with_new_units(rows[row * width : (row + 1) * width], first)

    def _learn_with_new_units(self, row: Floats, first: int) -> int:
        """Learn a row in which features differ for the first time; 1, or 0 if that is not so.

        `first` is the place of its first feature. Features have no unit unless it is learnt.
        """
        s, learn = self.structures, automatic_learner()
        seen, units = s.seen, s.unit.copy()
        try:
            learn_units(s, row[first:])
            learnt: int = learn(s.memory, row, s.memory, 1)
        except BaseException:  # interrupted, perhaps after the row was learnt
            if s.seen == seen:
                s.unit[:] = units
            raise
        return learnt

    def renew_if_due(self) -> None:
        """Renew the metric, and what depends on it, if that is due."""
        if self.structures.seen >= self.structures.metric_due:
            # A copy is renewed, and takes the place of the state: an interrupt leaves the stream
            # before or after all of it.
            before, copy = self.structures, self._copy
            if copy is None:
                copy = AutomaticStructures(aligned_copy(before.memory))
            else:
                copy.memory[:] = before.memory
            draft = object.__new__(type(self))
            vars(draft).update(vars(self), structures=copy, _copy=before)
            draft._renew(before)
            vars(self).update(vars(draft))  # in one step

    def _renew(self, before: AutomaticStructures) -> None:
        """Renew the metric, and read clusters, which an interrupt may leave half done.

        `before` is the same state, not renewed.
        """
        s = self.structures
        clusters, turned = renew(s)
        changed = not np.array_equal(before.velocity, s.velocity)
        if self.path is not None and turned is not None and changed:
            self.path = self.path.turned(turned, s.velocity)
        self._clustering = None
        if clusters is not None:
            read_as = s.seen, self.told is None  # where masses fade there are no parts
            self._clustering = read_as, in_order(clusters[self.order()])
            self._label_anew(_descent(before, s))
        if not self.followed and self.reading.id.size != s.live:
            self._read_as = (-1, None)  # those of structures that have been removed

    def _label_anew(self, descent: Integers) -> None:
        """Let clusters, which are others now, have labels: see `next_reading`."""
        if self.followed:
            label = brought_forward(self.reading, self.structures, descent).label
            of_cluster = labels_of_clusters(self.reading, self.structures, label, anew=True)
            self.reading = self.reading._replace(of_cluster=of_cluster)
        else:
            self._read_as = (-1, None)
            self.lasting_labels(descent=descent)

    def record_path(self) -> None:
        """Record the path of the origin from now on; without a half-life it has none."""
        s = self.structures
        if not s.half_life < np.inf:
            self.path = None
        else:
            self.path = OriginPath.starting(s) if self.path is None else self.path.continued(s)

    def moved(self, X: Rows, arrivals: Floats) -> Rows:
        """Rows of X (n, d), which arrived at some times (n,), where they are now.

        They have moved as the clusters since; if nothing has moved, they are X.
        """
        if self.path is None or self.path.rests_since(arrivals.min(initial=np.inf)):
            return X
        return self.path.followed(X, arrivals, self.structures)

    def number_anew(self) -> None:
        """Let the labels of clusters begin with 0 when they are read next."""
        unknown = np.full_like(self.reading.of_cluster, NO_LABEL)
        self.reading, self._read_as = NOTHING_READ._replace(of_cluster=unknown), (-1, None)

    def finish(self) -> None:
        """Nothing is ever left to do."""

    def point_learner(self, access: Access) -> PointLearner:
        """What learning one point at a time needs. Modified in place: access."""
        s, learn = self.structures, automatic_learner()
        if s.mean_weight != 1.0:  # points without a weight have one of 1
            s.weighted = True
        if s.weighted:
            learn = _with_weight(learn, s, access)
        access.memory = s.memory
        return PointLearner(learn, s.memory, s.memory)


def _descent(before: AutomaticStructures, s: AutomaticStructures) -> Integers:
    """Cluster (k,) of the structures of s, oldest first, when they were still in `before`."""
    order, ids = np.argsort(before.id[: before.live]), np.sort(s.id[: s.live])
    clusters: Integers = before.cluster[order[np.searchsorted(before.id[order], ids)]]
    return clusters


def _with_weight(
    learn: Any, s: AutomaticStructures, access: Access
) -> Callable[[Floats, Floats, Floats, int], int]:
    """A call that learns one point, behind its time stamp if it has one, with a weight of 1."""
    stamps, width = int(s.timed), int(s.timed) + s.d

    def learn_point(memory: Floats, x: Floats, scratch: Floats, rows: int) -> int:
        if x.size != width:
            return 0
        row = np.empty(width + 1)
        row[:stamps], row[stamps], row[stamps + 1 :] = x[:stamps], 1.0, x[stamps:]
        if access.open is not memory:  # another thread came in between
            return 0
        learnt: int = learn(memory, row, scratch, rows)
        return learnt

    return learn_point


def _or_memory_error(params: Params, d: int) -> AutomaticStructures:
    """A new state; a MemoryError says what to change."""
    try:
        return empty_automatic(params, d)
    except MemoryError:
        raise MemoryError(
            f"{params.n_structures} structures of {d} features do not fit into memory: lower "
            'n_structures, or choose covariance_type "diag".'
        ) from None
