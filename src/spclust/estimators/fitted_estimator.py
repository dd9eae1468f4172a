"""Base class of estimators with a `Fitted`: fitted attributes, copies, pickles and files."""

from copy import deepcopy
from importlib import import_module
from typing import Any, Self

from sklearn.base import BaseEstimator

from spclust.array_types import Floats, Integers
from spclust.estimators import model_file, queries
from spclust.estimators.fit import fit, online_parameters
from spclust.estimators.fitted import Fitted, numbered
from spclust.estimators.last_batch import SUPERSEDED, outlier_measure, threads
from spclust.parameters import Params
from spclust.persistence.atomic_file import AnyPath
from spclust.persistence.container import Content
from spclust.stream.access import Access, PointLearner, learns, reads
from spclust.stream.mode import AnyStream
from spclust.stream.structure_table import StructureTable
from spclust.tracking.events import ClusterEvent
from spclust.tracking.schedule import AnyTracker

_OWN = ("_valid", "_listener")  # attributes that copies do not have


class AccessSlot:
    """A slot for who may learn: every instance has one of its own, copies included."""

    __slots__ = ("_access",)

    _access: Access

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An instance, which nobody has access to yet."""
        instance = super().__new__(cls)
        instance._access = Access(cls.__name__)
        return instance


class PointSlot(AccessSlot):
    """A slot for the learner of single points: found faster than in the instance's dict."""

    __slots__ = ("_learner",)

    _learner: PointLearner | None  # None, or missing, if parameters have to be checked first


class InFiles:
    """Models in files and in bytes."""

    __slots__ = ()

    def save(self, path: AnyPath) -> None:
        """Save the model to a file, which is complete or, if anything fails, unchanged.

        A loaded model continues to the last bit as this one would: see `load`. The file has
        parameters, features, the state and the labels of the last rows, but not these rows.
        """
        model_file.save(self, path)

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int | None = None) -> Self:
        """Load a model that `save` wrote; a ValueError says why if the file is not valid.

        Code in the file, if there is any, is not run. A model that takes more than `max_bytes` of
        memory is refused: None is all that this machine has.
        """
        model: Self = model_file.load(cls, path, max_bytes)
        return model

    def to_bytes(self) -> bytes:
        """The model as the bytes that `save` writes."""
        return model_file.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, *, max_bytes: int | None = None) -> Self:
        """Load a model from what `to_bytes` returned: see `load`."""
        model: Self = model_file.from_bytes(cls, data, max_bytes)
        return model

    def _content(self) -> Content:
        """Header and arrays of a file."""
        return model_file.content_of_model(self)

    @classmethod
    def _of_content(cls, content: Content, max_bytes: int | None) -> Self:
        """The model with this content; RefusedError if there is none."""
        model: Self = model_file.model_of_content(cls, content, max_bytes)
        return model


class FittedEstimator(InFiles, PointSlot, BaseEstimator):  # type: ignore[misc]
    """An estimator that holds a `Fitted` once it is fitted."""

    __slots__ = ()  # scikit-learn searches it for attributes that are not in the dict

    _fitted: Fitted
    eps: float | str
    min_samples: int
    track_every: int | None

    @property
    def labels_(self) -> Integers:
        """Clusters (n,) of the rows of the last `fit` or `partial_fit`; -1 is noise.

        By the state after learning all of them: those that `predict` gives these rows. If the
        origin of coordinates moves, a row is labelled as if it had moved with the clusters since it
        arrived.
        """
        return queries.labels(self)

    @property
    @reads
    def structures_(self) -> StructureTable:
        """The structures, oldest first, as read-only arrays."""
        return queries.fitted(self, "structures_").stream.table(self._structure_labels())

    @property
    def n_clusters_(self) -> int:
        """Clusters of structures, noise not counted."""
        queries.fitted(self, "n_clusters_")
        return int(self.cluster_labels_.size)

    @property
    @reads
    def cluster_labels_(self) -> Integers:
        """Label (n_clusters_,) of each cluster, in order: of columns of `typicality`, for example.

        After `fit` they are 0, 1, 2, ... After `partial_fit`, in the automatic mode, a cluster
        keeps its label for as long as it lives, and no other one gets it.
        """
        queries.fitted(self, "cluster_labels_")
        return numbered(self._structure_labels())[0]

    @property
    def n_samples_seen_(self) -> int:
        """Points learnt since the last `fit` or the first `partial_fit`."""
        return queries.fitted(self, "n_samples_seen_").stream.seen

    @property
    def events_(self) -> list[ClusterEvent]:
        """The last thousand events of clusters; see `watch` and `track_every`."""
        return list(queries.tracker(self, "events_").events)

    @property
    @reads
    def cluster_ids_(self) -> Integers:
        """Id (n_clusters_,) of each cluster, the same for as long as the cluster exists.

        In the automatic mode its label. -1 for a cluster of too little weight, not confirmed yet,
        or dead.
        """
        queries.tracker(self, "cluster_ids_")
        return self._fitted.cluster_ids(self._structure_labels())

    def _structure_labels(self) -> Integers:
        """Cluster (k,) of each structure, by the parameters as they are now."""
        return queries.structure_labels(self)

    def _labels_of_structures(self, stream: AnyStream) -> Integers:
        """Cluster (k,) of each structure as the tracker observes it."""
        return stream.clusters(self.eps, int(self.min_samples))

    def _point_learner(self) -> PointLearner:
        labels = self._labels_of_structures
        return self._fitted.point_learner(self.track_every, labels, self._access)

    def _finish_point(self, memory: Floats) -> None:
        """Finish the last point, which was learnt in the memory that the state had then."""
        self._fitted.finish(self.track_every, self._labels_of_structures)
        if self._stream.structures.memory is memory:  # it has not grown
            self._access.memory = memory

    @learns
    def _learn_row(self, row: Floats, t: Any) -> None:
        """Learn one row (1, d) as `partial_fit` does; from then on, `learn_one` is fast."""
        fit(self, row, t, gapless=False, named=False)
        self._fitted.last_batch = SUPERSEDED
        self._learner = self._point_learner()

    def _online_params(self, d: int) -> Params:
        return online_parameters(self, d)

    @property
    def _stream(self) -> AnyStream:
        return self._fitted.stream

    @property
    def _tracker(self) -> AnyTracker | None:
        return self._fitted.tracker

    @reads
    def __getstate__(self) -> dict[str, Any]:
        """The state without caches and without rows of data."""
        if hasattr(self, "_fitted"):
            last = self._fitted.last_batch
            if last.seen == self._stream.seen:  # what labels need of the rows, which are not kept
                last = last.found(self._stream, threads(self), outlier_measure(self))
            self._fitted.last_batch = last._replace(rows=None)
        return {name: value for name, value in vars(self).items() if name not in _OWN}

    def live(self, *, host: str = "127.0.0.1", port: int = 0) -> Any:
        """Show the model on a page in a browser while this process goes on to use it.

        The page has the last points, structures, clusters and events, as `spclust serve` shows
        them; in the automatic mode clusters are tracked from now on, several times a second. It
        can be read from this machine only, and needs `pip install 'spclust[live]'`.

        Returns
        -------
        LivePage
            Its `url` is the address; `close()` ends it, and so does the end of a `with` block.
        """
        # By name: a model opens its page, but does not depend on it.
        return import_module("spclust.live.live_page").LivePage(self, host, port)

    def __copy__(self) -> Self:
        """A deep copy: two models that learn into one stream would both be wrong."""
        return deepcopy(self)
