"""Euclidean distances of a few points."""

import numpy as np

from spclust.arrays import Floats
from spclust.jit.decorators import kernel


@kernel
def distances(z: Floats) -> Floats:
    """Euclidean distances (k, k) of rows z (k, d)."""
    k, d = z.shape
    D = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            total = 0.0
            for c in range(d):
                total += (z[i, c] - z[j, c]) ** 2
            D[i, j] = D[j, i] = np.sqrt(total)
    return D
