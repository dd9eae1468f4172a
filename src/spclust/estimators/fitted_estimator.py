"""What every estimator that holds a `Fitted` has: fitted attributes, copies, pickles and files."""

from copy import deepcopy
from typing import Any, Self

from sklearn.base import BaseEstimator

from spclust.arrays import Integers
from spclust.estimators import model_file, queries
from spclust.estimators.fit import online_parameters
from spclust.estimators.fitted import Fitted
from spclust.parameters import TABLE, Params
from spclust.persistence.atomic_file import AnyPath
from spclust.stream.stream import PointLearner, Stream
from spclust.stream.structure_table import StructureTable
from spclust.tracking.tracker import ClusterEvent, Tracker


class PointSlot:
    """A slot for what learns single points: it is found faster than in the instance's dict."""

    __slots__ = ("_learner",)

    _learner: PointLearner | None  # None, or not there, if parameters have to be checked first


class FittedEstimator(PointSlot, BaseEstimator):  # type: ignore[misc]
    """An estimator that holds a `Fitted` once something was learnt."""

    __slots__ = ()  # where scikit-learn looks for attributes that are not in the dict

    _fitted: Fitted
    eps: float | str
    min_samples: int
    track_every: int | None

    @property
    def labels_(self) -> Integers:
        """Clusters (n,) of the rows of the last `fit` or `partial_fit`; -1 is noise.

        Those that `predict` gives these rows, by the state after learning all of them.
        """
        return queries.labels(self)

    @property
    def structures_(self) -> StructureTable:
        """The structures, oldest first, as read-only arrays."""
        return queries.fitted(self, "structures_").stream.table(self._structure_labels())

    @property
    def n_clusters_(self) -> int:
        """Clusters of structures, noise not counted."""
        queries.fitted(self, "n_clusters_")
        return int(self._structure_labels().max(initial=-1)) + 1

    @property
    def n_samples_seen_(self) -> int:
        """Points learnt since the last `fit` or the first `partial_fit`."""
        return queries.fitted(self, "n_samples_seen_").stream.seen

    @property
    def events_(self) -> list[ClusterEvent]:
        """What happened to clusters, the last thousand events; see `track_every`."""
        return list(queries.tracker(self, "events_").events)

    @property
    def cluster_ids_(self) -> Integers:
        """Id (n_clusters_,) of each cluster that stays the same while the cluster lives.

        -1 if there is not, or not yet, enough to it: see `track_every`.
        """
        queries.tracker(self, "cluster_ids_")
        return self._fitted.cluster_ids(self._structure_labels())

    def _structure_labels(self) -> Integers:
        """Cluster (k,) of each structure, by the parameters as they are now."""
        return queries.structure_labels(self)

    def _labels_of_structures(self, stream: Stream) -> Integers:
        """Cluster (k,) of each structure as the tracker observes it."""
        return stream.clusters(self.eps, int(self.min_samples))

    def _point_learner(self) -> PointLearner:
        return self._fitted.point_learner(self.track_every, self._labels_of_structures)

    def _online_params(self, d: int) -> Params:
        return online_parameters(self, d)

    def save(self, path: AnyPath) -> None:
        """Save the model to a file, which has all of it or, if anything fails, is as it was.

        Learning goes on from there to the last bit: see `load`. Parameters, features, the state
        and the labels of the last rows are kept; points never are.
        """
        model_file.save(self, path)

    @classmethod
    def load(cls, path: AnyPath) -> Self:
        """Load a model that `save` wrote; a ValueError says why if the file is not a sound one.

        No code is run that the file might hold.
        """
        model: Self = model_file.load(cls, path)
        return model

    def to_bytes(self) -> bytes:
        """The model as the bytes that `save` writes."""
        return model_file.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Load a model from what `to_bytes` gave; a ValueError says why if that cannot be."""
        model: Self = model_file.from_bytes(cls, data)
        return model

    @property
    def _stream(self) -> Stream:
        return self._fitted.stream

    @property
    def _tracker(self) -> Tracker | None:
        return self._fitted.tracker

    def __setattr__(self, name: str, value: Any) -> None:
        """Note a change of parameters: the next point is not learnt without a check."""
        super().__setattr__(name, value)
        if name in TABLE:
            self._learner = None
            self.__dict__.pop("_valid", None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __getstate__(self) -> dict[str, Any]:
        """The state without what is made anew when it is needed, and without rows of data."""
        if self.__sklearn_is_fitted__() and self._fitted.last_batch.rows is not None:
            if self._fitted.last_batch.seen == self._stream.seen:
                self.labels_  # noqa: B018 - from here on the rows are not needed any more
            self._fitted.last_batch = self._fitted.last_batch._replace(rows=None)
        return {name: value for name, value in vars(self).items() if name != "_valid"}

    def __copy__(self) -> Self:
        """Copy the state too: two models that learn into one stream would both be wrong."""
        return deepcopy(self)
