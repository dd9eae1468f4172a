"""Streams of points with named features, to test with."""

import numpy as np

NAMES = ("a", "b", "c", "d", "e", "f")
KINDS = ("full", "lowrank", "diag", "spherical")


def as_points(X):
    """Each row of X as River has it."""
    return [dict(zip(NAMES, row, strict=False)) for row in np.asarray(X).tolist()]


def two_blobs(n=300, d=2, seed=0):
    """Points (n, d) of two clusters in turn, and their clusters (n,)."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return 20.0 * y[:, np.newaxis] + rng.normal(size=(n, d)), y


def lines(n, d, seed):
    """Points of four clusters that are nearly lines, in any direction, and their clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    v = rng.normal(size=(4, d))
    v *= 5.0 / np.linalg.norm(v, axis=1, keepdims=True)
    centres = rng.uniform(-20, 20, size=(4, d))
    along, around = rng.normal(size=(n, 1)), 0.3 * rng.normal(size=(n, d))
    return centres[y] + along * v[y] + around, y


class WithOutliers:
    """A re-iterable dataset of (point, whether it is an outlier): far outliers, 1 in 50."""

    def __init__(self, n=400, d=5):
        X, _ = two_blobs(n, d)
        rng = np.random.default_rng(1)
        self.outlier = rng.random(n) < 0.02
        self.outlier[:50] = False
        X[self.outlier] = rng.uniform(-500, 500, size=(self.outlier.sum(), d))
        self.points = as_points(X)

    def __iter__(self):
        return zip(map(dict, self.points), self.outlier.tolist(), strict=True)


def learnt(model, points):
    for x in points:
        model.learn_one(x)
    return model


def what_was_learnt(model):
    """All that a model has learnt; not the labels that clusters got when they were read."""
    return model._known.names, model._known.stream.params, pool(model)


def pool(model):
    """The whole state, but for names."""
    return model._known.stream.structures.memory.tobytes()
