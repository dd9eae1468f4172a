"""SPC as a clusterer of River."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from river.base import Clusterer

from spclust.array_types import Floats, HalfLife, Integers
from spclust.parameters import DEFAULTS
from spclust.river.dataframes import numbers_in, series_like
from spclust.river.feature_values import Name
from spclust.river.model_exchange import as_estimator
from spclust.river.river_model import RiverModel
from spclust.stream.access import reads
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.structure_table import StructureTable


@dataclass(frozen=True, slots=True)
class MicroCluster:
    """One structure, under the name that River's clusterers use."""

    center: dict[Name, float]  # its mean
    weight: float  # share of all masses; damped mean typicality in the mode of the paper: 0 to 1
    count: int  # points absorbed
    cluster: int  # -1 is noise


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of structures within reach of each other."""

    center: dict[Name, float]  # mean of its structures' means, weighted by count
    count: int  # points absorbed
    micro_clusters: tuple[int, ...]  # ids of its structures


class SPC(RiverModel, Clusterer):
    """Single-pass possibilistic clustering of a data stream, for River.

    SPC sees every point once and keeps at most `n_structures` structures: mean, covariance,
    weight, count and age. A new point becomes a structure of its own; then the two most
    compatible structures are merged. Clusters are groups of structures within reach of each other.
    `spclust.SPC` does the same with arrays.

    Features go by name, in any order, and may appear and vanish. A feature is missing if it has no
    key, or if its value is NaN or None. Missing features do not enter the typicality of a point;
    before the point is learnt, they are filled in with the values expected in the structure of
    which the point is most typical. A new feature is added to all structures with its first value,
    so that no distance between structures changes. True is 1, False is 0.

    Parameters
    ----------
    n_structures
        N, the maximum number of structures. "auto" is 100, or 30 in the mode of the paper.
    half_life
        Points after which the influence of a point has halved; with time stamps a time. None
        forgets nothing.
    m
        Fuzzifier, above 1. The smaller, the sharper the edge of a structure.
    gamma
        Paper. Decay of a structure's mean per point that the structure absorbs; 0 forgets nothing.
    beta
        Paper. Decay of a structure's weight per point of the stream; 0 forgets nothing.
    w_min
        Paper. A structure lighter than this is pruned.
    nlt_max
        Paper. A pruned structure is merged into the one in which it is most typical if its negative
        log typicality there is below this, and forgotten otherwise.
    eps
        Paper. Two structures at most this distance D apart, from 0 to 1, are neighbours; "auto" is
        0.95 there.
    min_samples
        Paper. Neighbours, itself included, that make a structure the core of a cluster (DBSCAN's
        rule).
    scale
        "auto" is the automatic mode. A number is the mode of the paper: the standard deviation of a
        fresh structure in the unit of the data.
    covariance_type
        "auto", "full", "lowrank", "diag" or "spherical". "auto" is "full" if the first point has
        at most 128 features, and "diag" ("lowrank" in the mode of the paper) otherwise.
    max_rank
        Paper. Maximum number of directions of a "lowrank" covariance; None sets no limit.

    Attributes
    ----------
    centers : dict
        Centre of each cluster, as a dictionary of features.
    n_clusters : int
        Number of clusters, noise excluded.
    clusters : dict
        A `Cluster` for each label that `predict_one` can return, except -1. In the automatic mode
        a cluster gets its number when it is first read, keeps it, and no other one ever gets it.
    micro_clusters : dict
        A `MicroCluster` for each structure, oldest first. Keys are ids: the number, counted from
        0, of the point that founded the structure.

    References
    ----------
    J. Dale, J. Keller, A. Galusha: Single-pass Possibilistic Clustering with Damped Window
    Footprints.

    Examples
    --------
    >>> import random
    >>> from spclust.river import SPC
    >>> rng = random.Random(1)
    >>> model = SPC()
    >>> for i in range(400):
    ...     centre = 0 if i < 200 else 20
    ...     model.learn_one({"x": rng.gauss(centre, 1), "y": rng.gauss(centre, 1)})
    >>> model.n_clusters
    2
    >>> model.predict_one({"x": 0.5, "y": 0.5}), model.predict_one({"y": 21.0})
    (0, 1)
    """

    eps: float | str
    min_samples: int

    def __init__(
        self,
        n_structures: int | str = DEFAULTS["n_structures"],
        *,
        half_life: HalfLife = DEFAULTS["half_life"],
        m: float = DEFAULTS["m"],
        gamma: float = DEFAULTS["gamma"],
        beta: float = DEFAULTS["beta"],
        w_min: float = DEFAULTS["w_min"],
        nlt_max: float = DEFAULTS["nlt_max"],
        eps: float | str = DEFAULTS["eps"],
        min_samples: int = DEFAULTS["min_samples"],
        scale: float | str = DEFAULTS["scale"],
        covariance_type: str = DEFAULTS["covariance_type"],
        max_rank: int | None = DEFAULTS["max_rank"],
    ) -> None:
        super().__init__(locals())

    @reads
    def predict_one(self, x: dict[Name, Any]) -> int:
        """Cluster of the structure in which the point is most typical; -1 is noise.

        Also -1 before the first point was learnt, if the point has no known feature, and in the
        automatic mode if it is farther from everything than any recent one.
        """
        if self._known is None:
            return -1
        row = self._known.row(x)
        return int(self._known.labels(row[np.newaxis], self._labels())[0])

    @reads
    def predict_many(self, X: Any) -> Any:
        """Clusters of the rows of a data frame, as a series of the same library."""
        names, cells = numbers_in(X)
        labels = np.full(len(cells), -1, dtype=np.int64)
        if self._known is not None:
            rows = np.full((len(cells), len(self._known.names)), np.nan)
            for j, name in enumerate(self._known.names):
                if name in names:
                    rows[:, j] = cells[:, names.index(name)]
            labels = self._known.labels(rows, self._labels())
        return series_like(labels, X)

    @reads
    def typicality_one(self, x: dict[Name, Any]) -> dict[int, float]:
        """Typicality of the point in the best structure of each cluster, 0 to 1.

        Empty before the first point was learnt, or if the point has no known feature.
        """
        if self._known is None:
            return {}
        names, labels = _numbered(self._labels())
        nlt = self._known.nlt(self._known.row(x), labels)
        return {} if nlt is None else dict(zip(names, np.exp(-nlt).tolist(), strict=True))

    @reads
    def describe(self, what: str = "clusters", as_: str = "numpy") -> Any:
        """A table of the clusters, or of the structures: see `spclust.SPC.describe`."""
        return as_estimator(self).describe(what, as_)

    @property
    @reads
    def n_clusters(self) -> int:
        """Number of clusters, noise excluded."""
        return 0 if self._known is None else len(_numbered(self._labels())[0])

    @property
    def centers(self) -> dict[int, dict[Name, float]]:
        """Centre of each cluster: the mean of its structures' means, weighted by count."""
        return {label: cluster.center for label, cluster in self.clusters.items()}

    @property
    @reads
    def clusters(self) -> dict[int, Cluster]:
        """The clusters by the numbers that `predict_one` gives them."""
        if self._known is None:
            return {}
        table, clusters = self._table(), {}
        for label in _numbered(table.label)[0]:
            members = table.label == label
            center = np.average(table.mean[members], axis=0, weights=table.count[members])
            ids = tuple(table.id[members].tolist())
            clusters[label] = Cluster(self._by_name(center), int(table.count[members].sum()), ids)
        return clusters

    @property
    @reads
    def micro_clusters(self) -> dict[int, MicroCluster]:
        """The structures by id, oldest first."""
        if self._known is None:
            return {}
        table = self._table()
        columns = (table.weight, table.count, table.label)
        rows = zip(table.mean, *(column.tolist() for column in columns), strict=True)
        records = (MicroCluster(self._by_name(mean), *rest) for mean, *rest in rows)
        return dict(zip(table.id.tolist(), records, strict=True))

    def _labels(self) -> Integers:
        """Label (k,) of each structure, oldest first; something must have been learnt."""
        assert self._known is not None
        stream = self._known.stream
        if not isinstance(stream, AutomaticStream):
            return stream.clusters(self.eps, int(self.min_samples))
        return stream.recent_labels()

    def _table(self) -> StructureTable:
        assert self._known is not None
        return self._known.stream.table(self._labels())

    def _by_name(self, mean: Floats) -> dict[Name, float]:
        assert self._known is not None
        return dict(zip(self._known.names, mean.tolist(), strict=True))


def _numbered(labels: Integers) -> tuple[list[int], Integers]:
    """The numbers of clusters, -1 left out, and the place (k,) of each label among them."""
    names = np.unique(labels[labels >= 0])
    return names.tolist(), np.where(labels >= 0, np.searchsorted(names, labels), -1)
