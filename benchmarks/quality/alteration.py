"""Alterations of streams that should not change the clusters: outliers, a glitch, other units."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers

OUTLIERS = 0.05
GLITCH = 1e6
ALTERATIONS = ("none", "5 % outliers", "glitch", "unit 1e-6", "unit 1e6")


class Labelled(NamedTuple):
    """Rows in order of arrival and their clusters; -1 is not scored."""

    X: Floats  # (n, d)
    y: Integers  # (n,)


def with_outliers(data: Labelled, seed: int, share: float = OUTLIERS) -> Labelled:
    """The stream with rows scattered uniformly over its range, a share of all rows, y = -1."""
    rng, (X, y) = np.random.default_rng(seed), data
    many = round(share / (1.0 - share) * len(X))
    low, high = X.min(axis=0), X.max(axis=0)
    where = np.sort(rng.integers(0, len(X) + 1, many))
    rows = rng.uniform(low, high, (many, X.shape[1]))
    return Labelled(np.insert(X, where, rows, axis=0), np.insert(y, where, -1))


def with_glitch(data: Labelled, seed: int) -> Labelled:
    """The stream with one row at 10^6 standard deviations, after half of the rows, y = -1."""
    rng, (X, y) = np.random.default_rng(seed), data
    row = GLITCH * X.std(axis=0) * rng.choice([-1.0, 1.0], X.shape[1])
    half = len(X) // 2
    return Labelled(np.insert(X, half, row, axis=0), np.insert(y, half, -1))


def in_units(data: Labelled, factor: float) -> Labelled:
    """The stream with all coordinates multiplied by a factor."""
    return Labelled(data.X * factor, data.y)


def altered(data: Labelled, alteration: str, seed: int) -> Labelled:
    """The stream after one of `ALTERATIONS`."""
    if alteration == "none":
        return data
    if alteration == "5 % outliers":
        return with_outliers(data, seed)
    if alteration == "glitch":
        return with_glitch(data, seed)
    return in_units(data, float(alteration.removeprefix("unit ")))
