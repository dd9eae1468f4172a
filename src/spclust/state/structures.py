"""The set S of structures: one block of memory, and the few functions that write to it.

All numbers of a stream live in one flat float64 array, the *pool*: it is the whole state, two
states are equal when their pools are, and handing one array to a kernel costs least. It has its
size from the start, but for spreads of low rank, which may need more: see `enlarged`. `view` names
its parts in Python, `view_in_kernel` in compiled code.

Units. A mean is kept in the units of the data, as the point that founded the structure (`anchor`)
plus how far the mean has moved since (`drift`): around 10^8 it has all the digits it has around 0.
Everything else starts from a difference of two points in units of `scale`, so that a fresh
structure has spread I, every spread is at least I, and a unit of 10^-150 is as good as any.

Slots. Structures sit in slots 0 .. live-1: first the `grown` ones, then those that still are single
points, whose spread is I, so that whole blocks of them need no factor. Else their order means
nothing; the order in which they were created is that of their ids. Means and factors, which are
read at every point, are stored in blocks of eight slots (see `lanes`): slot i is lane i % 8 of
block i // 8.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.algorithm.typicality import LARGEST_LINEAR_EXPONENT
from spclust.arrays import Floats, Integers
from spclust.jit.decorators import inner, leaf, paragraph
from spclust.numerics.cholesky import copy_matrix
from spclust.numerics.eight import LANES
from spclust.numerics.memory import aligned, cube, matrix, row
from spclust.parameters import Params
from spclust.state.kinds import FIXED, FULL, LOWRANK, PLANE, Room, kind_of_kernel, sizes

# Where things are in the pool's head.
CAPACITY, FEATURES, EXPONENT, GAMMA, BETA, W_MIN, NLT_MAX, SCALE = range(8)
REACH, LIVE, SEEN, PRUNED, MERGED, IN_LOGS, EVALUATIONS, RESCANS = range(8, 16)
GROWN, CONNECTIONS, KIND, FACTOR, SPREAD_ROWS, SPREAD_COLUMNS, RANK, DIRECTIONS = range(16, 24)
FREE, LARGEST, MOST, LOOKED, CRAMPED, STALE, TIMED, CLOCK = range(24, 32)
GAP, FRAMED, DUE, CUT_DUE = range(32, 36)
_HEAD = 40
_ROWS = 13  # arrays with one number for each slot

NOBODY = -1  # in place of a slot
POINT = -1  # in place of a slot: the point that is being learnt

# Larger differences are taken to be this large: the first in units of scale, whose squares are
# summed over all features; the second in the unit of the data, whose squares are covariances.
FARTHEST = 1e150
_FARTHEST_IN_DATA = 1e153

_NO_ROOM = Room()
_FIRST_RANK = 8
_MANY = 100  # points for each structure before clusters stand: see `standing`


class Structures(NamedTuple):
    """Named views of a pool; n is the number of slots, d of features, t of numbers of a factor."""

    head: Any  # parameters, and what happened so far
    anchor: Any  # (n / 8, d, 8) the point that founded the structure
    drift: Any  # (n / 8, d, 8) mean mu minus anchor
    whiten: Any  # (n / 8, t, 8) W row by row, lower triangular, W^T W = Sigma^-1; or its diagonal
    Sigma: Any  # (n, d, d) spread, in units of scale^2; or its diagonal: see `kinds`
    total: Any  # (n,) B(age) w: the weight w of Eq. 7 before its division
    mass: Any  # (n,) B(age) of Eq. 9: the damped number of weight updates
    count: Any  # (n,) points absorbed: the T of Gamma
    age: Any  # (n,) weight updates lived through, plus one: the T of B
    id: Any  # (n,) number of the point that founded it
    bound: Any  # (n,) no pair odds with a higher slot are below this; see `neighbours`
    least: Any  # (n,) no eigenvalue of Sigma is below this
    renewals: Any  # (n,) times that the factor was changed since it was computed
    connection: Any  # (n,) number of the connection in which row i below was written
    rank: Any  # (n,) directions that the spread has, if it is of low rank: see `lowrank`
    base: Any  # (n,) what the spread is in all others
    recent: Any  # (n,) points absorbed, each by its share in the mean, if time stamps tell
    owner: Any  # (n,) cluster that it was given to, plus 1, or 0: see `standing`
    odds: Any  # (n, n) [i, j]: odds of mean i in structure j, if row i is later than row j
    odds_back: Any  # (n, n) [i, j]: odds of mean j in structure i, if row i is later than row j
    pair: Any  # (n, n) [i, j], i < j: odds of D(i, j)
    place: Any  # (n, most) rows of `basis` that are the directions of slot i
    free: Any  # (rows,) rows of `basis` that nobody has: the first head[FREE]
    basis: Any  # (rows, d) directions, of length 1
    origin: Any  # (d,) where coordinates are 0, and
    unit: Any  # (d,) where they are 1, in the unit of the data; 0 if not known yet: see `frame`
    scatter: Any  # (n, d) squared offsets of the points absorbed from their mean, if framed


def pool_size(params: Params, d: int, room: Room) -> int:
    """Floats in the pool of a stream of d features: room for N structures and the newest point."""
    n = (params.n_structures + LANES) // LANES * LANES
    size = sizes(params.kind, d, room)
    spread = size.factor + size.rows * size.columns + room.rank
    return _HEAD + n * (2 * d + spread + _ROWS + 3 * n) + room.directions * (d + 1) + (n + 2) * d


def empty_pool(params: Params, d: int, room: Room = _NO_ROOM) -> Floats:
    """The state before the first point."""
    pool = aligned(pool_size(params, d, room))
    pool[:] = 0.0
    pool[CAPACITY], pool[FEATURES], pool[KIND] = params.n_structures, d, params.kind
    pool[FACTOR], pool[SPREAD_ROWS], pool[SPREAD_COLUMNS] = sizes(params.kind, d, room)
    pool[RANK], pool[DIRECTIONS] = room
    pool[FREE], pool[MOST] = room.directions, min(params.max_rank, d)
    pool[GAP], pool[FRAMED] = 1.0, params.framed
    pool[CUT_DUE] = _MANY * params.n_structures
    configure(pool, params)
    pool[IN_LOGS] = params.exponent > LARGEST_LINEAR_EXPONENT
    s = view(pool)
    s.Sigma[:], s.whiten[:], s.least[:], s.base[:], s.unit[:] = 1.0, 1.0, 1.0, 1.0, 1.0
    s.free[:] = np.arange(room.directions)
    if params.kind == FULL:
        s.Sigma[:] = np.eye(d)
        s.whiten[:] = np.eye(d)[np.tril_indices(d)][:, np.newaxis]
    return pool


def configure(pool: Floats, params: Params) -> None:
    """Write the parameters of the online phase. Modified in place: pool."""
    pool[EXPONENT] = params.exponent
    pool[SCALE], pool[REACH] = params.scale, min(FARTHEST, _FARTHEST_IN_DATA / params.scale)
    pool[GAMMA], pool[BETA] = params.gamma, params.beta
    pool[W_MIN], pool[NLT_MAX] = params.w_min, params.nlt_max


def view_of(pool: Any, kind: int) -> Structures:
    """Name the parts of a pool of one kind: arrays that share its memory."""
    d, t = int(pool[FEATURES]), int(pool[FACTOR])
    height, width = int(pool[SPREAD_ROWS]), int(pool[SPREAD_COLUMNS])
    if kind == PLANE:  # loops over known numbers need no loop
        d, t, height, width = 2, 3, 2, 2
    if kind > FIXED:
        d = height = width = kind - FIXED
        t = d * (d + 1) // 2
    n = (int(pool[CAPACITY]) + LANES) // LANES * LANES
    rank, directions = int(pool[RANK]), int(pool[DIRECTIONS])
    anchor = _HEAD
    drift = anchor + d * n
    whiten = drift + d * n
    Sigma = whiten + t * n
    rows = Sigma + n * height * width
    odds = rows + _ROWS * n
    odds_back = odds + n * n
    pair = odds_back + n * n
    place = pair + n * n
    free = place + n * rank
    basis = free + directions
    origin = basis + directions * d
    return Structures(
        row(pool, 0, _HEAD),
        cube(pool, anchor, n // LANES, d, LANES),
        cube(pool, drift, n // LANES, d, LANES),
        cube(pool, whiten, n // LANES, t, LANES),
        cube(pool, Sigma, n, height, width),
        row(pool, rows, n),
        row(pool, rows + n, n),
        row(pool, rows + 2 * n, n),
        row(pool, rows + 3 * n, n),
        row(pool, rows + 4 * n, n),
        row(pool, rows + 5 * n, n),
        row(pool, rows + 6 * n, n),
        row(pool, rows + 7 * n, n),
        row(pool, rows + 8 * n, n),
        row(pool, rows + 9 * n, n),
        row(pool, rows + 10 * n, n),
        row(pool, rows + 11 * n, n),
        row(pool, rows + 12 * n, n),
        matrix(pool, odds, n, n),
        matrix(pool, odds_back, n, n),
        matrix(pool, pair, n, n),
        matrix(pool, place, n, rank),
        row(pool, free, directions),
        matrix(pool, basis, directions, d),
        row(pool, origin, d),
        row(pool, origin + d, d),
        matrix(pool, origin + 2 * d, n, d),
    )


view_in_kernel = paragraph(view_of)


def first_room(params: Params, d: int) -> Room:
    """Memory for the directions of the first structures, if spreads are of low rank."""
    if params.kind != LOWRANK:
        return Room()
    rank = min(d, 2 * min(params.max_rank, _FIRST_RANK) + 1)
    return Room(rank, params.n_structures + _FIRST_RANK)


def enlarged(pool: Floats, params: Params) -> Floats:
    """The same state with more room, for what is needed and some more."""
    old, needed = view(pool), int(pool[CRAMPED])
    d, rank, directions = old.basis.shape[1], old.place.shape[1], old.free.size
    more = Room(
        min(d, max(rank, needed + needed // 8 + 1)),
        directions + max(directions // 8, needed + 1),
    )
    pool = empty_pool(params, d, more)
    new, sized = view(pool), pool[[SPREAD_COLUMNS, RANK, DIRECTIONS]]
    for ours, theirs in zip(new, old, strict=True):
        if ours.shape == theirs.shape:
            ours[...] = theirs
    pool[[SPREAD_COLUMNS, RANK, DIRECTIONS]] = sized
    free, t = int(old.head[FREE]), rank * (rank + 1) // 2
    half = new.Sigma.shape[2] // 2
    new.Sigma[:, :, :t], new.Sigma[:, :, half : half + t] = old.Sigma[..., :t], old.Sigma[..., t:]
    new.place[:, :rank] = old.place
    new.free[:free] = old.free[:free]
    new.free[free : free + more.directions - directions] = np.arange(directions, more.directions)
    new.head[FREE] += more.directions - directions
    new.head[CRAMPED] = 0.0
    new.basis[:directions] = old.basis
    return pool


def kind_of(pool: Floats) -> int:
    """The kind of kernel that a pool takes."""
    return kind_of_kernel(int(pool[KIND]), int(pool[FEATURES]))


def view(pool: Any) -> Structures:
    """Name the parts of a pool."""
    return view_of(pool, int(pool[KIND]))


def means(s: Structures, slots: Integers) -> Floats:
    """Means (k, d) of some slots."""
    chosen: Floats = (s.anchor + s.drift)[slots // LANES, :, slots % LANES]
    return chosen


class Spreads(NamedTuple):
    """What the state has of the spreads of some structures."""

    kind: int
    Sigma: Floats  # (k, rows, columns) as in the state
    rank: Integers  # (k,)
    base: Floats  # (k,)
    V: Floats  # (directions, d) those of the first structure, then those of the next

    def dense(self) -> Floats:
        """The spreads (k, d, d) in units of scale^2."""
        d = self.V.shape[1]
        if self.kind == FULL:
            return self.Sigma
        if self.kind != LOWRANK:
            dense: Floats = np.broadcast_to(self.Sigma, (len(self.Sigma), 1, d)) * np.eye(d)
            return dense
        all_of_them = np.empty((len(self.rank), d, d))
        ends = np.cumsum(self.rank)
        for i, (rank, end) in enumerate(zip(self.rank, ends, strict=True)):
            small, V = np.zeros((rank, rank)), self.V[end - rank : end]
            small[np.tril_indices(rank)] = self.Sigma[i, 0, : rank * (rank + 1) // 2]
            small += np.tril(small, -1).T - self.base[i] * np.eye(rank)
            all_of_them[i] = self.base[i] * np.eye(d) + V.T @ small @ V
        return all_of_them


def spreads_of(slots: Integers, s: Structures) -> Spreads:
    """A copy of the spreads of some slots."""
    rank = s.rank[slots].astype(np.int64)
    places = [s.place[slot, :k] for slot, k in zip(slots, rank, strict=True)]
    V = s.basis[np.concatenate(places).astype(np.int64)]
    return Spreads(int(s.head[KIND]), s.Sigma[slots], rank, s.base[slots], V)


@leaf
def copy_mean(source: Floats, target: Floats) -> None:
    """Copy a mean (2, d), anchor and drift. Modified in place: target."""
    for c in range(source.shape[1]):
        target[0, c], target[1, c] = source[0, c], source[1, c]


@inner
def read_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Copy the mean of a slot to mu (2, d), anchor and drift. Modified in place: mu."""
    b, lane = slot // LANES, slot % LANES
    for c in range(mu.shape[1]):
        mu[0, c], mu[1, c] = s.anchor[b, c, lane], s.drift[b, c, lane]


