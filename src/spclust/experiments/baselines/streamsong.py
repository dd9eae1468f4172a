"""StreamSoNG: neural-gas prototypes with typicalities (Wu, Keller, Dale and Bezdek, 2021)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spclust.array_types import Floats, Integers
from spclust.experiments.baselines.euclidean import distance_tables
from spclust.experiments.baselines.neural_gas import Classes
from spclust.experiments.baselines.ranges import LENGTH, integer, number
from spclust.experiments.baselines.stream_clusterer import Offline, StreamClusterer
from spclust.parameters import Parameter


class StreamSoNG(StreamClusterer):
    """StreamSoNG: classes of prototypes, new ones opened from a pool of atypical points.

    The typicality of a point in a class is computed from the nearest prototypes of all classes. A
    point that is typical of a class moves the prototypes of that class towards it. A point that is
    typical of none goes to a pool; as soon as `n_open` points of the pool lie together they become
    a class. No class is ever merged or removed. The first class is opened in the same way: no
    labels are needed.

    Parameters
    ----------
    bandwidth : float, default 1.0
        Distance, in the unit of the data, at which a point of the pool is half typical of a class
        to be opened: about a third of the diameter of a cluster.
    n_prototypes : int, default 10
        Maximum number of prototypes of a class.
    n_nearest : int, default 3
        Number of nearest prototypes that a point is compared with.
    m : float, default 1.5
        Fuzzifier, above 1. The smaller, the sharper the edge of a class.
    outlier : float, default 0.1
        Typicality below which a point goes to the pool; 0 to 1.
    n_open : int, default 10
        Number of points of the pool with typicality above 1/2 that open a class.
    n_scale : int, default 3
        Number of neighbours of a prototype in its class that determine the scale of the class.
    rate : float, default 0.1
        Share of its distance to a point of typicality 1 that the nearest prototype moves; 0 to 1.
    reach : float, default 2.0
        Number of ranks by distance over which that share falls to 1 / e.
    pool_max : int, default 2000
        Maximum number of points of the pool; the oldest is removed first.
    hard : bool, default True
        True: an atypical point gets the class of the nearest prototype. False: it is noise, -1.
    seed : int, default 0
        Seed of the training of new classes.

    References
    ----------
    W. Wu, J. Keller, J. Dale, J. Bezdek: StreamSoNG: a soft streaming classification approach.
    IEEE Transactions on Emerging Topics in Computational Intelligence, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> StreamSoNG(bandwidth=5.0, outlier=0.01).fit(X).predict([[0.0, 0.0], [20.0, 20.0]])
    array([0, 1])
    """

    _online: Classes
    _ranges: ClassVar[Mapping[str, Parameter]] = {
        "bandwidth": LENGTH,
        "n_prototypes": integer(1),
        "n_nearest": integer(1),
        "m": number(1, closed="neither"),
        "outlier": number(0, 1, "both"),
        "n_open": integer(1),
        "n_scale": integer(1),
        "rate": number(0, 1, "both"),
        "reach": number(0, closed="neither"),
        "pool_max": integer(1),
        "seed": integer(0),
    }

    def __init__(
        self,
        bandwidth: float = 1.0,
        *,
        n_prototypes: int = 10,
        n_nearest: int = 3,
        m: float = 1.5,
        outlier: float = 0.1,
        n_open: int = 10,
        n_scale: int = 3,
        rate: float = 0.1,
        reach: float = 2.0,
        pool_max: int = 2000,
        hard: bool = True,
        seed: int = 0,
    ) -> None:
        self.bandwidth = bandwidth
        self.n_prototypes = n_prototypes
        self.n_nearest = n_nearest
        self.m = m
        self.outlier = outlier
        self.n_open = n_open
        self.n_scale = n_scale
        self.rate = rate
        self.reach = reach
        self.pool_max = pool_max
        self.hard = hard
        self.seed = seed

    def typicality(self, X: Any) -> Floats:
        """Typicality (n, classes) of each row of X (n, d) in each class, 0 to 1."""
        check_is_fitted(self)
        return self._typicality_of(self._rows(X, reset=False))[0]

    def _start(self, n_features: int) -> Classes:
        if self.pool_max < self.n_open:
            raise ValueError(
                f"pool_max of StreamSoNG must be at least n_open, {self.n_open}, but is "
                f"{self.pool_max}: no class could be opened."
            )
        return Classes(
            n_features,
            scale2=float(self.bandwidth) ** 2,
            n_prototypes=int(self.n_prototypes),
            n_nearest=int(self.n_nearest),
            exponent=1.0 / (float(self.m) - 1.0),
            m=float(self.m),
            outlier=float(self.outlier),
            n_open=int(self.n_open),
            n_scale=int(self.n_scale),
            rate=float(self.rate),
            reach=float(self.reach),
            pool_max=int(self.pool_max),
            rng=np.random.default_rng(self.seed),
        )

    def _cluster(self) -> Offline:
        """The prototypes and their classes; StreamSoNG has no offline phase."""
        return Offline(self._online.prototypes.copy(), self._online.owners.copy())

    def _labels(self, rows: Floats) -> Integers:
        typicality, nearest = self._typicality_of(rows)
        if not typicality.shape[1]:
            return np.full(len(rows), -1, dtype=np.int64)
        best = typicality.argmax(axis=1)
        atypical = typicality.max(axis=1) < self.outlier
        other = self._online.owners[nearest] if self.hard else -1
        return np.where(atypical, other, best).astype(np.int64)

    def _typicality_of(self, rows: Floats) -> tuple[Floats, Integers]:
        """Typicality (n, classes) of rows, and the nearest prototype (n,) of each."""
        classes = self._online
        typicality = np.zeros((len(rows), len(classes.scales2)))
        nearest = np.zeros(len(rows), dtype=np.int64)
        if len(classes.scales2):
            for start, distance2 in distance_tables(rows, classes.prototypes):
                for i, row in enumerate(distance2, start=start):
                    typicality[i], nearest[i] = classes.typicality(row)
        return typicality, nearest
