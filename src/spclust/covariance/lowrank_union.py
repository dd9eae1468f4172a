"""Union of low-rank covariances: directions are added, and given up. See `lowrank`."""

import numpy as np

from spclust.array_types import Floats
from spclust.covariance.dense import Dense, cover_any, cover_if_easy, holds_covariance, holds_point
from spclust.covariance.point_union import UnionScratch
from spclust.jit.decorators import outlined, part
from spclust.numerics.cholesky import dot
from spclust.numerics.jacobi import eigen
from spclust.numerics.memory import matrix, row
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single

# What is left of a vector, relative, outside of directions in which it lies but for rounding.
_ROUNDING = 1e-12


@part
def lacks_memory(rank: int, s: Structures) -> bool:
    """True if a merge to a covariance of this rank may need more memory than there is.

    s.needed_rank becomes what it needs. Modified in place: s.
    """
    room, d = s.rank_room, s.d
    if (rank > room and room < d) or s.free_directions <= rank:
        s.needed_rank = rank
    return s.needed_rank > 0


@outlined
def include(slot: int, x: Floats, s: Structures, y: Floats) -> None:
    """Add x (d,) to the span of a structure's directions, and write its coordinates to y.

    The covariance stays the same: in a new direction it has the variance `base`. Modified in place:
    s, y (rank or more), and x, which becomes its part outside of the span before.
    """
    length = np.sqrt(dot(x, x, 0))
    rank = s.rank[slot]
    for k in range(y.size):
        y[k] = 0.0
    for _ in range(2):  # once more, to be rid of rounding
        for k in range(rank):
            v = s.basis[s.place[slot, k]]
            along = dot(v, x, 0)
            for c in range(x.size):
                x[c] -= along * v[c]
            y[k] += along
    outside = np.sqrt(dot(x, x, 0))
    if rank == x.size or not outside > _ROUNDING * length:
        return
    y[rank] = outside
    s.free_directions -= 1
    place = s.free[s.free_directions]
    for c in range(x.size):
        s.basis[place, c] = x[c] / outside
    half, start = s.columns // 2, rank * (rank + 1) // 2
    for k in range(rank):
        s.Sigma[slot, 0, start + k] = s.Sigma[slot, 0, half + start + k] = 0.0
    s.Sigma[slot, 0, start + rank] = s.base[slot]
    s.Sigma[slot, 0, half + start + rank] = 1.0 / np.sqrt(s.base[slot])
    s.place[slot, rank], s.rank[slot] = place, rank + 1
    s.least[slot] = min(s.least[slot], s.base[slot])


@part
def small(slot: int, y: Floats, s: Structures, spare: Floats) -> Dense:
    """The covariance of a slot as a matrix in its own directions, in scratch memory.

    y (rank or more) are the coordinates of the offset. Modified in place: spare.
    """
    k = s.rank[slot]
    t, half = k * (k + 1) // 2, s.columns // 2
    Sigma, W = matrix(spare, 0, k, k), row(spare, k * k, t)
    for i in range(t):
        W[i] = s.Sigma[slot, 0, half + i]
    unpack(row(s.Sigma[slot, 0], 0, t), Sigma)
    rest = k * k + t
    return Dense(
        Sigma,
        W,
        row(y, 0, k),
        UnionScratch(
            matrix(spare, rest, k, k),
            row(spare, rest + k * k, k),
            row(spare, rest + k * k + k, k),
            row(spare, rest + k * k + 2 * k, k),
            row(spare, rest + k * k + 3 * k, k),
            row(spare, rest + k * k + 4 * k, k),
        ),
    )


