"""StreamSoNG: neural-gas prototypes with typicalities (Wu, Keller, Dale and Bezdek, 2021)."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from spclust.arrays import Floats, Integers
from spclust.experiments.baselines.base import Offline, StreamClusterer
from spclust.experiments.baselines.neural_gas import Classes

_CELLS_AT_ONCE = 4_000_000  # of a table of distances: 32 MB


class StreamSoNG(StreamClusterer):
    """StreamSoNG: classes of prototypes, new ones opened from a pool of atypical points.

    The typicality of a point in a class comes from the nearest prototypes of all classes. A point
    that is typical of a class pulls the prototypes of that class. One that is typical of none
    waits in a pool; as soon as `n_open` points of the pool lie together they become a class. No
    class is ever merged or dropped. The first class is opened in the same way: no labels needed.

    Parameters
    ----------
    bandwidth : float, default 1.0
        Distance, in the unit of the data, at which a point of the pool is half typical of a class
        to be opened: about a third of the diameter of a cluster.
    n_prototypes : int, default 10
        Prototypes of a class, at most.
    n_nearest : int, default 3
        Nearest prototypes that a point is compared with.
    m : float, default 1.5
        Fuzzifier, above 1. The smaller, the sharper the edge of a class.
    outlier : float, default 0.1
        Typicality below which a point goes to the pool; 0 to 1.
    n_open : int, default 10
        Points of the pool, each more than half typical, that open a class.
    n_scale : int, default 3
        Neighbours of a prototype in its class from which the scale of the class is taken.
    rate : float, default 0.1
        Share of the way to a wholly typical point that the nearest prototype moves; 0 to 1.
    reach : float, default 2.0
        Ranks by distance over which that share falls to 1 / e.
    pool_max : int, default 2000
        Points of the pool, at most; the oldest goes first.
    hard : bool, default True
        Whether an atypical point gets the class of the nearest prototype, instead of -1.
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 1e-150, 1e150, closed="both")],
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "n_nearest": [Interval(Integral, 1, None, closed="left")],
        "m": [Interval(Real, 1, None, closed="neither")],
        "outlier": [Interval(Real, 0, 1, closed="both")],
        "n_open": [Interval(Integral, 1, None, closed="left")],
        "n_scale": [Interval(Integral, 1, None, closed="left")],
        "rate": [Interval(Real, 0, 1, closed="both")],
        "reach": [Interval(Real, 0, None, closed="neither")],
        "pool_max": [Interval(Integral, 1, None, closed="left")],
        "hard": ["boolean"],
        "seed": [Interval(Integral, 0, None, closed="left")],
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
                f"{self.pool_max}: no class could ever be opened."
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
        """The prototypes and their classes: there is no offline phase."""
        return Offline(self._online.prototypes.copy(), self._online.owners.copy())

    def _labels(self, rows: Floats) -> Integers:
        typicality, nearest = self._typicality_of(rows)
        if not typicality.shape[1]:
            return np.full(len(rows), -1, dtype=np.int64)
        best = typicality.argmax(axis=1)
        lost = typicality.max(axis=1) < self.outlier
        other = self._online.owners[nearest] if self.hard else -1
        return np.where(lost, other, best).astype(np.int64)

    def _typicality_of(self, rows: Floats) -> tuple[Floats, Integers]:
        """Typicality (n, classes) of rows, and the nearest prototype (n,) of each."""
        classes = self._online
        found = np.zeros((len(rows), len(classes.scales2)))
        nearest = np.zeros(len(rows), dtype=np.int64)
        step = max(1, _CELLS_AT_ONCE // max(1, len(classes.prototypes)))
        for at in range(0, len(rows) if len(classes.scales2) else 0, step):
            distance2 = cdist(rows[at : at + step], classes.prototypes, "sqeuclidean")
            for i, row in enumerate(distance2, start=at):
                found[i], nearest[i] = classes.typicality(row)
        return found, nearest
