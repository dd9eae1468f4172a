"""One protocol for all: learn a stream in any batches, ask for labels without changing anything."""

from abc import abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from spclust.arrays import Floats, Integers
from spclust.estimators.rows import checked_rows, features_kept_on_failure
from spclust.experiments.baselines.parts import nearest

_LARGEST = 1e150  # squares of larger numbers cannot be represented


class Offline(NamedTuple):
    """What the offline phase makes of a model: places (k, d) and the cluster (k,) of each."""

    centres: Floats
    labels: Integers  # -1 is noise


class Online:
    """State of the online phase. What the offline phase found is kept until the next point."""

    offline: Offline | None = None

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        raise NotImplementedError


class StreamClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """The face of all clusterers here. A subclass has `_start` and `_cluster`.

    Learning a stream in several batches equals learning it at once. `predict` gives clusters
    after all that was learnt; for labels at arrival call `partial_fit` and `predict` in turn.
    """

    _online: Online  # there once something was learnt
    _built_with: dict[str, Any]  # parameters that may not change in the middle of the stream
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    @abstractmethod
    def _start(self, n_features: int) -> Online:
        """The state before the first point; refuses parameters that do not go together."""

    @abstractmethod
    def _cluster(self) -> Offline:
        """The offline phase. It reads the state only."""

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the rows of X (n, d), in order, as a new stream.

        `labels_` (n,) are what `predict` says of them after the stream; y is not looked at.
        """
        rows = self._learn(X, new=True)
        self.labels_ = self._labels(rows)
        return self

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn the rows of X (n, d), in order, as the continuation of the stream."""
        self._learn(X, new=not self.__sklearn_is_fitted__())
        self.__dict__.pop("labels_", None)  # they were those of the rows of `fit`
        return self

    def predict(self, X: Any) -> Integers:
        """Cluster (n,) of each row of X (n, d); -1 is noise. The model stays as it is."""
        check_is_fitted(self)
        return self._labels(self._rows(X, reset=False))

    def _learn(self, X: Any, *, new: bool) -> Floats:
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, bool) and "boolean" not in self._parameter_constraints[name]:
                raise ValueError(  # scikit-learn takes them for 0 and 1
                    f"{name} of {type(self).__name__} must not be a boolean, but is {value!r}."
                )
        self._validate_params()
        if not new:
            self._refuse_changes()
        with features_kept_on_failure(self):
            rows = self._rows(X, reset=new)
            online = self._start(rows.shape[1]) if new else self._online
            online.offline = None
            with np.errstate(over="ignore"):  # what is infinitely far off is simply far off
                online.learn(rows)
        self._online = online
        self._built_with = {
            name: value for name, value in self.get_params(deep=False).items() if name != "hard"
        }
        return rows

    def _rows(self, X: Any, *, reset: bool) -> Floats:
        rows = checked_rows(self, X, reset=reset)
        far = np.argwhere(np.abs(rows) > _LARGEST)
        if len(far):
            row, column = far[0]
            raise ValueError(
                f"X holds {rows[row, column]:g} at row {row}, column {column}, whose square is "
                "too large for a float: divide X by a constant first."
            )
        return np.ascontiguousarray(rows, dtype=np.float64)

    def _refuse_changes(self) -> None:
        for name, value in self._built_with.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} was changed from {value!r} to {getattr(self, name)!r} in the middle "
                    "of a stream: set it back, or call fit to start a new stream."
                )

    def _offline(self) -> Offline:
        if self._online.offline is None:
            self._online.offline = self._cluster()
        return self._online.offline

    def _labels(self, rows: Floats) -> Integers:
        """Label of the nearest centre, with `hard` of the nearest that has a label."""
        centres, labels = self._offline()
        if getattr(self, "hard", False):
            centres, labels = centres[labels >= 0], labels[labels >= 0]
        if not len(centres):
            return np.full(len(rows), -1, dtype=np.int64)
        return labels[nearest(rows, centres)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_online")

    def __copy__(self) -> Self:
        """Copy the state too: two models that learn into one state would both be wrong."""
        return deepcopy(self)
