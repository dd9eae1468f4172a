"""The protocol of all baselines: learn in batches of any size; predict without side effects."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from spclust.array_types import Floats, Integers
from spclust.estimators.input_checks import checked_rows, features_kept_on_failure
from spclust.experiments.baselines.euclidean import nearest
from spclust.parameters import Parameter, validate

_LARGEST = 1e150  # squares of larger numbers cannot be represented


class Offline(NamedTuple):
    """Result of the offline phase: centres (k, d) and the cluster (k,) of each."""

    centres: Floats
    labels: Integers  # -1 is noise


class Online:
    """State of the online phase. `offline` caches the result of the offline phase."""

    offline: Offline | None = None  # None after each new point

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        raise NotImplementedError


class StreamClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of all baselines. A subclass defines `_start`, `_cluster` and `_ranges`.

    Learning a stream in several batches equals learning it at once. `predict` gives clusters
    after all points learnt; for labels at arrival call `partial_fit` and `predict` in turn.
    """

    _online: Online  # set by the first `fit` or `partial_fit`
    _built_with: dict[str, Any]  # parameters that may not change in the middle of the stream
    _ranges: ClassVar[Mapping[str, Parameter]]  # of all parameters but `hard`

    @abstractmethod
    def _start(self, n_features: int) -> Online:
        """Return the state before the first point; refuse parameters that contradict each other."""

    @abstractmethod
    def _cluster(self) -> Offline:
        """Run the offline phase, which only reads the state."""

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the rows of X (n, d), in order, as a new stream.

        `labels_` (n,) are their labels by `predict` after the stream; y is ignored.
        """
        rows = self._learn(X, new=True)
        self.labels_ = self._labels(rows)
        return self

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn the rows of X (n, d), in order, as the continuation of the stream."""
        self._learn(X, new=not self.__sklearn_is_fitted__())
        self.__dict__.pop("labels_", None)  # they belong to the rows of `fit`
        return self

    def predict(self, X: Any) -> Integers:
        """Cluster (n,) of each row of X (n, d); -1 is noise. The model does not change."""
        check_is_fitted(self)
        return self._labels(self._rows(X, reset=False))

    def _learn(self, X: Any, *, new: bool) -> Floats:
        self._validate()
        if not new:
            self._refuse_changes()
        with features_kept_on_failure(self):
            rows = self._rows(X, reset=new)
            online = self._start(rows.shape[1]) if new else self._online
            online.offline = None
            with np.errstate(over="ignore"):  # a distance may be infinite
                online.learn(rows)
        self._online = online
        self._built_with = {
            name: value for name, value in self.get_params(deep=False).items() if name != "hard"
        }
        return rows

    def _validate(self) -> None:
        """Raise a ValueError if a parameter is out of range."""
        owner, values = type(self).__name__, self._values()
        hard = values.pop("hard", True)
        if not isinstance(hard, bool | np.bool_):
            raise ValueError(f"hard of {owner} must be True or False, but is {hard!r}.")
        validate(values, owner, self._ranges)

    def _values(self) -> dict[str, Any]:
        """The parameters as they are validated."""
        values: dict[str, Any] = self.get_params(deep=False)
        return values

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
        """Label of the nearest centre; with `hard`, of the nearest centre that has a label."""
        centres, labels = self._offline()
        if getattr(self, "hard", False):
            centres, labels = centres[labels >= 0], labels[labels >= 0]
        if not len(centres):
            return np.full(len(rows), -1, dtype=np.int64)
        return labels[nearest(rows, centres)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_online")

    def __copy__(self) -> Self:
        """Copy the state too: two models must not learn into one state."""
        return deepcopy(self)
