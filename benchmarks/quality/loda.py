"""LODA: histograms of sparse random projections (T. Pevny, Machine Learning 102, 2016)."""

from typing import Self

import numpy as np

from spclust.array_types import Floats, Integers


class Loda:
    """Mean log density of a row over histograms of random projections.

    Each projection has sqrt(d) non-zero weights; a histogram of n rows has sqrt(n) bins, and half
    a row more in each, also in those outside the range of the rows.
    """

    def __init__(self, n_projections: int = 100, seed: int = 0) -> None:
        self.n_projections, self.seed = n_projections, seed

    def fit(self, X: Floats) -> Self:
        """Count the rows of X (n, d) in the bins of all projections."""
        rng, (n, d) = np.random.default_rng(self.seed), X.shape
        order = rng.random((self.n_projections, d)).argsort(axis=1)
        self.weights = rng.normal(size=order.shape) * (order < np.ceil(np.sqrt(d)))
        values = X @ self.weights.T
        self.low, self.bins = values.min(axis=0), round(np.sqrt(n))
        self.width = np.maximum(np.ptp(values, axis=0) / self.bins, 1e-12)
        counts = np.full((self.n_projections, self.bins + 2), 0.5)
        np.add.at(counts, (np.arange(self.n_projections), self._bin(values)), 1.0)
        self.log_density = np.log(counts / n / self.width[:, None])
        return self

    def score_samples(self, X: Floats) -> Floats:
        """Mean log density (n,) of each row of X (n, d)."""
        bins = self._bin(X @ self.weights.T)
        mean: Floats = self.log_density[np.arange(self.n_projections), bins].mean(axis=1)
        return mean

    def get_params(self) -> dict[str, int]:
        """The number of projections."""
        return {"n_projections": self.n_projections}

    def _bin(self, values: Floats) -> Integers:
        """Bin of each value: 0 is below the range of the rows, the last above it."""
        place = np.ceil((values - self.low) / self.width)
        place[values == self.low] = 1
        bins: Integers = np.clip(place, 0, self.bins + 1).astype(np.int64)
        return bins
