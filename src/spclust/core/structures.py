"""The set S of structures: one block of memory, and the few functions that write to it.

All numbers of a stream live in one flat float64 array, the *pool*: it is the whole state, it never
grows, two states are equal when their pools are, and handing one array to a kernel costs least.
`view` names its parts in Python, `view_in_kernel` in compiled code.

Units. The core measures every point from the first one it saw (`origin`), in units of `scale`:
z = (x - origin) / scale. A fresh structure then has spread I, every spread is at least I, and a
stream around 10^8 or in units of 10^-150 is computed exactly like one around 0 in units of 1.

Slots. Structures sit in slots 0 .. live-1, in no particular order: a slot that falls free is
filled from the end. Their order of creation is the order of their ids. A structure's index is the
LAST axis of the arrays that are read at every point, so that one instruction serves eight of them.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, paragraph
from spclust.core.typicality import LARGEST_LINEAR_EXPONENT, linear_range
from spclust.params import Params

# Where things are in the pool's head.
CAPACITY, FEATURES, EXPONENT, GAMMA, BETA, W_MIN, NLT_MAX, SCALE = range(8)
LIVE, SEEN, PRUNED, MERGED, IN_LOGS, EVALUATIONS, RESCANS = range(8, 15)
_HEAD = 16

# Points further than this many scales from the first one are taken to lie that far away: squares
# of such distances, summed over ten thousand features, are the largest that can be represented.
FARTHEST = 1e150


class Structures(NamedTuple):
    """Named views of a pool; n is the number of slots, d of features, t = d (d + 1) / 2."""

    head: Any  # parameters, and what happened so far
    origin: Any  # (d,) the first point, in the units of the data
    mean: Any  # (d, n) mu, in stream units
    whiten: Any  # (t, n) W row by row, lower triangular, W^T W = Sigma^-1
    Sigma: Any  # (n, d, d) spread, in stream units
    total: Any  # (n,) B(age) w: the weight w of Eq. 7 before its division
    mass: Any  # (n,) B(age) of Eq. 9
    count: Any  # (n,) points absorbed: the T of Gamma
    age: Any  # (n,) weight updates lived through, plus one: the T of B
    id: Any  # (n,) number of the point that founded it
    odds: Any  # (n, n) [i, j]: odds of mean i in structure j; the diagonal is inf
    pair: Any  # (n, n) symmetric: odds of D(i, j); the diagonal is inf
    nearest: Any  # (n,) slot of the structure with the smallest pair odds
    nearest_odds: Any  # (n,) those odds


def slots(n_structures: int) -> int:
    """Slots to hold N structures and the newest point, rounded up to whole vector registers."""
    return (n_structures + 1 + 7) // 8 * 8


def pool_size(n_structures: int, d: int) -> int:
    """Floats in the pool of a stream of d features."""
    n = slots(n_structures)
    return _HEAD + d + n * (d + d * (d + 1) // 2 + d * d + 7 + 2 * n)


def empty_pool(params: Params, d: int) -> Floats:
    """The state before the first point."""
    pool = np.zeros(pool_size(params.n_structures, d))
    pool[CAPACITY], pool[FEATURES] = params.n_structures, d
    configure(pool, params)
    pool[IN_LOGS] = params.exponent > LARGEST_LINEAR_EXPONENT
    return pool


def configure(pool: Floats, params: Params) -> None:
    """Write the parameters of the online phase. Modified in place: pool."""
    pool[EXPONENT], pool[SCALE] = params.exponent, params.scale
    pool[GAMMA], pool[BETA] = params.gamma, params.beta
    pool[W_MIN], pool[NLT_MAX] = params.w_min, params.nlt_max


def view(pool: Any) -> Structures:
    """Name the parts of a pool: arrays that share its memory."""
    d = int(pool[FEATURES])
    n = (int(pool[CAPACITY]) + 8) // 8 * 8
    t = d * (d + 1) // 2
    origin = _HEAD
    mean = origin + d
    whiten = mean + d * n
    Sigma = whiten + t * n
    rows = Sigma + n * d * d
    odds = rows + 7 * n
    pair = odds + n * n
    end = pair + n * n
    row = pool[rows:odds].reshape(7, n)
    return Structures(
        pool[:_HEAD],
        pool[origin:mean],
        pool[mean:whiten].reshape(d, n),
        pool[whiten:Sigma].reshape(t, n),
        pool[Sigma:rows].reshape(n, d, d),
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        pool[odds:pair].reshape(n, n),
        pool[pair:end].reshape(n, n),
        row[5],
        row[6],
    )


view_in_kernel = paragraph(view)


@paragraph
def into_stream_units(x: Floats, s: Structures, z: Floats) -> None:
    """Z (d,) = (x - origin) / scale, kept within reach. Modified in place: z."""
    for c in range(z.size):
        z[c] = min(max((x[c] - s.origin[c]) / s.head[SCALE], -FARTHEST), FARTHEST)


@kernel
def distances_of_point(
    z: Floats, mean: Floats, whiten: Floats, live: int, offset: Floats, q: Floats
) -> None:
    """Squared distance of one point z (d,) in every live structure. Modified in place: offset, q.

    The bracket of Eq. (2), for all structures at once. offset is scratch (d, n); q is (n,).
    """
    d = z.size
    for i in range(live):
        q[i] = 0.0
    y = np.empty(live)
    t = 0
    for r in range(d):
        for i in range(live):
            offset[r, i] = z[r] - mean[r, i]
            y[i] = 0.0
        for c in range(r + 1):
            for i in range(live):
                y[i] += whiten[t, i] * offset[c, i]
            t += 1
        for i in range(live):
            q[i] += y[i] * y[i]


@kernel
def distances_in_structure(
    slot: int, mean: Floats, whiten: Floats, live: int, offset: Floats, q: Floats
) -> None:
    """Squared distance of every live mean in the one structure of `slot`.

    The bracket of Eq. (2), the other way round. Modified in place: offset (d, n), q (n,).
    """
    d = mean.shape[0]
    for i in range(live):
        q[i] = 0.0
    y = np.empty(live)
    t = 0
    for r in range(d):
        for i in range(live):
            offset[r, i] = mean[r, i] - mean[r, slot]
            y[i] = 0.0
        for c in range(r + 1):
            for i in range(live):
                y[i] += whiten[t, slot] * offset[c, i]
            t += 1
        for i in range(live):
            q[i] += y[i] * y[i]


@kernel
def has_left_linear_range(q: Floats, p: float) -> bool:
    """Whether q^p of any of these squared distances can't be told apart from 0 or infinity."""
    low, high = linear_range(p)
    left = False
    for i in range(q.size):
        left |= q[i] > high or 0.0 < q[i] < low
    return left


