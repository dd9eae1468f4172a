"""What can be asked of a model that has learnt something: nothing here changes the stream."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from spclust.arrays import Booleans, Floats, Integers, Rows
from spclust.estimators.last_batch import LastRows, least_nlt
from spclust.estimators.rows import checked_rows
from spclust.inspection.description import description
from spclust.inspection.diagnosis import Finding, findings
from spclust.parameters import validate
from spclust.state.structures import FEATURES
from spclust.stream.stream import Stream
from spclust.stream.structure_table import StructureTable


class Reader:
    """The half of a model that reads its stream."""

    eps: float | str
    min_samples: int
    outlier_nlt: float | None
    n_jobs: int | None
    _stream: Stream  # there once something was learnt
    _last: LastRows  # what is known of the rows of the last call
    _first: Integers  # structures whose clusters are numbered first

    def predict(self, X: Any) -> Integers:
        """Cluster (n,) of the structure in which each row of X (n, d) is most typical.

        -1 if that structure is noise, or if the row's NLT in it is above `outlier_nlt`.
        """
        check_is_fitted(self)
        return self._labels_of(checked_rows(self, X, reset=False))

    def typicality(self, X: Any) -> Floats:
        """Typicality (n, n_clusters_) of each row in the best structure of each cluster, 0 to 1."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return self._typicality_of(rows)

    def score_samples(self, X: Any) -> Floats:
        """Log typicality (n,) of each row in its best structure: 0 at most, lower is stranger."""
        check_is_fitted(self)
        return self._scores_of(checked_rows(self, X, reset=False))

    def clustering(
        self,
        eps: float | str | None = None,
        min_samples: int | None = None,
        *,
        nlt: float | None = None,
        n_clusters: int | None = None,
    ) -> Integers:
        """Cluster (k,) of each structure, oldest first, for another cut; -1 is noise.

        Structures are neighbours if their distance D is at most `eps`; or if the sum of the NLT of
        each one's mean in the other, -log(1 - D), is at most `nlt`, which tells distances apart
        where every D is 1 to the last digit, as in many dimensions; or if that makes `n_clusters`
        clusters of them, each structure being in one (min_samples is then 1). The model stays as
        it is.
        """
        check_is_fitted(self)
        given = {"eps": eps, "min_samples": min_samples}
        validate({name: value for name, value in given.items() if value is not None}, "clustering")
        if sum(cut is not None for cut in (eps, nlt, n_clusters)) > 1:
            raise ValueError("clustering takes one of eps, nlt and n_clusters.")
        limit = None
        if nlt is not None:
            limit = self._stream.limit_of_nlt(nlt)
        if n_clusters is not None:
            limit, min_samples = self._stream.limit_of_count(n_clusters), 1
        return self._structure_labels(eps, min_samples, limit)

    def describe(self, what: str = "clusters", as_: str = "numpy") -> Any:
        """A table of the clusters, or of the structures, in the units of the data.

        Parameters
        ----------
        what : {"clusters", "structures"}, default "clusters"
            One row for each cluster, or for each structure, oldest first.
        as_ : {"numpy", "pandas", "polars"}, default "numpy"
            "numpy" is a dictionary of arrays, one for each column, `centre` and `spread` of shape
            (rows, d). Frames have a column for each feature of these: "centre_speed" for a feature
            named "speed", "centre_x0" for the first one if features have no names.

        Returns
        -------
        dict or DataFrame
            Of clusters: `label`; `structures`, their number; `count`, points absorbed; `weight`,
            the sum of theirs; `age` of the oldest; `nearest`, the nearest other cluster, with the
            `distance` D and the `nlt`, -log(1 - D), of the two structures that are nearest to each
            other (-1 and NaN if there is no other); `centre`, the mean of their means, and
            `spread`, the standard deviation, both weighted by count. Noise is left out.

            Of structures: `id`, `cluster`, `count`, `weight`, `age` as in `structures_`, the
            nearest other cluster as above, `centre` and `spread`, the root of the diagonal of the
            covariance, which is not built for it. If the scale is automatic, which covariances
            contain, it is the standard deviation of the points absorbed: 0 of a single one.
        """
        check_is_fitted(self)
        return description(self._stream, self._structure_labels(), self._feature_names(), what, as_)

    def diagnose(self) -> list[Finding]:
        """What looks wrong, in sentences that say what to change; empty if nothing does.

        Each is a `str` with a `code`, one word for programs. They are judged by the structures
        alone: hints, no proof.
        """
        check_is_fitted(self)
        return findings(self._stream, self._structure_labels(), self._feature_names(), self.eps)

    @property
    def labels_(self) -> Integers:
        """Clusters (n,) of the rows of the last `fit` or `partial_fit`; -1 is noise.

        Those that `predict` gives these rows, by the state after learning all of them.
        """
        self._fitted_stream("labels_")
        last = self._last
        if last.seen not in (None, self._stream.seen):
            raise AttributeError(
                "labels_ are those of the rows of the last fit or partial_fit, but something else "
                "was learnt since then, points one by one or another model: ask predict."
            )
        last = last.found(self._stream, self._threads(), self.outlier_nlt is not None)
        self._last = last
        labels: Integers = self._structure_labels()[last.nearest]
        if self.outlier_nlt is not None:
            if last.nlt is None:
                raise AttributeError(
                    "labels_ cannot tell outliers, because outlier_nlt was None when the rows of "
                    "the last fit or partial_fit were there: ask predict."
                )
            labels[self._outlying(last.nlt)] = -1
        return labels

    @property
    def structures_(self) -> StructureTable:
        """The structures, oldest first, as read-only arrays."""
        return self._fitted_stream("structures_").table(self._structure_labels())

    @property
    def n_clusters_(self) -> int:
        """Clusters of structures, noise not counted."""
        self._fitted_stream("n_clusters_")
        return int(self._structure_labels().max(initial=-1)) + 1

    @property
    def n_samples_seen_(self) -> int:
        """Points learnt since the last `fit` or the first `partial_fit`."""
        return self._fitted_stream("n_samples_seen_").seen

    def _fitted_stream(self, attribute: str) -> Stream:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"{attribute} of {type(self).__name__} exists once fit or partial_fit was called."
            )
        return self._stream

    def _structure_labels(
        self,
        eps: float | str | None = None,
        min_samples: int | None = None,
        limit: float | None = None,
    ) -> Integers:
        """Cluster (k,) of each structure, those first that have one of the structures in _first."""
        eps = self.eps if eps is None else eps
        min_samples = self.min_samples if min_samples is None else min_samples
        validate({"eps": eps, "min_samples": min_samples}, type(self).__name__)
        if limit is None:
            labels = self._stream.clusters(eps, int(min_samples)).copy()
        else:
            labels = self._stream.clustering(limit, int(min_samples)).copy()
        has_row = np.isin(np.arange(labels.max(initial=-1) + 1), labels[self._first])
        numbers = np.argsort(np.argsort(~has_row, kind="stable"))
        labels[labels >= 0] = numbers[labels[labels >= 0]]
        return labels

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{i}" for i in range(int(self._stream.pool[FEATURES]))]
        return [str(name) for name in names]

    def _labels_of(self, rows: Rows) -> Integers:
        labels = self._stream.nearest(rows, self._threads(), self._structure_labels())
        if self.outlier_nlt is not None:
            labels[self._outlying(least_nlt(self._stream, rows, self._threads()))] = -1
        return labels

    def _outlying(self, nlt: Floats) -> Booleans:
        """Which of some rows (n,) are outliers by outlier_nlt; none if that is None."""
        validate({"outlier_nlt": self.outlier_nlt}, type(self).__name__)
        return nlt > (np.inf if self.outlier_nlt is None else self.outlier_nlt)

    def _scores_of(self, rows: Rows) -> Floats:
        scores: Floats = 0.0 - least_nlt(self._stream, rows, self._threads())
        return scores

    def _typicality_of(self, rows: Rows) -> Floats:
        labels = self._structure_labels()
        n_labels = labels.max(initial=-1) + 1
        u: Floats = np.exp(-self._stream.nlt(rows, labels, n_labels, self._threads()))
        return u

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))
