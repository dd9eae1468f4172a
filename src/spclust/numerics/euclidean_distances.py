"""Euclidean distances of a few points."""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import kernel, reduction


@reduction
def square_distance(a: Floats, b: Floats) -> float:
    """Squared distance of two points (d,)."""
    total = 0.0
    for c in range(a.size):
        total += (a[c] - b[c]) * (a[c] - b[c])
    return total


@kernel
def distances(z: Floats) -> Floats:
    """Euclidean distances (k, k) of rows z (k, d)."""
    k = z.shape[0]
    D = np.empty((k, k))
    for i in range(k):
        D[i, i] = 0.0
        for j in range(i):
            D[i, j] = D[j, i] = np.sqrt(square_distance(z[i], z[j]))
    return D
