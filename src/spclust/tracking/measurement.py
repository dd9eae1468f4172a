"""What a look takes of the state, in one call: it is taken while points wait to be learnt."""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.jit.decorators import allocating, inner
from spclust.numerics.eight import LANES
from spclust.state.kinds import FULL, LOWRANK
from spclust.state.structures import KIND, SCALE, Structures, view_in_kernel

_LARGEST = np.finfo(np.float64).max


@allocating
def gathered(pool: Floats, order: Integers) -> tuple[Integers, Floats, Floats, Floats]:
    """Ids (k,), masses (k,), means (k, d) and variances (k,) of the structures in some slots.

    Means and variances, those of a feature on average, are in the unit of the data.
    """
    s = view_in_kernel(pool, FULL)  # whatever its kind: known sizes would gain nothing here
    k, d = order.size, s.unit.size
    ids, masses = np.empty(k, np.int64), np.empty(k)
    means, variances = np.empty((k, d)), np.empty(k)
    square = 0.0
    for c in range(d):
        square += (pool[SCALE] * s.unit[c]) ** 2 / d
    for i in range(k):
        slot = order[i]
        ids[i], masses[i] = int(s.id[slot]), s.total[slot]
        variances[i] = square * mean_variance(slot, s)
        b, lane = slot // LANES, slot % LANES
        for c in range(d):
            place = s.origin[c] + s.unit[c] * (s.anchor[b, c, lane] + s.drift[b, c, lane])
            means[i, c] = min(max(place, -_LARGEST), _LARGEST)
    return ids, masses, means, variances


@inner
def mean_variance(slot: int, s: Structures) -> float:
    """Variance of a feature, on average, in units of scale^2."""
    kind, total = s.head[KIND], 0.0
    if kind == FULL:
        d = s.Sigma.shape[1]
        for c in range(d):
            total += s.Sigma[slot, c, c]
        return total / d
    if kind == LOWRANK:
        base, d = s.base[slot], s.unit.size
        for k in range(int(s.rank[slot])):
            total += s.Sigma[slot, 0, k * (k + 3) // 2] - base
        return base + total / d
    numbers = s.Sigma.shape[2]  # one for each feature, or one for all
    for c in range(numbers):
        total += s.Sigma[slot, 0, c]
    return total / numbers
