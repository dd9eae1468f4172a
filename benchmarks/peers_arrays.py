"""Peers that learn arrays: clusopt_core and scikit-learn."""
# ruff: noqa: D102 - members are documented in Competitor

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.competitor import Competitor
from benchmarks.streams import Rows, Stream


class ClusoptClustream(Competitor):
    """CluStream in C++; it starts from a k-means of the first 1,000 rows, which is not timed."""

    name = "clusopt CluStream"
    package = "clusopt_core.cluster"
    batches = (10_000,)
    predicts = False
    pickles = False

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from clusopt_core.cluster import CluStream

        self.parameters = {"m": n, "h": 1000, "t": 2}
        self.model = CluStream(**self.parameters)
        self.model.init_offline(stream.block(0)[:1000], seed=0, max_iter=20)

    def points(self, rows: Rows) -> Sequence[Any]:
        return list(rows[:, None, :])

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        return self.model.partial_fit  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        return len(self.model.get_kernel_centers())


class SklearnBirch(Competitor):
    """Birch without its final clustering and without labels, which makes it faster."""

    name = "scikit-learn Birch"
    package = "sklearn.cluster"
    batches = (100, 10_000)
    tuned = True

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from sklearn.cluster import Birch

        self.parameters = {
            "threshold": self.radius_for(stream, n, radius),
            "n_clusters": None,
            "compute_labels": False,
        }
        self.model = Birch(**self.parameters)

    def points(self, rows: Rows) -> Sequence[Any]:
        return list(rows[:, None, :])

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        return self.model.partial_fit  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        return len(self.model.subcluster_centers_)


class SklearnMiniBatchKmeans(SklearnBirch):
    """MiniBatchKMeans with n centres: no covariances, no weights that fade."""

    name = "scikit-learn MiniBatchKMeans"
    tuned = False

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from sklearn.cluster import MiniBatchKMeans

        self.parameters = {"n_clusters": n, "n_init": 1, "random_state": 0}
        self.model = MiniBatchKMeans(**self.parameters)
        self.model.partial_fit(stream.block(0)[: max(1000, n)])

    def micro_clusters(self) -> int:
        return len(np.unique(self.model.cluster_centers_, axis=0))
