"""Eigenvalues of small symmetric matrices by Jacobi's rotations.

Merges of two grown structures need them; for a few features this takes less than calling LAPACK.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import allocating, outlined, part
from spclust.numerics.cholesky import write_identity

LARGEST_FOR_JACOBI = 8  # features; from there on LAPACK is faster
_MOST_SWEEPS = 40  # about five are needed; this only ends a loop that rounding keeps alive
_NEGLIGIBLE = 1e-17  # of the two diagonal entries: a rotation would change nothing


@outlined
def eigen(A: Floats, values: Floats, Q: Floats) -> None:
    """Eigenvalues (d,) and eigenvectors, as columns of Q (d, d), of a positive definite A (d, d).

    Modified in place: A, values, Q.
    """
    d = A.shape[0]
    if d > LARGEST_FOR_JACOBI:
        eigen_by_lapack(A, values, Q)
        return
    write_identity(Q)
    rotated = True
    for _ in range(_MOST_SWEEPS):
        if not rotated:
            break
        rotated = False
        for p in range(d):
            for q in range(p + 1, d):
                if abs(A[p, q]) > _NEGLIGIBLE * np.sqrt(A[p, p]) * np.sqrt(A[q, q]):
                    rotate(A, Q, p, q)
                    rotated = True
    for k in range(d):
        values[k] = A[k, k]


@allocating
def eigen_by_lapack(A: Floats, values: Floats, Q: Floats) -> None:
    """`eigen` by LAPACK. Modified in place: values, Q."""
    found, vectors = np.linalg.eigh(A)
    for k in range(values.size):
        values[k] = found[k]
        for r in range(values.size):
            Q[r, k] = vectors[r, k]


@part
def rotate(A: Floats, Q: Floats, p: int, q: int) -> None:
    """Rotate the plane of p and q such that A[p, q] becomes 0. Modified in place: A, Q."""
    cotangent = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    tangent = 1.0 / (abs(cotangent) + np.sqrt(1.0 + cotangent * cotangent))
    tangent = tangent if cotangent >= 0.0 else -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    shift = tangent * A[p, q]
    for k in range(A.shape[0]):
        if k not in (p, q):
            a, b = A[k, p], A[k, q]
            A[k, p] = A[p, k] = cosine * a - sine * b
            A[k, q] = A[q, k] = sine * a + cosine * b
        a, b = Q[k, p], Q[k, q]
        Q[k, p], Q[k, q] = cosine * a - sine * b, sine * a + cosine * b
    A[p, p] -= shift
    A[q, q] += shift
    A[p, q] = A[q, p] = 0.0
