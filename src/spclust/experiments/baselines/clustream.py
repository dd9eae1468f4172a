"""CluStream: k-means of micro-clusters (Aggarwal, Han, Wang and Yu, 2003)."""

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from spclust.experiments.baselines.components import in_order_of_appearance
from spclust.experiments.baselines.micro_cluster_moments import Moments
from spclust.experiments.baselines.ranges import integer, number, word
from spclust.experiments.baselines.stream_clusterer import Offline, StreamClusterer
from spclust.parameters import Parameter


class CluStream(StreamClusterer):
    """CluStream: a fixed number of micro-clusters, and weighted k-means of their means.

    The micro-clusters are those of River's CluStream. The offline phase is scikit-learn's k-means
    of their means, weighted by their numbers of points, and runs when labels are needed. A point
    gets the label of its nearest micro-cluster.

    Parameters
    ----------
    n_clusters : int, default 5
        Number of clusters; fewer if there are fewer distinct micro-clusters.
    n_micro_clusters : int, default 100
        Number of micro-clusters, at least 2. Each of the first points becomes one.
    time_window : int, default 1000
        A micro-cluster that absorbs no point for this many points of the stream is out of date.
    micro_cluster_r_factor : float, default 2.0
        A point fits into a micro-cluster within this many deviations of its mean.
    deviation : {"mean", "rms"}, default "mean"
        Deviation of a micro-cluster: the mean of its standard deviations by feature, as in River;
        or the root of the sum of their squares, as published, which is larger by the square root
        of the number of features. With many features no point is within a few mean deviations.
    seed : int, default 0
        Seed of k-means.

    References
    ----------
    C. Aggarwal, J. Han, J. Wang, P. Yu: A framework for clustering evolving data streams.
    VLDB 2003.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> CluStream(n_clusters=2).fit(X).predict([[0.0, 0.0], [20.0, 20.0]])
    array([0, 1])
    """

    _online: Moments
    _ranges: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1),
        "n_micro_clusters": integer(2),
        "time_window": number(0, closed="neither"),
        "micro_cluster_r_factor": number(0, closed="neither"),
        "deviation": word("mean", "rms"),
        "seed": integer(0, 2**32 - 1),
    }

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        n_micro_clusters: int = 100,
        time_window: int = 1000,
        micro_cluster_r_factor: float = 2.0,
        deviation: str = "mean",
        seed: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_micro_clusters = n_micro_clusters
        self.time_window = time_window
        self.micro_cluster_r_factor = micro_cluster_r_factor
        self.deviation = deviation
        self.seed = seed

    def _start(self, n_features: int) -> Moments:
        return Moments(
            n_features,
            size=int(self.n_micro_clusters),
            window=float(self.time_window),
            factor=float(self.micro_cluster_r_factor),
            of_mean=self.deviation == "mean",
        )

    def _cluster(self) -> Offline:
        """Means of all micro-clusters, and their clusters by k-means."""
        online = self._online
        centres = online.mean[: online.n].copy()
        k = min(int(self.n_clusters), len(np.unique(centres, axis=0)))
        with warnings.catch_warnings():  # k-means warns if means differ by rounding alone
            warnings.simplefilter("ignore", ConvergenceWarning)
            means = KMeans(k, n_init=10, random_state=self.seed)
            labels = means.fit(centres, sample_weight=online.count[: online.n]).labels_
        oldest_first = np.argsort(online.time_mean[: online.n], kind="stable")
        return Offline(centres[oldest_first], in_order_of_appearance(labels[oldest_first]))
