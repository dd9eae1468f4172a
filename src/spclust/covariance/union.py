"""Covariance union of two structures: Eq. 14 to 16 (section III-C).

The rule is here, for any two covariances. Others compute the same union with less work where its
form is known: `point_union` for a single point, `small_union` for structures of a few points,
`plane` for two features, and `diagonal`, `spherical` and `lowrank_union` for their kinds. The tests
compare all of them with the equations (`covariance_union` in tests/reference): change those first,
then this file, and the tests that fail name the rest. The automatic mode adds moments instead:
`auto.moments`.

`floor` is a lower bound of the squared pivots of the Cholesky factor. In units of scale
(see `state.structures`) each covariance is at least the identity, so each pivot is at least 1.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined
from spclust.numerics.cholesky import (
    copy_matrix,
    dot,
    invert_transposed,
    positive_definite,
    raise_diagonal,
    shifted_cholesky,
)
from spclust.numerics.jacobi import eigen
from spclust.numerics.memory import matrix, row

# An eigenvalue that exceeds 1 by less than this per dimension exceeds it by rounding alone.
_EIGENVALUE_NOISE = 1e-15
# Of a variance, per dimension: a difference of covariances that exceeds 0 by more is no rounding.
_COVER_NOISE = 1e-14


def union_memory(d: int) -> int:
    """Numbers of scratch memory that `unite` takes for covariances (d, d)."""
    return 7 * d * d + 4 * d


@outlined
def pad(Sigma: Floats, delta: Floats, U: Floats) -> None:
    """U = Sigma + delta delta^T, with delta (d,) = mean of the union - own mean.

    Eq. (14) and (15), §III-C. Modified in place: U (d, d).
    """
    for r in range(delta.size):
        for c in range(delta.size):
            U[r, c] = Sigma[r, c] + delta[r] * delta[c]


@outlined
def union_of_covariances(U1: Floats, U2: Floats, floor: float, memory: Floats) -> None:
    """Make U1 the smallest covariance of the Eq. (16) form that covers U1 and U2 (d, d). §III-C.

    L Q max(Lambda, I) Q^T L^T with U2 = L L^T and L^-1 U1 L^-T = Q Lambda Q^T (E1). It is symmetric
    in U1 and U2; the one with the larger trace is whitened, which keeps all digits where the two
    differ by many orders, and only what the other one adds to it is added. Where even that is lost,
    with means some 10^8 scales apart, it is the sum, which covers both. Modified in place: U1, U2;
    memory is scratch.
    """
    d = U1.shape[0]
    traces, equal = 0.0, True
    for r in range(d):
        traces += U1[r, r] - U2[r, r]
        for c in range(d):
            equal &= U1[r, c] == U2[r, c]
    if equal:
        return
    small, large = U1, U2
    if traces > 0.0:
        small, large = U2, U1
    R, white, Q = (
        matrix(memory, 0, d, d),
        matrix(memory, d * d, d, d),
        matrix(memory, 2 * d * d, d, d),
    )
    inverse, values, v = (
        row(memory, 3 * d * d, d),
        row(memory, 3 * d * d + d, d),
        row(memory, 3 * d * d + 2 * d, d),
    )
    W = row(memory, 3 * d * d + 3 * d, d * (d + 1) // 2)
    shifted_cholesky(large, 0.0, floor, R, inverse)  # L is R^T
    raise_diagonal(large, R)
    invert_transposed(R, inverse, W)
    total = whiten(small, W, Q, white)
    if not surely_covered(white, row(memory, d * d, d * d)):
        if np.isfinite(total):
            eigen(white, values, Q)
            for k in range(d):
                excess = values[k] - 1.0
                if excess > _EIGENVALUE_NOISE * d:
                    for r in range(d):
                        v[r] = 0.0
                        for c in range(r + 1):
                            v[r] += R[c, r] * Q[c, k]
                        v[r] *= np.sqrt(excess)
                    for r in range(d):
                        for c in range(d):
                            large[r, c] += v[r] * v[c]
        else:  # rounding left nothing of the larger one to whiten with
            for r in range(d):
                for c in range(d):
                    large[r, c] += small[r, c]
    copy_matrix(large, U1)


@outlined
def whiten(U: Floats, W: Floats, half: Floats, white: Floats) -> float:
    """White = W U W^T (d, d), for a lower triangular W packed row by row; the sum of all entries.

    Modified in place: white; half (d, d) is scratch.
    """
    d, total = U.shape[0], 0.0
    for r in range(d):
        for c in range(d):
            half[r, c] = 0.0
        for k in range(r + 1):
            w = W[r * (r + 1) // 2 + k]
            for c in range(d):
                half[r, c] += w * U[k, c]
    for r in range(d):
        for c in range(r + 1):
            white[r, c] = white[c, r] = dot(row(W, c * (c + 1) // 2, c + 1), half[r], 0)
            total += white[r, c]
    return total


@outlined
def surely_covered(A: Floats, entries: Floats) -> bool:
    """True if bounds show that no eigenvalue of a positive definite A (d, d) exceeds 1.

    None exceeds the root of the sum of their squares, which is that of all entries of A (d * d,),
    nor the fourth root of the sum of their fourth powers. Two multiplications instead of a
    decomposition: when a structure absorbs one that is small beside it, they nearly always do.
    """
    d = A.shape[0]
    squares = dot(entries, entries, 0)
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
    """True if the first padded covariance, Eq. (14), surely covers the other one, Eq. (15).

    `share` is the other one's in the merged mean, e (d,) the offset of its mean. It does if the
    difference, less what rounding may have added to it, has a Cholesky factor. No eigenvalues are
    needed for that: when a structure absorbs one that is small beside it, this is all there is to
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


@outlined
def unite(
    Sigma1: Floats, delta1: Floats, Sigma2: Floats, delta2: Floats, floor: float, memory: Floats
) -> None:
    """Make Sigma1 (d, d) the union of two covariances. Eq. (14) to (16).

    Modified in place: Sigma1; memory is scratch.
    """
    d = delta1.size
    U1, U2 = matrix(memory, 0, d, d), matrix(memory, d * d, d, d)
    pad(Sigma1, delta1, U1)
    pad(Sigma2, delta2, U2)
    union_of_covariances(U1, U2, floor, row(memory, 2 * d * d, memory.size - 2 * d * d))
    copy_matrix(U1, Sigma1)
