"""DBSTREAM: micro-clusters joined by shared points (Hahsler and Bolanos, 2016)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spclust.array_types import Floats
from spclust.experiments.baselines.components import components
from spclust.experiments.baselines.ranges import LENGTH, number
from spclust.experiments.baselines.stream_clusterer import Offline, Online, StreamClusterer
from spclust.parameters import Parameter


class SharedDensity(Online):
    """Online phase of DBSTREAM: River's, which learns one dictionary after another.

    River's clock counts points, from 0. The weights of micro-clusters, and of pairs that share
    points (`s`, by the smaller id), are in points and fade by 2^-fading_factor for each point of
    the stream. Each is stored as of the time of its last change (`last_update`, `s_t`).
    `clustering_threshold` is a radius. Light micro-clusters are removed every `cleanup_interval`
    points.
    """

    def __init__(self, **params: float) -> None:
        try:
            from river import cluster
        except ImportError:
            raise ImportError(
                "DBSTREAM needs the package river: install it with pip install spclust[river]."
            ) from None
        self.river: Any = cluster.DBSTREAM(**params)

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for row in rows.tolist():
            before = set(self.river.micro_clusters)
            self.river.learn_one(dict(enumerate(row)))
            gone = before.difference(self.river.micro_clusters)
            if gone:
                self._forget_pairs_of(gone)

    def weights(self) -> tuple[Floats, Floats]:
        """Centres (k, d), oldest first, and their weights (k,) at the time of the last point."""
        rows = self.river.micro_clusters.values()
        centres = np.array([list(row.center.values()) for row in rows])
        weight = [row.weight * self._faded(row.last_update) for row in rows]
        return centres, np.array(weight)

    def pairs(self) -> list[tuple[int, int, float]]:
        """Pairs of micro-clusters, as indices into `weights`, and their current shared weight."""
        index = {name: i for i, name in enumerate(self.river.micro_clusters)}
        return [
            (index[i], index[j], shared * self._faded(self.river.s_t[i][j]))
            for i, row in self.river.s.items()
            for j, shared in row.items()
        ]

    def _faded(self, since: float) -> float:
        """Factor by which a weight of time `since` has faded until the last point."""
        last = self.river._time_stamp - 1
        return float(2.0 ** (-self.river.fading_factor * (last - since)))

    def _forget_pairs_of(self, gone: set[int]) -> None:
        """Remove the shared weights of removed micro-clusters.

        River keeps some of them and reuses the ids: new micro-clusters would inherit weights that
        others shared.
        """
        for table in (self.river.s, self.river.s_t):
            for i in gone.intersection(table):
                del table[i]
            for row in table.values():
                for j in gone.intersection(row):
                    del row[j]


class DBSTREAM(StreamClusterer):
    """DBSTREAM: micro-clusters of one radius; those that share enough points are one cluster.

    The online phase is River's, the offline phase is not: all weights are taken at the time of
    the last point, pairs that share points are followed in both directions, and a point gets the
    label of its nearest micro-cluster rather than that of the nearest mean of a whole cluster.

    Parameters
    ----------
    clustering_threshold : float, default 1.0
        Radius of a micro-cluster, in the unit of the data: a point within it belongs to it.
    fading_factor : float, default 0.01
        Weights fade by 2^-fading_factor for each point of the stream: they halve in
        1 / fading_factor points. With 0 they do not fade.
    cleanup_interval : float, default 2.0
        Points between two removals of light micro-clusters, a whole number. One that absorbed at
        most a single point in that time is light.
    intersection_factor : float, default 0.3
        Shared weight over mean weight above which two micro-clusters are joined; 0 to 1.
    minimum_weight : float, default 1.0
        Weight, in points, that a micro-cluster needs to belong to a cluster.
    hard : bool, default True
        True: a point gets the label of the nearest micro-cluster that has one. False: it is
        noise, -1, if the nearest one is too light.

    References
    ----------
    M. Hahsler, M. Bolanos: Clustering data streams based on shared density between
    micro-clusters. IEEE Transactions on Knowledge and Data Engineering, 2016.
    """

    _online: SharedDensity
    _ranges: ClassVar[Mapping[str, Parameter]] = {
        "clustering_threshold": LENGTH,
        "fading_factor": number(0),
        "cleanup_interval": number(1),
        "intersection_factor": number(0, 1, "both"),
        "minimum_weight": number(0),
    }

    def __init__(
        self,
        clustering_threshold: float = 1.0,
        *,
        fading_factor: float = 0.01,
        cleanup_interval: float = 2.0,
        intersection_factor: float = 0.3,
        minimum_weight: float = 1.0,
        hard: bool = True,
    ) -> None:
        self.clustering_threshold = clustering_threshold
        self.fading_factor = fading_factor
        self.cleanup_interval = cleanup_interval
        self.intersection_factor = intersection_factor
        self.minimum_weight = minimum_weight
        self.hard = hard

    def _start(self, n_features: int) -> SharedDensity:
        if self.cleanup_interval != int(self.cleanup_interval):
            raise ValueError(
                f"cleanup_interval of DBSTREAM must be a whole number of points, but is "
                f"{self.cleanup_interval!r}."
            )
        return SharedDensity(
            clustering_threshold=float(self.clustering_threshold),
            fading_factor=float(self.fading_factor),
            cleanup_interval=float(self.cleanup_interval),
            intersection_factor=float(self.intersection_factor),
            minimum_weight=float(self.minimum_weight),
        )

    def _cluster(self) -> Offline:
        """Micro-clusters, and their clusters: heavy ones joined by shared weight."""
        centres, weight = self._online.weights()
        heavy = weight >= self.minimum_weight
        joined = [
            (i, j)
            for i, j, shared in self._online.pairs()
            if heavy[i]
            and heavy[j]
            and shared > self.intersection_factor * (weight[i] + weight[j]) / 2.0
        ]
        first, second = np.array(joined, dtype=np.int64).reshape(-1, 2).T
        labels = np.full(len(weight), -1, dtype=np.int64)
        rank = np.cumsum(heavy) - 1  # index of a heavy micro-cluster among the heavy ones
        labels[heavy] = components(int(heavy.sum()), rank[first], rank[second])
        return Offline(centres, labels)
