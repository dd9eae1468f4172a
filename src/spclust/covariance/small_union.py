"""Covariance union of two structures of a few points each: in the few directions that they have.

A structure of k points has a covariance of I and at most k squares u u^T. Two such structures
differ from I in the directions of those squares, and of the offset of their means, and so does
their union: Eq. 16 is solved there, in a few directions instead of all d.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.covariance.union import union_memory, union_of_covariances
from spclust.jit.decorators import outlined
from spclust.numerics.cholesky import copy_matrix, dot, write_identity
from spclust.numerics.memory import matrix, row

_FEWEST = 4  # times as many features as squares: else there is nothing to win
_LARGEST = 1e4  # variance: rounding errors of a larger one could pass for squares, or hide them
_NOISE = 1e-14  # of the largest variance: a smaller square is a rounding error
_IN_SPAN = 1e-12  # what is left of a vector, relative, outside of directions in which it lies


def small_union_memory(d: int) -> int:
    """Numbers of scratch memory that `unite_small` takes for covariances (d, d)."""
    n = 2 * (d // _FEWEST) + 1
    return 2 * n * d + n * n + 3 * n * n + d + union_memory(n)


@outlined
def unite_small(
    Sigma: Floats, other: Floats, share: float, e: Floats, floor: float, memory: Floats
) -> bool:
    """Make Sigma (d, d) the union with another covariance, if both are I but for a few directions.

    `share` is the other one's in the merged mean, e (d,) the offset of its mean. False, and nothing
    changed, if they are not. Modified in place: Sigma; memory is scratch.
    """
    d = e.size
    most = d // _FEWEST
    n = 2 * most + 1
    vectors, Q, y = (
        matrix(memory, 0, n, d),
        matrix(memory, n * d, n, d),
        matrix(memory, 2 * n * d, n, n),
    )
    start = 2 * n * d + n * n
    own = find_squares(Sigma, matrix(memory, 0, most, d), row(memory, start, d))
    if own > most:
        return False
    both = own + find_squares(other, matrix(memory, own * d, most, d), row(memory, start, d))
    if both > own + most:
        return False
    for c in range(d):
        vectors[both, c] = e[c]
    m = write_coordinates(vectors, both + 1, Q, y, row(memory, start, d))
    line = row(memory, start, d)
    start += d
    before, U1, U2 = (
        matrix(memory, start, m, m),
        matrix(memory, start + m * m, m, m),
        matrix(memory, start + 2 * m * m, m, m),
    )
    start += 3 * m * m
    write_identity(before)
    write_identity(U2)
    add_squares(y, 0, own, 1.0, before)
    copy_matrix(before, U1)
    add_squares(y, both, both + 1, share, U1)
    add_squares(y, own, both, 1.0, U2)
    add_squares(y, both, both + 1, 1.0 - share, U2)
    union_of_covariances(U1, U2, floor, row(memory, start, memory.size - start))
    for i in range(m):
        for c in range(d):
            line[c] = 0.0
            for j in range(m):
                line[c] += (U1[i, j] - before[i, j]) * Q[j, c]
        for r in range(d):
            for c in range(d):
                Sigma[r, c] += Q[i, r] * line[c]
    return True


@outlined
def find_squares(Sigma: Floats, u: Floats, rest: Floats) -> int:
    """How many squares of vectors Sigma (d, d) is, beside I, and those vectors as rows of u.

    A Cholesky decomposition with pivots finds them. More than u has rows if there are more, or if
    it cannot be told. Modified in place: u; rest (d,) is scratch.
    """
    d, largest = Sigma.shape[0], 1.0
    for c in range(d):
        rest[c] = Sigma[c, c] - 1.0
        largest = max(largest, Sigma[c, c])
    if not largest < _LARGEST:
        return u.shape[0] + 1
    for k in range(u.shape[0] + 1):
        pivot = 0
        for c in range(d):
            pivot = c if rest[c] > rest[pivot] else pivot
        if not rest[pivot] > _NOISE * largest:
            return k
        if k == u.shape[0]:
            break
        root = np.sqrt(rest[pivot])
        for c in range(d):
            entry = Sigma[pivot, c] - (1.0 if c == pivot else 0.0)
            for j in range(k):
                entry -= u[j, pivot] * u[j, c]
            u[k, c] = entry / root
            rest[c] -= u[k, c] * u[k, c]
    return u.shape[0] + 1


@outlined
def write_coordinates(vectors: Floats, n: int, Q: Floats, y: Floats, x: Floats) -> int:
    """Orthonormal rows of Q that span the first n vectors, and y: the vectors are y Q.

    Returns the number m of these rows. Modified in place: Q (m, d), y (n, m); x (d,) is scratch.
    """
    d, m = vectors.shape[1], 0
    for i in range(n):
        for k in range(y.shape[1]):
            y[i, k] = 0.0
        for c in range(d):
            x[c] = vectors[i, c]
        length = np.sqrt(dot(x, x, 0))
        for _ in range(2):  # once more, to be rid of rounding
            for k in range(m):
                along = dot(Q[k], x, 0)
                for c in range(d):
                    x[c] -= along * Q[k, c]
                y[i, k] += along
        outside = np.sqrt(dot(x, x, 0))
        if outside > _IN_SPAN * length:
            for c in range(d):
                Q[m, c] = x[c] / outside
            y[i, m] = outside
            m += 1
    return m


@outlined
def add_squares(y: Floats, start: int, stop: int, factor: float, A: Floats) -> None:
    """Add to A (m, m) the squares of `factor` times rows of y. Modified in place: A."""
    for k in range(start, stop):
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] += (factor * y[k, i]) * (factor * y[k, j])
