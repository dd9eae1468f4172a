"""Covariance union of any two structures: Eq. 14 to 16 (section III-C).

`floor` is a lower bound of the squared pivots of the Cholesky factor. In units of scale
(see `structures`) each spread is at least the identity, so each pivot is at least 1.
"""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import allocating
from spclust.core.factor import invert_transposed, raise_diagonal, shifted_cholesky

# An eigenvalue that exceeds 1 by less than this per dimension exceeds it by rounding alone.
_EIGENVALUE_NOISE = 1e-15


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
    in U1 and U2; the one with the larger trace is whitened, which is the better conditioned way,
    and only what the other one adds to it is added.
    """
    if np.array_equal(U1, U2):
        return U1.copy()
    if np.trace(U1) > np.trace(U2):
        U1, U2 = U2, U1
    d = U2.shape[0]
    R, inverse, packed = np.zeros((d, d)), np.empty(d), np.empty(d * (d + 1) // 2)
    shifted_cholesky(U2, 0.0, floor, R, inverse)
    raise_diagonal(U2, R)
    invert_transposed(R, inverse, packed)
    W = np.zeros((d, d))
    for r in range(d):
        for c in range(r + 1):
            W[r, c] = packed[r * (r + 1) // 2 + c]
    white = W @ (U1 @ W.T)
    eigenvalues, Q = np.linalg.eigh(white)
    Sigma = U2.copy()
    for k in range(d):
        excess = eigenvalues[k] - 1.0
        if excess > _EIGENVALUE_NOISE * d:
            v = R.T @ (np.sqrt(excess) * Q[:, k])
            for r in range(v.size):
                for c in range(v.size):
                    Sigma[r, c] += v[r] * v[c]
    return Sigma


@allocating
def unite(Sigma1: Floats, delta1: Floats, Sigma2: Floats, delta2: Floats, floor: float) -> None:
    """Make Sigma1 (d, d) the union of two spreads. Eq. (14) to (16). Modified in place: Sigma1."""
    U1 = padded_spread(Sigma1, delta1)
    U2 = padded_spread(Sigma2, delta2)
    Sigma1[:] = union_of_spreads(U1, U2, floor)
