"""Micro-clusters of CluStream: means and variances of points and of their times."""

import math

import numpy as np

from spclust.array_types import Floats
from spclust.experiments.baselines.euclidean import squared_distances
from spclust.experiments.baselines.stream_clusterer import Online


class Moments(Online):
    """Online phase of CluStream: River's, with arrays over all micro-clusters.

    Sums are computed in River's order. Only distances are rounded differently, so that
    micro-clusters differ from River's only where two distances are equal up to rounding.

    Each of the first `size` points becomes a micro-cluster. After that, a point that does not fit
    into the nearest one replaces one that is out of date; if there is none, the two closest
    micro-clusters are merged to make room.
    """

    def __init__(
        self, n_features: int, size: int, window: float, factor: float, of_mean: bool
    ) -> None:
        self.window = window
        self.factor = factor
        self.of_mean = of_mean
        self.size = size
        self.n = 0  # number of micro-clusters, at most `size`
        self.now = -1  # number of the last point, from 0
        self.count = np.zeros(size)
        self.mean = np.zeros((size, n_features))
        self.scatter = np.zeros((size, n_features))  # sums of squared deviations, by feature
        self.time_mean = np.zeros(size)
        self.time_scatter = np.zeros(size)
        self.apart = np.full((size, size), np.inf)  # distances between means; inf on the diagonal

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for x in rows:
            self.now += 1
            if self.n < self.size:
                self.n += 1
                # As in River, the time of the first points is that of the last of them.
                self._replace(self.n - 1, x, self.size - 1)
                continue
            distance = np.sqrt(squared_distances(x, self.mean))
            nearest = int(distance.argmin())
            if distance[nearest] < self._boundary(nearest):
                self._insert(nearest, x)
            else:
                self._replace(self._place_for_another(), x, self.now)

    def _boundary(self, i: int) -> float:
        """Distance within which a point fits into micro-cluster i."""
        if self.count[i] == 1:
            return float(self.apart[i].min())
        variance = self.scatter[i] / (self.count[i] - 1.0)
        if self.of_mean:
            return self.factor * float(np.mean(np.sqrt(variance)))
        return self.factor * math.sqrt(float(np.sum(variance)))

    def _insert(self, i: int, x: Floats) -> None:
        """Add x (d,) to micro-cluster i (Welford)."""
        self.count[i] += 1.0
        part = 1.0 / self.count[i]
        before = x - self.mean[i]
        self.mean[i] += part * before
        self.scatter[i] += before * (x - self.mean[i])
        before_time = self.now - self.time_mean[i]
        self.time_mean[i] += part * before_time
        self.time_scatter[i] += before_time * (self.now - self.time_mean[i])
        self._measure(i)

    def _replace(self, i: int, x: Floats, time: int) -> None:
        """Replace micro-cluster i by one of the single point x (d,)."""
        self.count[i], self.mean[i], self.scatter[i] = 1.0, x, 0.0
        self.time_mean[i], self.time_scatter[i] = time, 0.0
        self._measure(i)

    def _measure(self, i: int) -> None:
        distance = np.sqrt(squared_distances(self.mean[i], self.mean[: self.n]))
        distance[i] = np.inf
        self.apart[i, : self.n] = self.apart[: self.n, i] = distance

    def _place_for_another(self) -> int:
        """Index to reuse: the first that is out of date, else one of the two closest."""
        late = np.flatnonzero(self._stamps() < self.now - self.window)
        if len(late):
            return int(late[0])
        # Below the diagonal, row by row: ties are broken as in River.
        below = np.where(np.tri(self.size, k=-1, dtype=bool), self.apart, np.inf)
        a, b = divmod(int(below.argmin()), self.size)
        self._merge(a, b)
        return b

    def _merge(self, a: int, b: int) -> None:
        """Merge micro-cluster b into a."""
        n_a, n_b = self.count[a], self.count[b]
        total = n_a + n_b
        for mean, scatter in (
            (self.mean, self.scatter),
            (self.time_mean, self.time_scatter),
        ):
            scatter[a] += scatter[b] + (mean[a] - mean[b]) ** 2 * n_a * n_b / total
            mean[a] = (n_a * mean[a] + n_b * mean[b]) / total
        self.count[a] = total
        self._measure(a)

    def _stamps(self) -> Floats:
        """Relevance times (size,): about when the last points of each micro-cluster came.

        For a micro-cluster with fewer points than twice the number of micro-clusters it is the
        mean time of its points, else a quantile of a normal distribution fitted to their times.
        """
        stamps = self.time_mean.copy()
        for i in np.flatnonzero(self.count >= 2 * self.size).tolist():
            deviation = math.sqrt(self.time_scatter[i] / (self.count[i] - 1.0))
            share = self.size / (2.0 * self.count[i])
            stamps[i] += deviation * math.sqrt(2.0) * _inverse_error_function(2.0 * share - 1.0)
        return stamps


# Coefficients of z^3, z^5, ..., z = sqrt(pi) x, in the series of the inverse error function of x.
_SERIES = (
    1 / 24,
    7 / 960,
    127 / 80640,
    4369 / 11612160,
    34807 / 364953600,
    20036983 / 797058662400,
)


def _inverse_error_function(x: float) -> float:
    """River's approximation: seven terms of the series, the first x / 2 instead of z / 2.

    It is up to two fifths too small, so that old micro-clusters seem younger. It decides which
    of them are removed: to agree with River, its error is kept.
    """
    z = math.sqrt(math.pi) * x
    return x / 2.0 + sum(term * z ** (2 * k + 3) for k, term in enumerate(_SERIES))