@kernel
def take_logarithms(live: int, odds: Floats, pair: Floats, nearest_odds: Floats) -> None:
    """From now on hold the logarithms of all odds. Modified in place: all three arrays."""
    for i in range(live):
        nearest_odds[i] = np.log(nearest_odds[i])
        for j in range(live):
            odds[i, j] = np.log(odds[i, j])
            pair[i, j] = np.log(pair[i, j])


@kernel
def scan_for_nearest(row: Floats, ids: Floats, live: int) -> int:
    """Slot with the smallest entry of `row`; among equals the structure created first (E12)."""
    best = 0
    for j in range(1, live):
        if row[j] < row[best] or (row[j] == row[best] and ids[j] < ids[best]):
            best = j
    return best


@kernel
def move_slot(source: int, target: int, s: Structures) -> None:
    """Let the structure in slot `source` live in slot `target`. Modified in place: s."""
    s.mean[:, target] = s.mean[:, source]
    s.whiten[:, target] = s.whiten[:, source]
    s.Sigma[target] = s.Sigma[source]
    s.total[target] = s.total[source]
    s.mass[target] = s.mass[source]
    s.count[target] = s.count[source]
    s.age[target] = s.age[source]
    s.id[target] = s.id[source]
    s.nearest[target] = s.nearest[source]
    s.nearest_odds[target] = s.nearest_odds[source]
    for i in range(source):
        s.odds[i, target] = s.odds[i, source]
        s.odds[target, i] = s.odds[source, i]
        s.pair[i, target] = s.pair[i, source]
        s.pair[target, i] = s.pair[source, i]
        if s.nearest[i] == source:
            s.nearest[i] = target
    s.odds[target, target] = s.pair[target, target] = np.inf
