"""Cholesky factors of small matrices, written for sizes at which calling LAPACK costs more.

Factors are upper triangular, R^T R = A, and every inner loop runs along a row: contiguous memory is
what lets it be vectorised. The reciprocals of the diagonal are kept beside R; divisions are slow.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import part, reduction
from spclust.numerics.eight import (
    LANES,
    larger_of,
    load,
    load_until,
    root_of,
    same,
    store,
    store_until,
    sum_of,
)

# A squared pivot smaller than this part of its diagonal entry, per dimension, is rounding alone.
PIVOT_NOISE = 2e-15


@part
def copy_matrix(source: Floats, target: Floats) -> None:
    """Copy a matrix (d, d). Modified in place: target."""
    for r in range(source.shape[0]):
        for c in range(source.shape[1]):
            target[r, c] = source[r, c]


@part
def write_identity(A: Floats) -> None:
    """Make A (d, d) the identity. Modified in place: A."""
    for r in range(A.shape[0]):
        for c in range(A.shape[0]):
            A[r, c] = 1.0 if r == c else 0.0


@reduction
def dot(a: Floats, b: Floats, start: int) -> float:
    """Sum of a[k] * b[k] for k >= start."""
    total = 0.0
    for k in range(start, a.size):
        total += a[k] * b[k]
    return total


@part
def subtract_rows(row: Floats, factors: Floats, column: int, rows: Floats, n: int) -> None:
    """Subtract factors[k, column] rows[k], for all k < n, from `row`, from its place n on.

    Four rows at a time: `row` is then read and written once for four products. Modified in
    place: row.
    """
    k = 0
    while k + 4 <= n:
        a, b = factors[k, column], factors[k + 1, column]
        c, d = factors[k + 2, column], factors[k + 3, column]
        for i in range(n, row.size):
            row[i] -= a * rows[k, i] + b * rows[k + 1, i] + c * rows[k + 2, i] + d * rows[k + 3, i]
        k += 4
    while k < n:
        a = factors[k, column]
        for i in range(n, row.size):
            row[i] -= a * rows[k, i]
        k += 1


@part
def shifted_cholesky(A: Floats, shift: float, floor: float, R: Floats, inverse: Floats) -> bool:
    """Upper triangular R (d, d) with R^T R = A - shift I, and 1 / R[k, k]. Modified in place: both.

    Where rounding ate a direction, because two means lie 10^10 scales apart, a squared pivot comes
    out below `floor` or even negative: it is raised to what is positive in floating point, its row
    is kept within what a factor of A can hold, and the answer is False: only R's size is right.
    """
    d = A.shape[0]
    sound = True
    for k in range(d):
        row = R[k]
        for i in range(k, d):
            row[i] = A[k, i]
        row[k] -= shift
        subtract_rows(row, R, k, R, k)
        least = max(floor, PIVOT_NOISE * d * A[k, k])
        raised = not row[k] >= least
        pivot = np.sqrt(least if raised else row[k])
        inverse[k] = 1.0 / pivot
        for i in range(k + 1, d):
            row[i] *= inverse[k]
        if raised:
            sound = False
            for i in range(k + 1, d):
                most = np.sqrt(A[i, i])
                row[i] = min(max(row[i], -most), most)
        row[k] = pivot
    return sound


@part
def positive_definite(A: Floats) -> bool:
    """True if A (d, d), of which the upper triangle is read, has a Cholesky factor.

    Modified in place: that triangle of A.
    """
    for k in range(A.shape[0]):
        row = A[k]
        subtract_rows(row, A, k, A, k)
        if not row[k] > 0.0:
            return False
        inverse = 1.0 / np.sqrt(row[k])
        for i in range(k, row.size):
            row[i] *= inverse
    return True


@part
def raise_diagonal(A: Floats, R: Floats) -> None:
    """Make A (d, d) as large as R^T R where a pivot was raised. Modified in place: A.

    A covariance may grow by a rounding error; it never becomes singular.
    """
    for k in range(A.shape[0]):
        square = 0.0
        for i in range(k + 1):
            square += R[i, k] * R[i, k]
        if square > A[k, k] * (1.0 + 0.5 * PIVOT_NOISE):
            A[k, k] = square


@part
def invert_transposed(R: Floats, inverse: Floats, W: Floats) -> None:
    """Lower triangular W = (R^T)^-1, row by row, packed into W (t,). Modified in place: W."""
    d = R.shape[0]
    start = 0
    for r in range(d):
        for c in range(r + 1):
            W[start + c] = 0.0
        other = 0
        for k in range(r):
            factor = -R[k, r] * inverse[r]
            for c in range(k + 1):
                W[start + c] += factor * W[other + c]
            other += k + 1
        W[start + r] = inverse[r]
        start += r + 1


@part
def solve(R: Floats, inverse: Floats, b: Floats, x: Floats) -> None:
    """Solve R^T R x = b for x (d,). Modified in place: x."""
    d = b.size
    for i in range(d):
        x[i] = b[i]
    for k in range(d):
        x[k] *= inverse[k]
        for i in range(k + 1, d):
            x[i] -= R[k, i] * x[k]
    for k in range(d - 1, -1, -1):
        x[k] = (x[k] - dot(R[k], x, k + 1)) * inverse[k]


@part
def times_vector(W: Floats, e: Floats, p: Floats) -> float:
    """Write W e to p (d,), for a packed lower triangular W (t,); its squared length.

    Modified in place: p.
    """
    start, square = 0, 0.0
    for r in range(e.size):
        total, whole = same(0.0), r + 1 - (r + 1) % LANES
        for c in range(0, whole, LANES):
            total += load(W, start + c) * load(e, c)
        if whole <= r:
            total += load_until(W, start + whole, start + r + 1) * load_until(e, whole, r + 1)
        p[r] = sum_of(total)
        square += p[r] * p[r]
        start += r + 1
    return square


@part
def transposed_times_vector(W: Floats, p: Floats, v: Floats) -> None:
    """Write W^T p to v (d,), for a packed lower triangular W (t,). Modified in place: v.

    Eight columns at a time: their sums need not be written down before they are complete.
    """
    d = p.size
    for c in range(0, d, LANES):
        total, start, whole = same(0.0), c * (c + 3) // 2, min(c + LANES - 1, d)
        for r in range(c, whole):
            total += p[r] * load_until(W, start, start + r - c + 1)
            start += r + 1
        for r in range(whole, d):
            total += p[r] * load(W, start)
            start += r + 1
        store_until(total, v, c, d)


@part
def renew_inverse(W: Floats, p: Floats, kept: Floats, taken: Floats) -> None:
    """Make W (t,), with W^T W = S^-1, what it is for S + v v^T, from p = W v (d,).

    W S W^T = I becomes I + p p^T = L L^T, and W becomes L^-1 W: that inverse is known in closed
    form, so that a rank is added in O(d^2): of each row a part is kept, and a part of the rows
    before it, weighted by p, taken away. Eight columns at a time, as above. Modified in place: W;
    kept (d,) and taken (d,) are scratch.
    """
    d, square = p.size, 1.0
    for r in range(d):
        taken[r] = square
        square += p[r] * p[r]
        kept[r] = square
    for r in range(0, d, LANES):
        # None is below 1 but what is behind the last.
        before = root_of(larger_of(load_until(taken, r, d), same(1.0)))
        after = root_of(larger_of(load_until(kept, r, d), same(1.0)))
        store_until(before / after, kept, r, d)
        store_until(load_until(p, r, d) / (before * after), taken, r, d)
    for c in range(0, d, LANES):
        total, start, whole = same(0.0), c * (c + 3) // 2, min(c + LANES - 1, d)
        for r in range(c, whole):
            end = start + r - c + 1
            w = load_until(W, start, end)
            store_until(kept[r] * w - taken[r] * total, W, start, end)
            total += p[r] * w
            start += r + 1
        for r in range(whole, d):
            w = load(W, start)
            store(kept[r] * w - taken[r] * total, W, start)
            total += p[r] * w
            start += r + 1


@part
def least_eigenvalue_bound(W: Floats) -> float:
    """A lower bound of all eigenvalues of S, from the packed W (t,) with W^T W = S^-1.

    The sum of the squares of W is the trace of S^-1, and no eigenvalue of that exceeds it.
    """
    return 1.0 / dot(W, W, 0)