@outlined
def unpack(packed: Floats, A: Floats) -> None:
    """Write a packed triangle to a symmetric matrix. Modified in place: A."""
    for r in range(A.shape[0]):
        for c in range(r + 1):
            A[r, c] = A[c, r] = packed[r * (r + 1) // 2 + c]


@outlined
def keep(slot: int, own: Dense, s: Structures) -> None:
    """Write a covariance that has grown to a slot. Modified in place: s."""
    half = s.columns // 2
    for r in range(own.Sigma.shape[0]):
        for c in range(r + 1):
            at = r * (r + 1) // 2 + c
            s.Sigma[slot, 0, at], s.Sigma[slot, 0, half + at] = own.Sigma[r, c], own.W[at]


@part
def parts(s: Structures, spare: Floats) -> tuple[Floats, Floats, Floats]:
    """Scratch: a vector (d,), the coordinates (room,) of another one, and the rest."""
    d, room = s.d, s.rank_room
    rest = d + room
    return row(spare, 0, d), row(spare, d, room), row(spare, rest, spare.size - rest)


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    False, and the covariance unchanged, if it takes the general union. Modified in place: s, work.
    """
    if not is_single(other, s):
        return False
    x, y, rest = parts(s, work.spare)
    for c in range(x.size):
        x[c] = work.e[c]
    include(keeper, x, s, y)
    own = small(keeper, y, s, rest)
    held = holds_point(keeper, share, own, s)
    if not cover_if_easy(keeper, held, True, share, own, s):
        s.largest_rank = max(s.largest_rank, s.rank[keeper])  # the direction stays
        return False
    keep(keeper, own, s)
    limit_rank(keeper, s, work.general)
    s.largest_rank = max(s.largest_rank, s.rank[keeper])
    return True


@part
def unite_in_general(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> None:
    """`unite` for any two structures. Modified in place: s, work."""
    x, y, rest = parts(s, work.spare)
    for c in range(x.size):
        x[c] = work.e[c]
    include(keeper, x, s, y)
    room, rank, base = s.rank_room, 0, 1.0
    if not is_single(other, s):
        rank, base = s.rank[other], s.base[other]
    C = matrix(rest, 0, rank, room)  # directions of the other one in those of the keeper
    for k in range(rank):
        for c in range(x.size):
            x[c] = s.basis[s.place[other, k], c]
        include(keeper, x, s, C[k])
    both = s.rank[keeper]
    theirs = matrix(rest, rank * room, both, both)
    change_directions(max(other, 0), rank, base, C, s, theirs, x)
    start = rank * room + both * both
    own = small(keeper, y, s, row(rest, start, rest.size - start))
    s.base[keeper] = max(s.base[keeper], base)
    held = holds_covariance(share, own, theirs)
    if not cover_if_easy(keeper, held, False, share, own, s):
        cover_any(keeper, share, own, theirs, s, work.general)
    keep(keeper, own, s)
    limit_rank(keeper, s, work.general)
    s.largest_rank = max(s.largest_rank, s.rank[keeper])


@outlined
def change_directions(
    slot: int, rank: int, base: float, C: Floats, s: Structures, Sigma: Floats, line: Floats
) -> None:
    """Base I + C^T (S - base I) C: the covariance of a slot in other directions.

    Modified in place: Sigma; line, scratch, as long as a side of it or longer.
    """
    for i in range(Sigma.shape[0]):
        for j in range(Sigma.shape[0]):
            Sigma[i, j] = base if i == j else 0.0
    for r in range(rank):
        for j in range(Sigma.shape[0]):
            line[j] = -base * C[r, j]
        for c in range(rank):
            low, high = min(r, c), max(r, c)
            entry = s.Sigma[slot, 0, high * (high + 1) // 2 + low]
            for j in range(Sigma.shape[0]):
                line[j] += entry * C[c, j]
        for i in range(Sigma.shape[0]):
            for j in range(Sigma.shape[0]):
                Sigma[i, j] += C[r, i] * line[j]


@outlined
def limit_rank(slot: int, s: Structures, memory: Floats) -> None:
    """Give up the directions of the smallest eigenvalues if there are too many.

    Modified in place: s; memory is scratch.
    """
    rank, most, d = s.rank[slot], s.max_rank, s.d
    if rank <= most:
        return
    S, Q = matrix(memory, 0, rank, rank), matrix(memory, rank * rank, rank, rank)
    values, kept = row(memory, 2 * rank * rank, rank), row(memory, 2 * rank * rank + rank, most)
    turned, half = matrix(memory, 2 * rank * (rank + 1), most, d), s.columns // 2
    unpack(row(s.Sigma[slot, 0], 0, rank * (rank + 1) // 2), S)
    eigen(S, values, Q)
    for a in range(most):
        largest = 0
        for k in range(rank):
            largest = k if values[k] > values[largest] else largest
        kept[a], values[largest] = values[largest], 0.0
        v = turned[a]
        for c in range(d):
            v[c] = 0.0
        for k in range(rank):
            old, share = s.basis[s.place[slot, k]], Q[k, largest]
            for c in range(d):
                v[c] += share * old[c]
    for k in range(rank):
        s.base[slot] = max(s.base[slot], values[k])  # of those that are left
    for a in range(most):
        basis = s.basis[s.place[slot, a]]
        for c in range(d):
            basis[c] = turned[a, c]
        start = a * (a + 1) // 2
        for k in range(a + 1):
            s.Sigma[slot, 0, start + k] = s.Sigma[slot, 0, half + start + k] = 0.0
        value = max(kept[a], s.base[slot])
        s.Sigma[slot, 0, start + a] = value
        s.Sigma[slot, 0, half + start + a] = 1.0 / np.sqrt(value)
    for k in range(most, rank):
        s.free[s.free_directions] = s.place[slot, k]
        s.free_directions += 1
    s.rank[slot], s.least[slot], s.renewals[slot] = most, s.base[slot], 0.0
