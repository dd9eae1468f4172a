"""What scikit-learn expects of a clusterer besides labels: centres, a transform and a score."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from spclust.array_types import Floats, Names
from spclust.estimators import queries
from spclust.estimators.sample_weights import as_weights


class ClusterTransform(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin):  # type: ignore[misc]
    """Rows as typicalities in the clusters, for pipelines and searches of scikit-learn."""

    @property
    def cluster_centers_(self) -> Floats:
        """Centre (n_clusters_, d) of each cluster: the mean of its structures, by count.

        If points have weights, by mass.
        """
        queries.fitted(self, "cluster_centers_")
        centres: Floats = queries.describe(self, "clusters", "numpy")["centre"]
        return centres

    def transform(self, X: Any) -> Floats:
        """Typicality (n, n_clusters_) of each row of X (n, d) in each cluster: see `typicality`."""
        return queries.typicality(self, X)

    def fit_transform(self, X: Any, y: object = None, **given: Any) -> Floats:
        """Learn X (n, d) as `fit` does; typicality (n, n_clusters_) of each row.

        As `labels_`, of rows that have moved with the clusters, if all clusters move alike.
        """
        self.fit(X, y, **given)
        return queries.typicality_of_last_batch(self, X)

    def score(self, X: Any, y: object = None, sample_weight: Any = None) -> float:
        """Mean log typicality of the rows of X (n, d): at most 0, higher is more typical.

        With weights `sample_weight` (n,) the weighted mean.
        """
        scores = queries.score_samples(self, X)
        if sample_weight is None:
            return float(np.mean(scores))
        weights = as_weights(sample_weight, len(scores))
        if not weights.any():
            raise ValueError("sample_weight is zero for every row: a mean needs a weight above 0.")
        return float(np.average(scores, weights=weights))

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Names (n_clusters_,) of the columns of `transform`, by label.

        With the labels 1 and 2 in `cluster_labels_` they are "spc1" and "spc2": a name means the
        same cluster for as long as its label lasts.

        Parameters
        ----------
        input_features : array-like of str or None, default None
            If given, the names of the features that were learnt.
        """
        super().get_feature_names_out(input_features)  # which checks `input_features`
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{label}" for label in self.cluster_labels_], dtype=object)

    @property
    def _n_features_out(self) -> int:
        """Columns of `transform`."""
        return self.n_clusters_  # type: ignore[no-any-return]
