"""Euclidean distances of a few points."""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import kernel


@kernel
def distances(z: Floats) -> Floats:
    """Euclidean distances (k, k) of rows z (k, d)."""
    k, d = z.shape
    D = np.empty((k, k))
    for i in range(k):
        D[i, i] = 0.0
        for j in range(i):
            total = 0.0
            for c in range(d):
                total += (z[i, c] - z[j, c]) * (z[i, c] - z[j, c])
            D[i, j] = D[j, i] = np.sqrt(total)
    return D
