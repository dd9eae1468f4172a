"""Covariance union of any two structures: Eq. 14 to 16 (section III-C).

`floor` is a lower bound of the squared pivots of the Cholesky factor. In units of scale
(see `structures`) each spread is at least the identity, so each pivot is at least 1.
"""

import numpy as np

from spclust.arrays import Floats
from spclust.jit.decorators import allocating, outlined
from spclust.numerics.cholesky import (
    copy_matrix,
    dot,
    invert_transposed,
    positive_definite,
    raise_diagonal,
    shifted_cholesky,
)
from spclust.numerics.jacobi import eigen

# An eigenvalue that exceeds 1 by less than this per dimension exceeds it by rounding alone.
_EIGENVALUE_NOISE = 1e-15
# Of a variance, per dimension: a difference of spreads that exceeds 0 by more is no rounding error.
_COVER_NOISE = 1e-14


@allocating
def padded_spread(Sigma: Floats, delta: Floats) -> Floats:
    """U = Sigma + delta delta^T, with delta (d,) = mean of the union - own mean.

    Eq. (14) and (15), §III-C.
    """
    d = delta.size
    U = np.empty((d, d))
    for r in range(d):
        for c in range(d):
            U[r, c] = Sigma[r, c] + delta[r] * delta[c]
    return U


@allocating
def union_of_spreads(U1: Floats, U2: Floats, floor: float) -> Floats:
    """The smallest spread of the Eq. (16) form that covers both U1 and U2 (d, d). §III-C.

    L Q max(Lambda, I) Q^T L^T with U2 = L L^T and L^-1 U1 L^-T = Q Lambda Q^T (E1). It is symmetric
    in U1 and U2; the one with the larger trace is whitened, which keeps all digits where the two
    differ by many orders, and only what the other one adds to it is added. Where even that is lost,
    with means some 10^8 scales apart, it is the sum, which covers both. Modified in place: one of
    the two, which is returned.
    """
    d = U1.shape[0]
    traces, equal = 0.0, True
    for r in range(d):
        traces += U1[r, r] - U2[r, r]
        for c in range(d):
            equal &= U1[r, c] == U2[r, c]
    if equal:
        return U1
    if traces > 0.0:
        U1, U2 = U2, U1
    R, inverse, W = np.zeros((d, d)), np.empty(d), np.empty(d * (d + 1) // 2)
    shifted_cholesky(U2, 0.0, floor, R, inverse)  # L is R^T
    raise_diagonal(U2, R)
    invert_transposed(R, inverse, W)
    white = whitened(U1, W)
    if surely_covered(white):
        return U2
    if not np.isfinite(np.sum(white)):  # rounding left nothing of U2 to whiten with
        U2 += U1
        return U2
    eigenvalues, Q = eigen(white)
    v = np.empty(d)
    for k in range(d):
        excess = eigenvalues[k] - 1.0
        if excess > _EIGENVALUE_NOISE * d:
            for r in range(d):
                v[r] = 0.0
                for c in range(r + 1):
                    v[r] += R[c, r] * Q[c, k]
                v[r] *= np.sqrt(excess)
            for r in range(d):
                for c in range(d):
                    U2[r, c] += v[r] * v[c]
    return U2


@allocating
def whitened(U: Floats, W: Floats) -> Floats:
    """W U W^T (d, d), for a lower triangular W packed row by row."""
    d = U.shape[0]
    half, white = np.zeros((d, d)), np.empty((d, d))
    for r in range(d):
        for k in range(r + 1):
            w = W[r * (r + 1) // 2 + k]
            for c in range(d):
                half[r, c] += w * U[k, c]
    for r in range(d):
        for c in range(r + 1):
            start = c * (c + 1) // 2
            white[r, c] = white[c, r] = dot(W[start : start + c + 1], half[r], 0)
    return white


@allocating
def surely_covered(A: Floats) -> bool:
    """Whether bounds show that no eigenvalue of a positive definite A (d, d) exceeds 1.

    None exceeds the root of the sum of their squares, which is that of all entries of A, nor the
    fourth root of the sum of their fourth powers. Two multiplications instead of a decomposition:
    when a structure takes in one that is small beside it, they nearly always do.
    """
    d = A.shape[0]
    squares = dot(A.reshape(d * d), A.reshape(d * d), 0)
    if squares <= 1.0:
        return True
    if squares > d:
        return False
    fourths = 0.0
    for r in range(d):
        for c in range(r + 1):
            product = dot(A[r], A[c], 0)
            fourths += product * product if r == c else 2.0 * product * product
    return fourths <= 1.0


@outlined
def surely_holds(Sigma: Floats, other: Floats, share: float, e: Floats, rest: Floats) -> bool:
    """Whether the first padded spread, Eq. (14), surely covers the other one, Eq. (15).

    `share` is the other one's in the merged mean, e (d,) the offset of its mean. It does if the
    difference, less what rounding may have added to it, has a Cholesky factor. No eigenvalues are
    needed for that: when a structure takes in one that is small beside it, this is all there is to
    find out. Modified in place: rest (d, d), scratch.
    """
    own, others = share * share, (1.0 - share) ** 2
    for r in range(e.size):
        for c in range(r, e.size):
            rest[r, c] = Sigma[r, c] - other[r, c] + (own - others) * e[r] * e[c]
        rest[r, r] -= _COVER_NOISE * e.size * (Sigma[r, r] + max(own, others) * e[r] * e[r])
        if not rest[r, r] > 0.0:
            return False
    return positive_definite(rest)


@allocating
def unite(Sigma1: Floats, delta1: Floats, Sigma2: Floats, delta2: Floats, floor: float) -> None:
    """Make Sigma1 (d, d) the union of two spreads. Eq. (14) to (16). Modified in place: Sigma1."""
    union = union_of_spreads(padded_spread(Sigma1, delta1), padded_spread(Sigma2, delta2), floor)
    copy_matrix(union, Sigma1)
