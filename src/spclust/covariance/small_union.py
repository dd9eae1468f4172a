"""Covariance union of two structures of a few points each: in the few directions that they have.

A structure of k points has a spread of I and at most k squares u u^T. Two such structures differ
from I in the directions of those squares, and of the offset of their means, and so does their
union: Eq. 16 is solved there, in a few directions instead of all d.
"""

import numpy as np

from spclust.arrays import Floats
from spclust.covariance.union import union_of_spreads
from spclust.jit.decorators import allocating
from spclust.numerics.cholesky import dot

_FEWEST = 4  # times as many features as squares: else there is nothing to win
_LARGEST = 1e4  # variance: rounding errors of a larger one could pass for squares, or hide them
_NOISE = 1e-14  # of the largest variance: a smaller square is a rounding error
_IN_SPAN = 1e-12  # what is left of a vector, relative, outside of directions in which it lies


@allocating
def unite_small(Sigma: Floats, other: Floats, share: float, e: Floats, floor: float) -> bool:
    """Make Sigma (d, d) the union with another spread, if both are I but for a few directions.

    `share` is the other one's in the merged mean, e (d,) the offset of its mean. False, and nothing
    changed, if they are not. Modified in place: Sigma.
    """
    d = e.size
    most = d // _FEWEST
    vectors = np.empty((2 * most + 1, d))
    own = find_squares(Sigma, vectors[:most])
    if own > most:
        return False
    both = own + find_squares(other, vectors[own : own + most])
    if both > own + most:
        return False
    for c in range(d):
        vectors[both, c] = e[c]
    Q, y = coordinates(vectors[: both + 1])
    m = Q.shape[0]
    before, U2 = np.eye(m), np.eye(m)
    add_squares(y[:own], 1.0, before)
    U1 = before.copy()
    add_squares(y[both:], share, U1)
    add_squares(y[own:both], 1.0, U2)
    add_squares(y[both:], 1.0 - share, U2)
    union = union_of_spreads(U1, U2, floor)
    row = np.empty(d)
    for i in range(m):
        for c in range(d):
            row[c] = 0.0
            for j in range(m):
                row[c] += (union[i, j] - before[i, j]) * Q[j, c]
        for r in range(d):
            for c in range(d):
                Sigma[r, c] += Q[i, r] * row[c]
    return True


@allocating
def find_squares(Sigma: Floats, u: Floats) -> int:
    """How many squares of vectors Sigma (d, d) is, beside I, and those vectors as rows of u.

    A Cholesky decomposition with pivots finds them. More than u has rows if there are more, or if
    it cannot be told. Modified in place: u.
    """
    d = Sigma.shape[0]
    rest, largest = np.empty(d), 1.0
    for c in range(d):
        rest[c] = Sigma[c, c] - 1.0
        largest = max(largest, Sigma[c, c])
    if not largest < _LARGEST:
        return u.shape[0] + 1
    for k in range(u.shape[0] + 1):
        pivot = np.argmax(rest)
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


@allocating
def coordinates(vectors: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows Q (m, d) that span the vectors (n, d), and y (n, m): they are y Q."""
    n, d = vectors.shape
    Q, y, m = np.empty((n, d)), np.zeros((n, n)), 0
    x = np.empty(d)
    for i in range(n):
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
    return Q[:m], y[:, :m]


@allocating
def add_squares(y: Floats, factor: float, A: Floats) -> None:
    """Add to A (m, m) the squares of `factor` times each row of y. Modified in place: A."""
    for k in range(y.shape[0]):
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] += (factor * y[k, i]) * (factor * y[k, j])
