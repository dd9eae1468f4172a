"""What scikit-learn expects of a clusterer besides labels: centres, a transform and a score."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from spclust.arrays import Floats
from spclust.estimators import queries


class ClusterTransform(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin):  # type: ignore[misc]
    """Rows as typicalities in the clusters, for pipelines and searches of scikit-learn."""

    @property
    def cluster_centers_(self) -> Floats:
        """Centre (n_clusters_, d) of each cluster: the mean of its structures, by count."""
        queries.fitted(self, "cluster_centers_")
        centres: Floats = queries.describe(self, "clusters", "numpy")["centre"]
        return centres

    def transform(self, X: Any) -> Floats:
        """Typicality (n, n_clusters_) of each row of X (n, d) in each cluster: see `typicality`."""
        return queries.typicality(self, X)

    def score(self, X: Any, y: object = None) -> float:
        """Mean log typicality of the rows of X (n, d): at most 0, higher is more typical."""
        return float(np.mean(queries.score_samples(self, X)))

    @property
    def _n_features_out(self) -> int:
        """Columns of `transform`."""
        return self.n_clusters_  # type: ignore[no-any-return]
