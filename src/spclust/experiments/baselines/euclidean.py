"""Squared Euclidean distances of points from centres, and nearest centres."""

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from spclust.array_types import Floats, Integers

_LARGEST_TABLE = 4_000_000  # distances computed at once: 32 MB


def squared_distances(x: Floats, centres: Floats) -> Floats:
    """Squared distances (k,) of one point x (d,) from centres (k, d).

    By differences: scalar products would be faster but lose digits far from the origin.
    """
    delta = centres - x
    distance2: Floats = np.einsum("ij,ij->i", delta, delta)
    return distance2


def distance_tables(rows: Floats, centres: Floats) -> Iterator[tuple[int, Floats]]:
    """Squared distances of rows (n, d) from centres (k, d), some rows at a time.

    Yields the index of the first row of a table, and the table (rows, k).
    """
    step = max(1, _LARGEST_TABLE // max(1, len(centres)))
    for start in range(0, len(rows), step):
        yield start, cdist(rows[start : start + step], centres, "sqeuclidean")


def nearest(rows: Floats, centres: Floats) -> Integers:
    """Index (n,) of the nearest of centres (k, d), k > 0, of rows (n, d); ties: the first."""
    found = np.empty(len(rows), dtype=np.int64)
    for start, distance2 in distance_tables(rows, centres):
        found[start : start + len(distance2)] = distance2.argmin(axis=1)
    return found
