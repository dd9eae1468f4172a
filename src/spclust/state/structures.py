"""The set S of structures: one block of memory, and the few functions that read and write a slot.

All numbers of a stream are in one block of memory, which is the whole state: two states are equal
when their bytes are, and one array is what a kernel is handed fastest. Its size is fixed at
construction, except for covariances of low rank, which may need more: see `creation.enlarged`.

Units. A mean is kept in the unit of the data, as the point that founded the structure (`anchor`)
plus how far the mean has moved since (`drift`): around 10^8 it has all the digits it has around 0.
Everything else starts from a difference of two points in units of `scale`, so that a fresh
structure has covariance I, every covariance is at least I, and a unit of 10^-150 is as good as any.

Slots. Structures are in slots 0 .. live-1: first the `grown` ones, then those that still are single
points, whose covariance is I, so that whole blocks of them need no factor. Otherwise their order
means nothing; the order in which they were created is that of their ids. Means and factors, which
are read at every point, are stored in blocks of eight slots (see `numerics.eight`): slot i is lane
i % 8 of block i // 8.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from spclust.array_types import Floats, Integers
from spclust.jit.decorators import COMPILED, part
from spclust.numerics.cholesky import copy_matrix
from spclust.numerics.eight import LANES
from spclust.state.kinds import MODULES, kind_of_kernel, known_extents
from spclust.state.record import Array, Extent, Flag, Integer, Real, Record, RecordType, Together

NOBODY = -1  # in place of a slot
POINT = -1  # in place of a slot: the point that is being learnt


class Structures(Record):
    """The set S: parameters, counters and all structures."""

    # Parameters of the online phase
    capacity = Integer(constant=True)  # N
    kind = Integer(constant=True)  # of covariances: see `kinds`
    exponent = Real(constant=True)  # 1 / (m - 1)
    gamma = Real(constant=True)
    beta = Real(constant=True)
    w_min = Real(constant=True)
    nlt_max = Real(constant=True)
    scale = Real(constant=True)
    per_scale = Real(constant=True)  # 1 / scale
    reach = Real(constant=True)  # the largest difference, in units of scale
    max_rank = Integer(constant=True)

    # What has happened so far
    live = Integer()  # structures
    grown = Integer()  # structures of more than one point
    seen = Integer()  # points learnt
    pruned = Integer()  # points of structures that were removed
    merged = Integer()  # merges
    evaluations = Integer()  # typicalities computed
    rescans = Integer()  # rows of pair odds searched for their smallest
    connections = Integer()  # rows of pair odds written
    in_logs = Flag()  # odds are kept as logarithms
    timed = Flag(constant=True)  # points have time stamps
    clock = Real()  # the last time stamp
    gap = Real()  # time between the last two points; 1 without time stamps

    # What is left to do, if a call was interrupted or could not finish
    prune_from = Integer()  # id of the first structure that pruning has not examined; 0 if done
    stale = Integer()  # 1 + a slot that has to be measured; 0 if none has
    needed_rank = Integer()  # rank for which there is no room; 0 if there is
    largest_rank = Integer()
    free_directions = Integer()

    # Lengths of axes
    n = Extent()  # slots
    blocks = Extent()  # n / 8
    d = Extent()  # features
    t = Extent()  # numbers of a factor
    rows = Extent()  # of a covariance
    columns = Extent()
    rank_room = Extent()  # directions of one structure
    directions = Extent()  # of all structures

    # Structures, a slot each
    anchor = Array("blocks d 8")  # the point that founded the structure
    drift = Array("blocks d 8")  # mean mu minus anchor
    whiten = Array("blocks t 8")  # factor W, lower triangular, row by row; or its diagonal
    Sigma = Array("n rows columns")  # covariance, in units of scale^2; or its diagonal: see `kinds`
    total = Array("n")  # B(age) w: the weight w of Eq. 7 before its division
    damping = Array("n")  # B(age) of Eq. 9: the damped number of weight updates
    count = Array("n")  # points absorbed: the T of Gamma
    age = Array("n")  # weight updates since its creation, plus one: the T of B
    recent = Array("n")  # points absorbed, each by its share in the mean, with time stamps
    id = Array("n", np.int64)  # number of the point that founded it
    least = Array("n")  # no eigenvalue of Sigma is below this
    renewals = Array("n")  # changes of the factor since it was computed
    rank = Array("n", np.int64)  # directions of a covariance of low rank: see `covariance.lowrank`
    base = Array("n")  # its variance in all other directions
    numbers = Together("total", "base")  # all of these: a column for each slot
    place = Array("n rank_room", np.int64)  # rows of `basis` that are the directions of slot i

    # Relations of structures: see `state.relations`
    bound = Array("n")  # no pair odds with a higher slot are below this
    connection = Array("n", np.int64)  # number of the connection in which row i below was written
    odds = Array("n n")  # [i, j]: odds of mean i in structure j, if row i is later than row j
    odds_back = Array("n n")  # [i, j]: odds of mean j in structure i, if row i is later than row j
    pair = Array("n n")  # [i, j], i < j: odds of D(i, j)

    # Common to all structures
    free = Array("directions", np.int64)  # rows of `basis` not in use: the first `free_directions`
    basis = Array("directions d")  # directions of unit length

    @property
    def covariance(self) -> Any:
        """The module with the functions of this kind of covariances."""
        return MODULES[self.kernel_kind]

    @property
    def kernel_kind(self) -> int:
        """The kind of kernel that learns this state."""
        return kind_of_kernel(self.kind, self.d)


def in_kernel(memory: Any, kind: int) -> Structures:
    """Name the parts of a state of one kind. Kernels start with it."""
    return Structures(memory)


if COMPILED:

    @intrinsic(prefer_literal=True)
    def in_kernel(typingctx: Any, memory: Any, kind: Any) -> Any:
        """The same in compiled code; the compiler knows the kind."""
        if not isinstance(kind, types.IntegerLiteral):
            return None
        k = int(kind.literal_value)
        record = RecordType(Structures, known_extents(k), {"covariance": MODULES[k]})

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return record(memory, kind), build


def means(s: Structures, slots: Integers) -> Floats:
    """Means (k, d) of some slots."""
    chosen: Floats = (s.anchor + s.drift)[slots // LANES, :, slots % LANES]
    return chosen


@part
def copy_mean(source: Floats, target: Floats) -> None:
    """Copy a mean (2, d), anchor and drift. Modified in place: target."""
    for c in range(source.shape[1]):
        target[0, c], target[1, c] = source[0, c], source[1, c]


@part
def read_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Copy the mean of a slot to mu (2, d), anchor and drift. Modified in place: mu."""
    anchor, drift, lane = s.anchor[slot // LANES], s.drift[slot // LANES], slot % LANES
    for c in range(mu.shape[1]):
        mu[0, c], mu[1, c] = anchor[c, lane], drift[c, lane]


@part
def write_mean(slot: int, s: Structures, mu: Floats) -> None:
    """Make mu (2, d), anchor and drift, the mean of a slot. Modified in place: s."""
    anchor, drift, lane = s.anchor[slot // LANES], s.drift[slot // LANES], slot % LANES
    for c in range(mu.shape[1]):
        anchor[c, lane], drift[c, lane] = mu[0, c], mu[1, c]


@part
def read_factor(slot: int, whiten: Floats, W: Floats) -> None:
    """Copy the factor of a slot to W (t,). Modified in place: W."""
    b, lane = slot // LANES, slot % LANES
    for k in range(W.size):
        W[k] = whiten[b, k, lane]


@part
def write_factor(slot: int, whiten: Floats, W: Floats) -> None:
    """Make W (t,) the factor of a slot. Modified in place: whiten."""
    b, lane = slot // LANES, slot % LANES
    for k in range(W.size):
        whiten[b, k, lane] = W[k]


@part
def copy_lane(source: int, target: int, blocks: Floats) -> None:
    """Copy what belongs to one slot to the place of another one. Modified in place: blocks."""
    a, b = blocks[source // LANES], blocks[target // LANES]
    for k in range(blocks.shape[1]):
        b[k, target % LANES] = a[k, source % LANES]


@part
def write_fresh_covariance(slot: int, s: Structures) -> None:
    """Give a slot the covariance I of a fresh structure. Modified in place: s.

    The last slot always has it: of N + 1 structures one is the newest point.
    """
    fresh = s.n - 1
    copy_matrix(s.Sigma[fresh], s.Sigma[slot])
    copy_lane(fresh, slot, s.whiten)
    s.least[slot], s.renewals[slot] = 1.0, 0.0
    s.rank[slot], s.base[slot] = 0, 1.0


@part
def is_single(other: int, s: Structures) -> bool:
    """True if it is a single point, of covariance I: the point that is learnt, or in a slot."""
    return other == POINT or s.count[other] == 1.0


@part
def slot_pair(i: int, j: int, s: Structures) -> float:
    """Odds of D of the structures in two different slots."""
    return s.pair[min(i, j), max(i, j)]