@inner
def write_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Make mu (2, d), anchor and drift, the mean of a slot. Modified in place: s."""
    b, lane = slot // LANES, slot % LANES
    for c in range(mu.shape[1]):
        s.anchor[b, c, lane], s.drift[b, c, lane] = mu[0, c], mu[1, c]


@leaf
def read_factor(slot: int, whiten: Floats, W: Floats) -> None:
    """Copy the factor of a slot to W (t,). Modified in place: W."""
    b, lane = slot // LANES, slot % LANES
    for k in range(W.size):
        W[k] = whiten[b, k, lane]


@leaf
def write_factor(slot: int, whiten: Floats, W: Floats) -> None:
    """Make W (t,) the factor of a slot. Modified in place: whiten."""
    b, lane = slot // LANES, slot % LANES
    for k in range(W.size):
        whiten[b, k, lane] = W[k]


@leaf
def copy_lane(source: int, target: int, blocks: Floats) -> None:
    """Copy what belongs to one slot to another one's place. Modified in place: blocks."""
    a, b = blocks[source // LANES], blocks[target // LANES]
    for k in range(blocks.shape[1]):
        b[k, target % LANES] = a[k, source % LANES]


@inner
def write_fresh_spread(slot: int, s: Structures) -> None:
    """Give a slot the spread I of a fresh structure. Modified in place: s.

    The last slot always has it: of N + 1 structures one is the newest point.
    """
    fresh = s.id.size - 1
    copy_matrix(s.Sigma[fresh], s.Sigma[slot])
    copy_lane(fresh, slot, s.whiten)
    s.least[slot], s.renewals[slot] = 1.0, 0.0
    s.rank[slot], s.base[slot] = 0.0, 1.0


@inner
def is_single(other: int, s: Structures) -> bool:
    """Whether it is a single point, of spread I: the point that is learnt, or in a slot."""
    return other == POINT or s.count[other] == 1.0


@inner
def slot_pair(i: int, j: int, s: Structures) -> float:
    """Odds of D of the structures in two different slots."""
    return s.pair[min(i, j), max(i, j)]
