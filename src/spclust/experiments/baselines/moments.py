"""The micro-clusters of CluStream: means and variances of points and of their times."""

import math

import numpy as np

from spclust.arrays import Floats
from spclust.experiments.baselines.base import Online
from spclust.experiments.baselines.parts import squared_distances


class Moments(Online):
    """Online phase of CluStream: River's, but for all micro-clusters at once.

    Sums are written in River's order: between the two there is no other rounding than that of
    distances, and micro-clusters differ only where two distances tie up to that.

    The first `size` points become a micro-cluster each. From then on a point that does not fit
    into the nearest one takes the place of one that is out of date, or of one that is merged
    into the nearest other.
    """

    def __init__(
        self, n_features: int, size: int, window: float, factor: float, of_mean: bool
    ) -> None:
        self.window = window
        self.factor = factor
        self.of_mean = of_mean
        self.size = size
        self.n = 0  # micro-clusters; `size` at the most
        self.now = -1  # number of the last point, from 0
        self.count = np.zeros(size)
        self.mean = np.zeros((size, n_features))
        self.scatter = np.zeros((size, n_features))  # sums of squared deviations, by feature
        self.time_mean = np.zeros(size)
        self.time_scatter = np.zeros(size)
        self.apart = np.full((size, size), np.inf)  # distances of the means; inf from itself

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for x in rows:
            self.now += 1
            if self.n < self.size:
                self.n += 1
                # They count as of the moment when all of them are there, as in River.
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
        """Make micro-cluster i that of x (d,) alone."""
        self.count[i], self.mean[i], self.scatter[i] = 1.0, x, 0.0
        self.time_mean[i], self.time_scatter[i] = time, 0.0
        self._measure(i)

    def _measure(self, i: int) -> None:
        distance = np.sqrt(squared_distances(self.mean[i], self.mean[: self.n]))
        distance[i] = np.inf
        self.apart[i, : self.n] = self.apart[: self.n, i] = distance

    def _place_for_another(self) -> int:
        """Free one place: the first that is out of date, else one of the two closest."""
        late = np.flatnonzero(self._stamps() < self.now - self.window)
        if len(late):
            return int(late[0])
        # Below the diagonal, row by row: among equals the same pair as in River.
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
        """Times (size,) that stand for the last points of each micro-cluster.

        It is the mean time of a small one, and a quantile of its times, taken as normal, of one
        with at least twice as many points as there are micro-clusters.
        """
        stamps = self.time_mean.copy()
        for i in np.flatnonzero(self.count >= 2 * self.size).tolist():
            spread = math.sqrt(self.time_scatter[i] / (self.count[i] - 1.0))
            share = self.size / (2.0 * self.count[i])
            stamps[i] += spread * math.sqrt(2.0) * _inverse_error_function(2.0 * share - 1.0)
        return stamps


# Powers of z = sqrt(pi) x, from z^3, in the series of the inverse error function of x.
_SERIES = (
    1 / 24,
    7 / 960,
    127 / 80640,
    4369 / 11612160,
    34807 / 364953600,
    20036983 / 797058662400,
)


def _inverse_error_function(x: float) -> float:
    """River's: it breaks off after seven terms, and has x / 2 for the first one, z / 2.

    It is up to two fifths too small, so that old micro-clusters pass for younger ones. As it
    decides which of them are removed, agreeing with River takes this one.
    """
    z = math.sqrt(math.pi) * x
    return x / 2.0 + sum(term * z ** (2 * k + 3) for k, term in enumerate(_SERIES))
