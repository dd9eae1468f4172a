"""Covariance union: Eq. 14 to 16 (section III-C), and the factors that go with it.

`floor` is a lower bound of the squared pivots of every Cholesky factor here. In the units of
the stream (see `structures`) each spread is at least the identity, so each pivot is at least 1.
"""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel

# An eigenvalue that exceeds 1 by less than this per dimension exceeds it by rounding alone.
_EIGENVALUE_NOISE = 1e-15

# A squared pivot smaller than this part of its diagonal entry, per dimension, is rounding alone.
_PIVOT_NOISE = 2e-15


@kernel
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


@kernel
def cholesky(A: Floats, floor: float) -> Floats:
    """Lower triangular L (d, d) with L L^T = A. Modified in place: A, on its diagonal, if at all.

    Where rounding ate a direction, because two means lie 10^10 scales apart, a pivot comes out
    below `floor` or even negative. It is raised, and A with it, as little as makes A again
    positive definite in floating point: a spread may grow by a rounding error, it never collapses.
    """
    d = A.shape[0]
    L = np.zeros((d, d))
    for c in range(d):
        pivot = A[c, c]
        for k in range(c):
            pivot -= L[c, k] * L[c, k]
        least = max(floor, _PIVOT_NOISE * d * A[c, c])
        if pivot < least:
            A[c, c] += least - pivot
            pivot = least
        L[c, c] = np.sqrt(pivot)
        for r in range(c + 1, d):
            rest = A[r, c]
            for k in range(c):
                rest -= L[r, k] * L[c, k]
            L[r, c] = rest / L[c, c]
    return L


@kernel
def inverse_lower(L: Floats) -> Floats:
    """Inverse (d, d) of a lower triangular matrix."""
    d = L.shape[0]
    W = np.zeros((d, d))
    for r in range(d):
        W[r, r] = 1.0 / L[r, r]
        for c in range(r):
            rest = 0.0
            for k in range(c, r):
                rest -= L[r, k] * W[k, c]
            W[r, c] = rest / L[r, r]
    return W


@kernel
def union_of_spreads(U1: Floats, U2: Floats, floor: float) -> Floats:
    """The smallest spread of the Eq. (16) form that covers both U1 and U2 (d, d). §III-C.

    L Q max(Lambda, I) Q^T L^T with U2 = L L^T and L^-1 U1 L^-T = Q Lambda Q^T (E1). It is symmetric
    in U1 and U2; the one with the larger trace is whitened, which is the better conditioned way,
    and only what the other one adds to it is added.
    """
    if np.array_equal(U1, U2):
        return U1.copy()
    if np.trace(U1) > np.trace(U2):
        U1, U2 = U2, U1
    L = cholesky(U2, floor)
    W = inverse_lower(L)
    white = W @ (U1 @ W.T)
    eigenvalues, Q = np.linalg.eigh(white)
    Sigma = U2.copy()
    for k in range(eigenvalues.size):
        excess = eigenvalues[k] - 1.0
        if excess > _EIGENVALUE_NOISE * eigenvalues.size:
            v = L @ (np.sqrt(excess) * Q[:, k])
            for r in range(v.size):
                for c in range(v.size):
                    Sigma[r, c] += v[r] * v[c]
    return Sigma
