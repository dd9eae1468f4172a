"""The set S of structures: one block of memory, and the few functions that write to it.

All numbers of a stream live in one flat float64 array, the *pool*: it is the whole state, it never
grows, two states are equal when their pools are, and handing one array to a kernel costs least.
`view` names its parts in Python, `view_in_kernel` in compiled code.

Units. A mean is kept in the units of the data, as the point that founded the structure (`anchor`)
plus how far the mean has moved since (`drift`): around 10^8 it has all the digits it has around 0.
Everything else starts from a difference of two points in units of `scale`, so that a fresh
structure has spread I, every spread is at least I, and a unit of 10^-150 is as good as any.

Slots. Structures sit in slots 0 .. live-1, in no particular order: a slot that falls free goes to
the next point, or is filled from the end. Their order of creation is the order of their ids.
Means and factors, which are read at every point, are stored in blocks of eight slots (see
`lanes`): slot i is lane i % 8 of block i // 8.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.core.compile import kernel, leaf, paragraph
from spclust.core.factor import copy_matrix, write_identity
from spclust.core.lanes import LANES
from spclust.core.typicality import LARGEST_LINEAR_EXPONENT
from spclust.params import Params

# Where things are in the pool's head.
CAPACITY, FEATURES, EXPONENT, GAMMA, BETA, W_MIN, NLT_MAX, SCALE = range(8)
REACH, LIVE, SEEN, PRUNED, MERGED, IN_LOGS, EVALUATIONS, RESCANS = range(8, 16)
_HEAD = 16
_ROWS = 7  # arrays with one number for each slot

# Larger differences are taken to be this large: the first in units of scale, whose squares are
# summed over all features; the second in the unit of the data, whose squares are covariances.
FARTHEST = 1e150
_FARTHEST_IN_DATA = 1e153


class Structures(NamedTuple):
    """Named views of a pool; n is the number of slots, d of features, t = d (d + 1) / 2."""

    head: Any  # parameters, and what happened so far
    anchor: Any  # (n / 8, d, 8) the point that founded the structure
    drift: Any  # (n / 8, d, 8) mean mu minus anchor
    whiten: Any  # (n / 8, t, 8) W row by row, lower triangular, W^T W = Sigma^-1
    Sigma: Any  # (n, d, d) spread, in units of scale^2
    total: Any  # (n,) B(age) w: the weight w of Eq. 7 before its division
    mass: Any  # (n,) B(age) of Eq. 9: the damped number of weight updates
    count: Any  # (n,) points absorbed: the T of Gamma
    age: Any  # (n,) weight updates lived through, plus one: the T of B
    id: Any  # (n,) number of the point that founded it
    nearest: Any  # (n,) slot of the structure with the smallest pair odds
    nearest_odds: Any  # (n,) those odds
    odds: Any  # (n, n) [i, j]: odds of mean i in structure j; the diagonal is inf
    pair: Any  # (n, n) symmetric: odds of D(i, j); the diagonal is inf


def pool_size(n_structures: int, d: int) -> int:
    """Floats in the pool of a stream of d features: room for N structures and the newest point."""
    n = (n_structures + LANES) // LANES * LANES
    return _HEAD + n * (2 * d + d * (d + 1) // 2 + d * d + _ROWS + 2 * n)


def empty_pool(params: Params, d: int) -> Floats:
    """The state before the first point."""
    pool = np.zeros(pool_size(params.n_structures, d))
    pool[CAPACITY], pool[FEATURES] = params.n_structures, d
    configure(pool, params)
    pool[IN_LOGS] = params.exponent > LARGEST_LINEAR_EXPONENT
    return pool


def configure(pool: Floats, params: Params) -> None:
    """Write the parameters of the online phase. Modified in place: pool."""
    pool[EXPONENT] = params.exponent
    pool[SCALE], pool[REACH] = params.scale, min(FARTHEST, _FARTHEST_IN_DATA / params.scale)
    pool[GAMMA], pool[BETA] = params.gamma, params.beta
    pool[W_MIN], pool[NLT_MAX] = params.w_min, params.nlt_max


def view(pool: Any) -> Structures:
    """Name the parts of a pool: arrays that share its memory."""
    d = int(pool[FEATURES])
    n = (int(pool[CAPACITY]) + LANES) // LANES * LANES
    t = d * (d + 1) // 2
    anchor = _HEAD
    drift = anchor + d * n
    whiten = drift + d * n
    Sigma = whiten + t * n
    rows = Sigma + n * d * d
    odds = rows + _ROWS * n
    pair = odds + n * n
    end = pair + n * n
    row = pool[rows:odds].reshape(_ROWS, n)
    return Structures(
        pool[:_HEAD],
        pool[anchor:drift].reshape(n // LANES, d, LANES),
        pool[drift:whiten].reshape(n // LANES, d, LANES),
        pool[whiten:Sigma].reshape(n // LANES, t, LANES),
        pool[Sigma:rows].reshape(n, d, d),
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        row[6],
        pool[odds:pair].reshape(n, n),
        pool[pair:end].reshape(n, n),
    )


view_in_kernel = paragraph(view)


def means(s: Structures, slots: Integers) -> Floats:
    """Means (k, d) of some slots."""
    chosen: Floats = (s.anchor + s.drift)[slots // LANES, :, slots % LANES]
    return chosen


@leaf
def read_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Copy the mean of a slot to mu (2, d), anchor and drift. Modified in place: mu."""
    b, lane = slot // LANES, slot % LANES
    for c in range(mu.shape[1]):
        mu[0, c], mu[1, c] = s.anchor[b, c, lane], s.drift[b, c, lane]


@leaf
def write_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Make mu (2, d), anchor and drift, the mean of a slot. Modified in place: s."""
    b, lane = slot // LANES, slot % LANES
    for c in range(mu.shape[1]):
        s.anchor[b, c, lane], s.drift[b, c, lane] = mu[0, c], mu[1, c]


@leaf
def write_factor(slot: int, whiten: Floats, W: Floats) -> None:
    """Make W (t,) the factor of a slot. Modified in place: whiten."""
    b, lane = slot // LANES, slot % LANES
    for k in range(W.size):
        whiten[b, k, lane] = W[k]


@leaf
def write_fresh_spread(slot: int, Sigma: Floats, whiten: Floats) -> None:
    """Give a slot the spread I of a fresh structure. Modified in place: Sigma, whiten."""
    b, lane = slot // LANES, slot % LANES
    write_identity(Sigma[slot])
    t = 0
    for r in range(Sigma.shape[1]):
        for c in range(r + 1):
            whiten[b, t, lane] = 1.0 if r == c else 0.0
            t += 1


@leaf
def copy_lane(source: int, target: int, blocks: Floats) -> None:
    """Copy what belongs to one slot to another one's place. Modified in place: blocks."""
    a, b = blocks[source // LANES], blocks[target // LANES]
    for k in range(blocks.shape[1]):
        b[k, target % LANES] = a[k, source % LANES]


@kernel
def move_slot(source: int, target: int, s: Structures) -> None:
    """Let the structure in slot `source` live in slot `target`. Modified in place: s."""
    copy_lane(source, target, s.anchor)
    copy_lane(source, target, s.drift)
    copy_lane(source, target, s.whiten)
    copy_matrix(s.Sigma[source], s.Sigma[target])
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
