"""SPC as a clusterer of River."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from river.base import Clusterer

from spclust.arrays import Floats, Integers
from spclust.river.frames import numbers_in, series_like
from spclust.river.learner import Learner
from spclust.river.values import Name
from spclust.stream.structure_table import StructureTable


@dataclass(frozen=True, slots=True)
class MicroCluster:
    """One structure, as River's clusterers have micro-clusters."""

    center: dict[Name, float]  # its mean
    weight: float  # damped mean typicality of recent points, 0 to 1
    count: int  # points taken in
    cluster: int  # -1 is noise


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of structures within reach of each other."""

    center: dict[Name, float]  # mean of its structures, each by the points that it took in
    count: int  # points taken in
    micro_clusters: tuple[int, ...]  # ids of its structures


class SPC(Learner, Clusterer):
    """Single-pass possibilistic clustering of a data stream, for River.

    SPC sees every point once and keeps at most `n_structures` structures: mean, covariance,
    weight, and two clocks. A new point becomes a structure of its own; then the two most
    compatible structures are merged. Clusters are groups of structures within reach of each other.
    `spclust.SPC` does the same with arrays.

    Features go by name, in any order. They may appear and vanish: what is missing (no key, NaN or
    None) has no part in how typical a point is, and is completed, before the point is learnt, with
    what the structure of which it is most typical makes expected. A new feature is added to all
    structures with its first value, so that nothing changes between them. True is 1, False 0.

    Parameters
    ----------
    n_structures
        N, the most structures kept. Several per expected cluster; more if they are not elliptic.
    m
        Fuzzifier, above 1. The smaller, the sharper the edge of a structure.
    gamma
        Decay of a structure's mean for each point that it takes in; 0 forgets nothing.
    beta
        Decay of a structure's weight for each point of the stream; 0 forgets nothing.
    w_min
        Structures lighter than this are pruned.
    nlt_max
        A pruned structure is merged into the one in which it is most typical if its negative log
        typicality there is below this, and forgotten otherwise.
    eps
        Two structures at most this distance D apart, from 0 to 1, are neighbours.
    min_samples
        Neighbours, itself included, that make a structure the core of a cluster (DBSCAN's rule).
    scale
        Standard deviation of a fresh structure in the unit of the data. 1 suits data of about ten
        units across; standardised data takes about a tenth of that.
    covariance_type
        "auto", "full", "lowrank", "diag" or "spherical". "auto" is "full" if the first point has
        at most 128 features, and "lowrank" otherwise.
    max_rank
        Most directions that a structure of "lowrank" keeps; None is as many as there are.

    Attributes
    ----------
    centers : dict
        Centre of each cluster, by the names of the features.
    n_clusters : int
        Clusters of structures, noise not counted.
    clusters : dict
        A `Cluster` for each number that `predict_one` may give, but -1.
    micro_clusters : dict
        A `MicroCluster` for each structure, oldest first, by the number of the point that founded
        it, counted from 0.

    References
    ----------
    J. Dale, J. Keller, A. Galusha: Single-pass Possibilistic Clustering with Damped Window
    Footprints.

    Examples
    --------
    >>> import random
    >>> from spclust.river import SPC
    >>> rng = random.Random(1)
    >>> model = SPC(scale=2.0)
    >>> for i in range(400):
    ...     centre = 0 if i < 200 else 20
    ...     model.learn_one({"x": rng.gauss(centre, 1), "y": rng.gauss(centre, 1)})
    >>> model.n_clusters
    2
    >>> model.predict_one({"x": 0.5, "y": 0.5}), model.predict_one({"y": 21.0})
    (0, 1)
    """

    def __init__(
        self,
        n_structures: int = 30,
        *,
        m: float = 1.5,
        gamma: float = 0.0,
        beta: float = 0.0,
        w_min: float = 0.01,
        nlt_max: float = 3.0,
        eps: float = 0.95,
        min_samples: int = 1,
        scale: float = 1.0,
        covariance_type: str = "auto",
        max_rank: int | None = None,
    ) -> None:
        super().__init__()
        self.n_structures = n_structures
        self.m = m
        self.gamma = gamma
        self.beta = beta
        self.w_min = w_min
        self.nlt_max = nlt_max
        self.eps = eps
        self.min_samples = min_samples
        self.scale = scale
        self.covariance_type = covariance_type
        self.max_rank = max_rank

    def predict_one(self, x: dict[Name, Any]) -> int:
        """Cluster of the structure in which the point is most typical; -1 is noise.

        Also -1 if nothing was learnt yet, or nothing was observed that is known.
        """
        if self._known is None:
            return -1
        row = self._known.row(x)
        return int(self._known.labels(row[np.newaxis], self._labels())[0])

    def predict_many(self, X: Any) -> Any:
        """Clusters of the rows of a frame, as a series of the same library."""
        names, cells = numbers_in(X)
        labels = np.full(len(cells), -1, dtype=np.int64)
        if self._known is not None:
            rows = np.full((len(cells), len(self._known.names)), np.nan)
            for j, name in enumerate(self._known.names):
                if name in names:
                    rows[:, j] = cells[:, names.index(name)]
            labels = self._known.labels(rows, self._labels())
        return series_like(labels, X)

    def typicality_one(self, x: dict[Name, Any]) -> dict[int, float]:
        """Typicality of the point in the best structure of each cluster, 0 to 1.

        Empty if nothing was learnt yet, or nothing was observed that is known.
        """
        if self._known is None:
            return {}
        nlt = self._known.nlt(self._known.row(x), self._labels())
        return {} if nlt is None else dict(enumerate(np.exp(-nlt).tolist()))

    @property
    def n_clusters(self) -> int:
        """Clusters of structures, noise not counted."""
        return 0 if self._known is None else int(self._labels().max(initial=-1)) + 1

    @property
    def centers(self) -> dict[int, dict[Name, float]]:
        """Centre of each cluster: the mean of its structures, each by the points it took in."""
        return {label: cluster.center for label, cluster in self.clusters.items()}

    @property
    def clusters(self) -> dict[int, Cluster]:
        """The clusters, numbered by their oldest structure."""
        if self._known is None:
            return {}
        table, clusters = self._table(), {}
        for label in range(int(table.label.max(initial=-1)) + 1):
            mine = table.label == label
            center = np.average(table.mean[mine], axis=0, weights=table.count[mine])
            ids = tuple(table.id[mine].tolist())
            clusters[label] = Cluster(self._by_name(center), int(table.count[mine].sum()), ids)
        return clusters

    @property
    def micro_clusters(self) -> dict[int, MicroCluster]:
        """The structures, oldest first, by the number of the point that founded each."""
        if self._known is None:
            return {}
        table = self._table()
        columns = (table.weight, table.count, table.label)
        rows = zip(table.mean, *(column.tolist() for column in columns), strict=True)
        records = (MicroCluster(self._by_name(mean), *rest) for mean, *rest in rows)
        return dict(zip(table.id.tolist(), records, strict=True))

    def _labels(self) -> Integers:
        """Label (k,) of each structure, oldest first; there must be some."""
        assert self._known is not None
        return self._known.stream.clusters(self.eps, int(self.min_samples))

    def _table(self) -> StructureTable:
        assert self._known is not None
        return self._known.stream.table(self._labels())

    def _by_name(self, mean: Floats) -> dict[Name, float]:
        assert self._known is not None
        return dict(zip(self._known.names, mean.tolist(), strict=True))
