"""Classes of StreamSoNG: prototypes that follow the stream, and a pool of atypical points."""

import numpy as np

from spclust.array_types import Booleans, Floats
from spclust.experiments.baselines.euclidean import squared_distances
from spclust.experiments.baselines.stream_clusterer import Online

# Training of a new class: learning rate and range, in ranks, decrease exponentially in 20 passes.
_PASSES = 20
_FIRST_RATE, _LAST_RATE = 0.5, 0.005
_LAST_RANGE = 0.01
# One-means on the pool stops after this many rounds, or at a step of this share of its bandwidth.
_ROUNDS = 50
_SMALL_STEP = 1e-6


class Classes(Online):
    """Online phase of StreamSoNG. Every `scale2` is a squared length."""

    def __init__(
        self,
        n_features: int,
        scale2: float,
        n_prototypes: int,
        n_nearest: int,
        exponent: float,
        m: float,
        outlier: float,
        n_open: int,
        n_scale: int,
        rate: float,
        reach: float,
        pool_max: int,
        rng: np.random.Generator,
    ) -> None:
        self.scale2 = scale2
        self.n_prototypes = n_prototypes
        self.n_nearest = n_nearest
        self.exponent = exponent
        self.m = m
        self.outlier = outlier
        self.n_open = n_open
        self.n_scale = n_scale
        self.rate = rate
        self.reach = reach
        self.pool_max = pool_max
        self.rng = rng
        self.prototypes = np.empty((0, n_features))
        self.owners = np.empty(0, dtype=np.int64)  # class of each prototype
        self.scales2 = np.empty(0)  # of each class
        self.pool = np.empty((0, n_features))  # oldest first

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for x in rows:
            if len(self.scales2):
                distance2 = squared_distances(x, self.prototypes)
                typicality, _ = self.typicality(distance2)
                best = int(typicality.argmax())
                if typicality[best] >= self.outlier:
                    self._pull(x, best, float(typicality[best]), distance2)
                    continue
            too_many = len(self.pool) + 1 - self.pool_max
            self.pool = np.concatenate([self.pool[max(0, too_many) :], x[np.newaxis]])
            if len(self.pool) >= self.n_open:
                self._open()

    def typicality(self, distance2: Floats) -> tuple[Floats, int]:
        """Typicality of a point in each class, and its nearest prototype.

        Given are its squared distances from all prototypes. The typicality in a class is the mean
        over the prototypes of the class among the nearest prototypes, 0 if there are none.
        """
        near = np.argsort(distance2, kind="stable")[: self.n_nearest]
        owners = self.owners[near]
        t = _typicality(distance2[near], self.scales2[owners], self.exponent)
        n = len(self.scales2)
        votes = np.bincount(owners, minlength=n)
        return np.bincount(owners, weights=t, minlength=n) / np.maximum(votes, 1), int(near[0])

    def _pull(self, x: Floats, best: int, typicality: float, distance2: Floats) -> None:
        """Move all prototypes of the class towards x (d,), the nearest ones farthest."""
        own = np.flatnonzero(self.owners == best)
        own = own[np.argsort(distance2[own], kind="stable")]
        share = self.rate * typicality * np.exp(-np.arange(len(own)) / self.reach)
        self.prototypes[own] += share[:, np.newaxis] * (x - self.prototypes[own])

    def _open(self) -> None:
        """Open a class if enough points of the pool lie together around its centre."""
        members = self._together()
        if np.count_nonzero(members) < self.n_open:
            return
        gas = self._trained(self.pool[members])
        self.prototypes = np.concatenate([self.prototypes, gas])
        self.owners = np.concatenate([self.owners, np.full(len(gas), len(self.scales2))])
        self.scales2 = np.append(self.scales2, self._class_scale2(gas))
        self.pool = self.pool[~members]

    def _together(self) -> Booleans:
        """Points of the pool with typicality above 1/2; one-means started at the newest point."""
        centre = self.pool[-1]
        for _ in range(_ROUNDS):
            delta = self.pool - centre
            distance2 = np.einsum("ij,ij->i", delta, delta)
            u = _typicality(distance2, self.scale2, self.exponent)
            share = u**self.m
            step = share @ delta / share.sum()
            centre = centre + step
            if step @ step < _SMALL_STEP**2 * self.scale2:
                break
        found: Booleans = u > 0.5
        return found

    def _trained(self, points: Floats) -> Floats:
        """Neural gas: prototypes (p, d) for points (n, d)."""
        n = len(points)
        p = min(self.n_prototypes, n)
        gas = points[self.rng.choice(n, p, replace=False)]
        order = np.concatenate([self.rng.permutation(n) for _ in range(_PASSES)])
        done = np.arange(len(order)) / len(order)
        rate = _FIRST_RATE * (_LAST_RATE / _FIRST_RATE) ** done
        reach = p / 2.0 * (_LAST_RANGE / (p / 2.0)) ** done
        shares = rate[:, np.newaxis] * np.exp(-np.arange(p) / reach[:, np.newaxis])
        for i, share in zip(order.tolist(), shares, strict=True):
            nearest_first = np.argsort(squared_distances(points[i], gas), kind="stable")
            gas[nearest_first] += share[:, np.newaxis] * (points[i] - gas[nearest_first])
        return gas

    def _class_scale2(self, gas: Floats) -> float:
        """Mean squared distance of prototypes from their nearest ones of the same class."""
        n = min(self.n_scale, len(gas) - 1)
        if n == 0:
            return self.scale2
        near = [np.sort(squared_distances(v, gas))[1 : n + 1] for v in gas]  # the first is itself
        return float(np.mean(near)) or self.scale2  # 0 if all are copies of one point


def _typicality(distance2: Floats, scale2: Floats | float, exponent: float) -> Floats:
    """1 / (1 + (distance2 / scale2)^exponent): 1/2 where the distance is the scale."""
    with np.errstate(over="ignore"):
        t: Floats = 1.0 / (1.0 + (distance2 / scale2) ** exponent)
    return t
