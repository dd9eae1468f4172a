"""Basins of the density, which are proposed as clusters where density shows valleys."""

import numpy as np

from spclust.array_types import Integers
from spclust.auto.clusters.border import Field
from spclust.jit.decorators import kernel

_ROUNDING = 1e-12  # of a density


@kernel
def basins(field: Field, labels: Integers) -> Integers:
    """Basin (k,) of each structure: all steepest ways without a valley lead to one peak.

    -1 where the label (k,) is negative.
    """
    k, density, many = labels.size, field.density, 0
    above, rise = np.empty(k, np.int64), np.empty(k)
    basin, number = np.empty(k, np.int64), np.empty(k, np.int64)
    for i in range(k):
        above[i], rise[i], basin[i], number[i] = i, 0.0, -1, -1
    for e in range(field.edges.shape[0]):
        low, high = field.edges[e, 0], field.edges[e, 1]
        if density[low] > density[high]:
            low, high = high, low
        climb = density[high] - density[low]
        level = climb == 0.0 and above[low] == low  # copies: the way leads to the oldest one
        valley = field.lowest[e] < density[low] * (1.0 - _ROUNDING)
        if not valley and (climb > rise[low] or level):
            above[low], rise[low] = high, climb
    for i in range(k):
        peak = i
        while above[peak] != peak:
            peak = above[peak]
        if number[peak] < 0 <= labels[i]:
            number[peak] = many
            many += 1
        basin[i] = number[peak] if labels[i] >= 0 else -1
    return basin
