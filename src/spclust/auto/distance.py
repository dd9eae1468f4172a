"""Distances: a point in coordinates, in the metric, and its distances to all structures.

    y = (x - origin) / unit          z = A y          q_i = |z - z_i|^2

The difference to the origin comes first, so that a stream far from 0 loses no digits. q_i is the
squared Mahalanobis distance of Eq. 2, with one covariance for all structures: see `auto.metric`.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import part
from spclust.numerics.eight import LANES, load, same, store
from spclust.state.automatic_structures import AutomaticStructures

FARTHEST = 1e140  # coordinate: larger ones are taken to be this large
OUT_OF_SIGHT = 1e6  # coordinate of a value that is the first to differ in its feature


@part
def write_coordinates(X: Floats, start: int, y: Floats, s: AutomaticStructures) -> bool:
    """Coordinates y (d,) of the numbers of X from `start` on; False if they cannot be learnt.

    That is if one is not finite, or the first to differ in its feature. Modified in place: y.
    """
    known = True
    for c in range(s.d):
        offset = X[start + c] - s.origin[c]
        if not abs(offset) < np.inf:
            known = False
            offset = np.copysign(FARTHEST, offset)
        elif s.unit[c] > 0.0:
            offset = min(max(offset / s.unit[c], -FARTHEST), FARTHEST)
        elif offset != 0.0:
            known = False
            offset = np.copysign(OUT_OF_SIGHT, offset)
        y[c] = offset
    return known


@part
def into_metric(y: Floats, z: Floats, s: AutomaticStructures) -> None:
    """The point of coordinates y (d,) in the metric: z = A y. Modified in place: z."""
    A = s.metric
    for r in range(s.d):
        if s.diagonal:
            z[r] = A[0, r] * y[r]
        else:
            total = 0.0
            for c in range(r + 1):
                total += A[r, c] * y[c]
            z[r] = total


@part
def write_distances(z: Floats, distance: Floats, s: AutomaticStructures) -> None:
    """Squared distances (n,) of a point z (d,) to all structures. Modified in place: distance."""
    for b in range((s.live + LANES - 1) // LANES):
        total, block = same(0.0), s.z[b]
        for c in range(s.d):
            offset = load(block, c) - z[c]
            total += offset * offset
        store(total, distance, b * LANES)
