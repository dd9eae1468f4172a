"""Covariance union with a fresh point, which nearly all merges are: one scalar equation.

In units of scale a fresh structure has covariance I, and every covariance S is at least I. With e
the difference of the point and the structure's mean and rho the point's share in the merged mean,
Eq. 14 and 15 are

    U_S = S + rho^2 e e^T            U_x = I + (1 - rho)^2 e e^T

and U_x - U_S = (I - S) + (1 - 2 rho) e e^T, where I - S has no positive direction: so U_x sticks
out of U_S in at most one direction v, and Eq. 16 adds one rank to U_S, or nothing. v solves

    U_S v = lambda U_x v, lambda < 1    that is    v = (S - lambda I)^-1 e

and lambda is the root of one increasing function of lambda. Newton's step for it is the Rayleigh
quotient of v; from the quotient of e itself it converges from above, in two or three steps, to
rounding. It costs a fraction of the eigendecomposition that Eq. 16 asks for in general. Where S is
so large that rounding hides the I in it, the result is False, and another way has to be taken.

After its first points a structure covers nearly all others: nothing sticks out, and S grows by
rho^2 e e^T alone. Nothing does if, and only if,

    (1 - 2 rho) e^T (S - I)^-1 e <= 1        where        (S - I)^-1 = S^-1 + S^-2 + S^-3 + ...

and `covers` bounds that sum from its first terms, which the factor of S gives without effort.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.cholesky import (
    PIVOT_NOISE,
    dot,
    renew_inverse,
    shifted_cholesky,
    solve,
    times_vector,
    transposed_times_vector,
)

_NEGLIGIBLE = 1e-13  # an eigenvalue closer to 1 adds less than rounding does
_TOLERATED = 1e-9  # the closest to 1 that may have to be neglected, because rounding hides it
_CONVERGED = 1e-6  # relative: what is left then is the square of it
_MOST_STRETCHES = 16  # steps of `stretch_by_factor`; four to eight are usual
_LEAST_SHRINKING = 0.05  # of the squared change, from one of its steps to the next
_STRETCHED = 1e-26  # squared: what is left of the change after the last step, relative: 1e-13
_CERTAINLY_OUTSIDE = 1e-9  # an eigenvalue closer to 1 is left to the way that is certain
_LARGEST_STRETCH = 100.0  # of a factor, squared: its rounding errors grow as much
_FARTHEST = 1e12  # squared distance of a point
_MOST_STEPS = 60  # two or three are needed; this only ends a loop that rounding keeps alive


class UnionScratch(NamedTuple):
    """Memory for the union of a structure with a point, of no meaning outside."""

    R: Any  # (d, d) factor of S - lambda I
    inverse: Any  # (d,) reciprocals of its diagonal
    unit: Any  # (d,) direction of the point
    v: Any  # (d,) direction in which it sticks out
    w: Any  # (d,)
    p: Any  # (d,) the point's offset, whitened


@part
def covers(W: Floats, e: Floats, rho: float, least: float, p: Floats, v: Floats) -> bool:
    """True if a point at offset e (d,) surely sticks out of a structure in no direction.

    W (t,) is the factor of S, W^T W = S^-1, and `least` a lower bound of its eigenvalues. False
    means that it is not known. Modified in place: p (d,), which becomes W e; v (d,) is scratch.
    """
    return inside(times_vector(W, e, p), W, rho, least, p, v)


@part
def inside(first: float, W: Floats, rho: float, least: float, p: Floats, v: Floats) -> bool:
    """`covers` if p is W e already, and `first` its squared length.

    Modified in place: v, scratch.
    """
    excess = 1.0 - 2.0 * rho
    if excess <= 0.0:
        return True
    if least <= 1.0:
        return False
    rest = least / (least - 1.0)  # 1 + 1 / least + 1 / least^2 + ...
    if excess * first * rest <= 1.0:
        return True
    if excess * first > 1.0:
        return False
    transposed_times_vector(W, p, v)
    return excess * (first + dot(v, v, 0) * rest) <= 1.0


@outlined
def stretch_by_factor(S: Floats, W: Floats, e: Floats, rho: float, scratch: UnionScratch) -> bool:
    """Make S (d, d) the union with a point that sticks out, and W (t,) its factor.

    With the factor of U_S, which differs from W in one rank, v -> U_S^-1 U_x v is O(d^2), and v
    tends to the direction in which the point sticks out: all others shrink beside it, mostly to a
    few hundredths at each step. False, and S as it was, where it is not that easy. scratch.p is
    W e. Modified in place: S, W, scratch.
    """
    _, _, z, v, w, p = scratch
    if dot(p, p, 0) * rho * rho > _LARGEST_STRETCH or not dot(e, e, 0) < _FARTHEST:
        return False
    for c in range(e.size):
        p[c] *= rho
        z[c] = e[c]
    renew_inverse(W, p, v, w)
    far, before = (1.0 - rho) ** 2, np.inf
    for step in range(_MOST_STRETCHES):
        square = times_vector(W, z, p)
        transposed_times_vector(W, p, v)  # v is U_S^-1 z
        along = far * dot(e, v, 0)
        for c in range(e.size):
            w[c] = v[c] + along * e[c]  # w is U_x v
        form = dot(v, w, 0)
        reciprocal = square / form  # the quotient of v: the eigenvalue, in the end
        change, size = 0.0, 0.0
        for c in range(e.size):
            last, z[c] = z[c], w[c] * reciprocal
            change += (z[c] - last) ** 2
            size += last**2
        if step > 1 and not change < _LEAST_SHRINKING * before:
            return False
        if step > 0 and change * change <= _STRETCHED * before * size:
            break  # the next change, if it shrinks as this one did, is too small to matter
        before = change
    else:
        return False
    # Eq. 16 adds 1 - lambda times the square of U_x v, where v^T U_x v = 1.
    if not 1.0 / _LARGEST_STRETCH <= reciprocal < 1.0 - _CERTAINLY_OUTSIDE:
        return False
    factor = np.sqrt((1.0 - reciprocal) / form)
    for c in range(e.size):
        w[c] *= factor
        z[c] = rho * e[c]
    for r in range(e.size):
        for c in range(e.size):
            S[r, c] += z[r] * z[c] + w[r] * w[c]
    times_vector(W, w, p)
    renew_inverse(W, p, v, w)
    return True


@outlined
def union_with_point(S: Floats, e: Floats, rho: float, least: float, scratch: UnionScratch) -> bool:
    """Make S (d, d) the union of itself and a point at offset e (d,). Eq. (16), §III-C.

    `least` is a lower bound of the eigenvalues of S. False, and S as it was, if that cannot be done
    here. Modified in place: S, scratch.
    """
    unit, v, w = scratch.unit, scratch.v, scratch.w
    length = normalise(e, unit)
    near, far = (rho * length) ** 2, ((1.0 - rho) * length) ** 2
    eigenvalue = direction_outside(S, near, far, least, scratch) if far > near else 1.0
    if not eigenvalue <= 1.0:
        return False
    sticks_out = eigenvalue < 1.0
    if sticks_out:
        # Eq. 16 adds 1 - lambda times the square of U_x v, where v^T U_x v = 1.
        along = dot(unit, v, 0)
        size = np.sqrt((1.0 - eigenvalue) / (dot(v, v, 0) + far * along * along))
        for c in range(v.size):
            v[c] = size * (v[c] + far * along * unit[c])
    for c in range(v.size):
        w[c] = rho * e[c]
        v[c] = v[c] if sticks_out else 0.0
    for r in range(v.size):
        for c in range(v.size):
            S[r, c] += w[r] * w[c] + v[r] * v[c]
    return True


@part
def normalise(e: Floats, unit: Floats) -> float:
    """Length of e (d,), without overflow, and its direction. Modified in place: unit."""
    largest = 0.0
    for c in range(e.size):
        largest = max(largest, abs(e[c]))
    if largest == 0.0:
        return 0.0
    for c in range(e.size):
        unit[c] = e[c] / largest
    size = np.sqrt(dot(unit, unit, 0))
    for c in range(e.size):
        unit[c] /= size
    return largest * size


@part
def direction_outside(
    S: Floats, near: float, far: float, least: float, scratch: UnionScratch
) -> float:
    """Eigenvalue below 1 of the direction v that sticks out; 1 if none does, NaN if unknown.

    near and far are rho^2 |e|^2 and (1 - rho)^2 |e|^2. Modified in place: scratch; v is scaled
    so that (S - lambda I) v is about `unit`.
    """
    R, inverse, unit, v, w, _ = scratch
    quotient, largest = 0.0, 1.0
    for r in range(unit.size):
        quotient += unit[r] * dot(S[r], unit, 0)
        largest = max(largest, S[r, r])
    # If S may have an eigenvalue near 1, S - lambda I cannot be told from a singular matrix with a
    # lambda closer to 1 than this.
    noise = 10.0 * PIVOT_NOISE * unit.size * largest
    almost_one = 1.0 - (_NEGLIGIBLE if least - 1.0 > noise else max(_NEGLIGIBLE, noise))
    if almost_one < 0.5:
        return np.nan
    eigenvalue = (quotient + near) / (1.0 + far)
    certain = eigenvalue < almost_one  # no quotient is below the smallest eigenvalue
    eigenvalue = min(eigenvalue, almost_one)
    for _ in range(_MOST_STEPS):
        if not shifted_cholesky(S, eigenvalue, 0.0, R, inverse):
            return np.nan
        solve(R, inverse, unit, v)
        along = dot(unit, v, 0)
        if not certain and (eigenvalue * far - near) * along <= 1.0:
            return 1.0 if almost_one >= 1.0 - _TOLERATED else np.nan
        certain = True
        # Newton's step, and v taken along with it, to first order: w is its derivative.
        norm = dot(v, v, 0)
        newton = (along + eigenvalue * norm + near * along**2) / (norm + far * along**2)
        step = newton - eigenvalue
        solve(R, inverse, v, w)
        crossed = 0.0
        for c in range(v.size):
            moved = v[c] + step * w[c]
            crossed += moved * v[c]
            v[c] = moved
        # The quotient of v, better still: (S - eigenvalue I) v is unit + step times the old v.
        along = dot(unit, v, 0)
        norm = dot(v, v, 0)
        form = along + step * crossed + eigenvalue * norm
        eigenvalue = min(newton, (form + near * along**2) / (norm + far * along**2))
        if -step <= _CONVERGED * (1.0 - eigenvalue):
            return eigenvalue
    return np.nan
