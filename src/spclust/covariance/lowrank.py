"""Low-rank covariances: a multiple of I but for a few directions, without a d x d matrix.

The union of two covariances that both are I outside of some subspace is I outside of it, too: only
the directions of the two, and that of the offset of their means, change. So the covariance of a
structure of few points is

    Sigma = base (I - V^T V) + V^T S V

with orthonormal rows V (rank, d) and a small matrix S (rank, rank), which grows as the full
covariance of the coordinates V x does (see `dense`). That is exact, and base stays 1, as long as
the rank may grow by one for each point absorbed.

If the rank has a limit, the directions of the smallest eigenvalues of S are given up, and base
becomes the largest of these. So the result of a merge covers both structures all the same, and
exceeds the exact union, in the directions given up alone, by no more than base has grown.

Directions are rows of one array, `basis`, in any order; `place` lists the rows of each slot; rows
that are not in use are on the stack `free`. Packed triangles of S and of its factor W are in
s.Sigma[slot, 0]. All this memory grows when it is needed: see `state.creation.enlarged`.
"""

from spclust.array_types import Floats
from spclust.covariance.lowrank_union import (
    lacks_memory as lacks_memory,
)
from spclust.covariance.lowrank_union import (
    unite as unite,
)
from spclust.covariance.lowrank_union import (
    unite_in_general as unite_in_general,
)
from spclust.jit.decorators import outlined, part, reduction
from spclust.numerics.cholesky import dot, times_vector
from spclust.numerics.eight import LANES, Eight, below_bits, larger_of, load, same, same_at, store
from spclust.numerics.memory import matrix, row
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures

# Where a squared distance is a smaller part of the squared length, or base times it is, the
# difference of two squares has lost too many digits.
_FEW_DIGITS = 1e-5


@reduction
def two_dots(v: Floats, first: Floats, second: Floats) -> tuple[float, float]:
    """Products of v with two vectors; v is read once, because reading it takes the time."""
    a, b = 0.0, 0.0
    for c in range(v.size):
        a += v[c] * first[c]
        b += v[c] * second[c]
    return a, b


@part
def whitened_square(
    slot: int, x: Floats, y: Floats, p: Floats, square: float, s: Structures
) -> float:
    """Squared distance of an offset x of coordinates V x = y and squared length `square`.

    The bracket of Eq. (2). Modified in place: p, scratch; x, if need be, to what is outside of V.
    """
    rank, half, inside = s.rank[slot], s.columns // 2, 0.0
    for k in range(rank):
        inside += y[k] * y[k]
    W = row(s.Sigma[slot, 0], half, rank * (rank + 1) // 2)
    white = times_vector(W, row(y, 0, rank), row(p, 0, rank))
    outside = max(square - inside, 0.0)
    if rank == x.size:
        outside = 0.0
    elif white * s.base[slot] + outside < _FEW_DIGITS * square:
        outside = square_outside(slot, x, y, s)
    return white + outside / s.base[slot]


@outlined
def square_outside(slot: int, x: Floats, y: Floats, s: Structures) -> float:
    """Squared length of what is left of x outside of V: without the difference of two squares.

    Modified in place: x, which becomes just that.
    """
    for k in range(s.rank[slot]):
        v = s.basis[s.place[slot, k]]
        for c in range(x.size):
            x[c] -= y[k] * v[c]
    return dot(x, x, 0)


@outlined
def square_in(slot: int, x: Floats, square: float, s: Structures, y: Floats) -> float:
    """Squared distance of an offset x (d,), of squared length `square`, in a structure.

    Modified in place: y (2, rank or more), scratch.
    """
    for k in range(s.rank[slot]):
        y[0, k] = dot(s.basis[s.place[slot, k]], x, 0)
    return whitened_square(slot, x, y[0], y[1], square, s)


@part
def pick(offset: Floats, lane: int, x: Floats) -> None:
    """Copy one of eight offsets (d, 8) to x (d,). Modified in place: x."""
    for c in range(x.size):
        x[c] = offset[c, lane]


@outlined
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its slot in block b."""
    d, room = offset.shape[0], s.rank_room
    x, squares = row(spare, 0, d), row(spare, d, LANES)
    y = matrix(spare, d + LANES, 2, room)
    store(plain, squares, 0)
    for lane in range(LANES):
        slot = b * LANES + lane
        if s.rank[slot] == 0:
            squares[lane] /= s.base[slot]
        else:
            pick(offset, lane, x)
            squares[lane] = square_in(slot, x, squares[lane], s, y)
    return load(squares, 0)


@outlined
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """`squares_in_each` for work.offset and work.ahead; V is read once for both."""
    d, room = work.e.size, s.rank_room
    x, squares = matrix(work.spare, 0, 2, d), matrix(work.spare, 2 * d, 2, LANES)
    y = matrix(work.spare, 2 * (d + LANES), 3, room)
    store(plain, squares, 0)
    store(plain_next, squares, 1)
    for lane in range(LANES):
        slot = b * LANES + lane
        if s.rank[slot] == 0:
            squares[0, lane] /= s.base[slot]
            squares[1, lane] /= s.base[slot]
            continue
        pick(work.offset, lane, x[0])
        pick(work.ahead, lane, x[1])
        for k in range(s.rank[slot]):
            y[0, k], y[1, k] = two_dots(s.basis[s.place[slot, k]], x[0], x[1])
        for i in range(2):
            squares[i, lane] = whitened_square(slot, x[i], y[i], y[2], squares[i, lane], s)
    return load(squares, 0), load(squares, 1)


@outlined
def squares_in_one(slot: int, s: Structures, work: Scratch, plain: Eight) -> Eight:
    """Squared distances of the eight work.offset (d, 8) in the metric of one slot."""
    offset, spare = work.offset, work.spare
    rank, half = s.rank[slot], s.columns // 2
    y, inside, white = matrix(spare, 0, rank, LANES), same(0.0), same(0.0)
    for k in range(0, rank - 1, 2):  # two directions for one reading of the offsets
        a, b = same(0.0), same(0.0)
        u, v = s.basis[s.place[slot, k]], s.basis[s.place[slot, k + 1]]
        for c in range(u.size):
            e = load(offset, c)
            a += same_at(u, c) * e
            b += same_at(v, c) * e
        store(a, y, k)
        store(b, y, k + 1)
    if rank % 2 == 1:
        a, u = same(0.0), s.basis[s.place[slot, rank - 1]]
        for c in range(u.size):
            a += same_at(u, c) * load(offset, c)
        store(a, y, rank - 1)
    W = row(s.Sigma[slot, 0], half, rank * (rank + 1) // 2)
    start = 0
    for k in range(rank):
        inside += load(y, k) * load(y, k)
        z = same(0.0)
        for c in range(k + 1):
            z += same_at(W, start + c) * load(y, c)
        white += z * z
        start += k + 1
    outside = larger_of(plain - inside, same(0.0))
    if rank == offset.shape[0]:
        return white
    few = below_bits(white * s.base[slot] + outside, plain * _FEW_DIGITS)
    if few != 0:
        at, d = rank * LANES, offset.shape[0]
        of_lanes, x = row(spare, at, LANES), row(spare, at + LANES, d)
        own = row(spare, at + LANES + d, rank)
        store(outside, of_lanes, 0)
        for lane in range(LANES):
            if few & (1 << lane) != 0:
                pick(offset, lane, x)
                for k in range(rank):
                    own[k] = y[k, lane]
                of_lanes[lane] = square_outside(slot, x, own, s)
        outside = load(of_lanes, 0)
    return white + outside / s.base[slot]
