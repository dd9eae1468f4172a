"""Rows to learn, their time stamps, and rows to ask about."""

import numpy as np

from spclust import datasets


def blobs(rng, n, d, clusters=4):
    """Round clusters of standard deviation 1."""
    centres = rng.uniform(-10.0, 10.0, size=(clusters, d))
    return centres[rng.integers(clusters, size=n)] + rng.normal(size=(n, d))


def lines(rng, n, d, clusters=3):
    """Clusters that are long and thin, in any direction."""
    y = rng.integers(clusters, size=n)
    along = rng.normal(size=(clusters, d)) * 4.0
    centres = rng.uniform(-20.0, 20.0, size=(clusters, d))
    return centres[y] + along[y] * rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d))


def wandering(rng, n, d):
    """Clusters that move all the time, some of which end early."""
    X = blobs(rng, n, d, clusters=3) + np.linspace(0.0, 30.0, n)[:, np.newaxis]
    X[n // 2 :, 0] -= 40.0
    return X


def grid(rng, n, d):
    """Whole numbers: copies of a few points, and distances that are equal to the last bit."""
    return rng.integers(-3, 4, size=(n, d)) * 2.0


def heavy(rng, n, d):
    """Points of which a few are extremely far away."""
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(0.0, 10.0, size=(n, 1))


def uneven(rng, n, d):
    """Features whose units differ by twelve orders of magnitude."""
    return lines(rng, n, d) * np.logspace(-6.0, 6.0, d)


def constant(rng, n, d):
    """Features that never change, that change late, and that change once."""
    X = blobs(rng, n, d)
    X[:, 0] = 7.25
    X[: n // 3, 1] = -1.0
    X[:, 2] = 0.0
    X[n // 2, 2] = 1e3
    return X


def drifting(rng, n, d):
    """Clusters that are born, die, merge, split and move."""
    return datasets.make_drifting(n, n_features=d, n_events=4, seed=int(rng.integers(1000)))[0]


def times(rng, n):
    """Irregular time stamps: many are equal, some come after a long time."""
    gaps = rng.exponential(size=n) * (rng.random(n) < 0.8)
    gaps[rng.random(n) < 0.01] = 60.0
    return 1.7e9 + np.cumsum(np.round(gaps, 3))


def probes(rng, X, n=150):
    """Rows to ask about: learnt ones, points near them, and points far from all."""
    some = X[rng.integers(len(X), size=n)]
    width = np.abs(X).max(axis=0) * rng.choice([0.0, 0.01, 1.0, 100.0], size=(n, 1))
    return some + width * rng.uniform(-1.0, 1.0, size=some.shape)
