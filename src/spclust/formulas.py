"""Two formulas of the paper as functions of arrays: typicality and covariance union."""

import numpy as np
import numpy.typing as npt

from spclust.algorithm import typicality as eq
from spclust.array_types import Floats
from spclust.covariance import union
from spclust.jit.decorators import kernel
from spclust.numerics import cholesky
from spclust.parameters import exponent_of, validate

_TINY = np.finfo(float).tiny


@kernel
def _mahalanobis_sq(offset: Floats, whiten: Floats) -> float:
    q: float = eq.mahalanobis_sq(offset, whiten)
    return q


@kernel
def _nlt_from_log_odds(odds: float) -> float:
    nlt: float = eq.nlt_from_odds(odds, True)
    return nlt


@kernel
def _padded(Sigma: Floats, delta: Floats) -> Floats:
    U = np.empty(Sigma.shape)
    union.pad(Sigma, delta, U)
    return U


@kernel
def _union(U1: Floats, U2: Floats, memory: Floats) -> Floats:
    union.union_of_covariances(U1, U2, _TINY, memory)
    return U1


@kernel
def _factor(covariance: Floats, R: Floats, inverse: Floats, W: Floats) -> Floats:
    cholesky.shifted_cholesky(covariance, 0.0, _TINY, R, inverse)
    cholesky.invert_transposed(R, inverse, W)
    return W


def typicality(
    x: npt.ArrayLike, mu: npt.ArrayLike, Sigma: npt.ArrayLike, m: float = 1.5
) -> float | Floats:
    """Typicality of points in a structure, from 0 to 1: Eq. (2) of the paper.

    Parameters
    ----------
    x : array-like of shape (d,) or (n, d)
        One point, or n points.
    mu : array-like of shape (d,)
        Mean of the structure.
    Sigma : array-like of shape (d, d)
        Covariance of the structure, symmetric positive definite.
    m : float, default 1.5
        Fuzzifier, above 1.

    Returns
    -------
    float or ndarray of shape (n,)
        1 at the mean, 1/2 at Mahalanobis distance 1, towards 0 far away.

    Examples
    --------
    >>> from spclust import typicality
    >>> typicality([2.0, 0.0], [0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]], m=1.5)
    0.5
    """
    validate({"m": m}, "typicality")
    mean = _vector("mu", mu)
    deviations, W = _whitening(_covariance("Sigma", Sigma, mean.size))
    points = _numbers("x", x)
    if points.ndim not in (1, 2) or points.shape[-1] != mean.size:
        raise ValueError(
            f"x must have shape ({mean.size},) or (n, {mean.size}) like mu, "
            f"but has shape {points.shape}."
        )
    p = exponent_of(m)
    u = np.empty(len(np.atleast_2d(points)))
    for i, point in enumerate(np.atleast_2d(points)):
        # Halved first: the difference of two finite numbers may overflow.
        with np.errstate(over="ignore"):
            offset = (point / 2 - mean / 2) / (deviations / 2)
        q = _mahalanobis_sq(np.clip(offset, -1e150, 1e150), W)
        u[i] = np.exp(-_nlt_from_log_odds(p * np.log(q))) if q > 0 else 1.0
    return float(u[0]) if points.ndim == 1 else u


def covariance_union(
    Sigma1: npt.ArrayLike,
    mu1: npt.ArrayLike,
    Sigma2: npt.ArrayLike,
    mu2: npt.ArrayLike,
    mu: npt.ArrayLike,
) -> Floats:
    """Covariance around `mu` that covers two structures: Eq. (14) to (16) of the paper.

    Parameters
    ----------
    Sigma1, Sigma2 : array-like of shape (d, d)
        Covariances of the two structures, symmetric positive definite.
    mu1, mu2 : array-like of shape (d,)
        Their means.
    mu : array-like of shape (d,)
        Mean of the union, for instance by Eq. (10).

    Returns
    -------
    ndarray of shape (d, d)
        At least as large, in every direction, as each of the two covariances padded by the square
        of its mean's distance to `mu`. Symmetric in the two structures.

    Examples
    --------
    >>> import numpy as np
    >>> from spclust import covariance_union
    >>> union = covariance_union(np.eye(2), [0.0, 0.0], np.eye(2), [2.0, 0.0], [1.0, 0.0])
    >>> union.tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    mean = _vector("mu", mu)
    d = mean.size
    U = []
    for number, Sigma, own in ((1, Sigma1, mu1), (2, Sigma2, mu2)):
        covariance = _covariance(f"Sigma{number}", Sigma, d)
        delta = mean - _vector(f"mu{number}", own, d)
        if np.abs(delta).max() > 1e150:
            raise ValueError(
                f"mu{number} is too far from mu: the square of the distance can't be represented."
            )
        U.append(_padded(covariance, delta))
    # Division by a power of four near the size of the covariances is exact and prevents overflow.
    unit = 4.0 ** np.floor(np.log2(max(np.abs(U[0]).max(), np.abs(U[1]).max())) / 2)
    covering: Floats = unit * _union(U[0] / unit, U[1] / unit, np.empty(union.union_memory(d)))
    return covering


def _vector(name: str, values: npt.ArrayLike, size: int | None = None) -> Floats:
    vector = _numbers(name, values)
    if vector.ndim != 1 or vector.size == 0 or (size is not None and vector.size != size):
        wanted = "(d,)" if size is None else f"({size},) like mu"
        raise ValueError(f"{name} must have shape {wanted}, but has shape {vector.shape}.")
    return vector


def _numbers(name: str, values: npt.ArrayLike) -> Floats:
    """A copy of the values as float64, in C order, if all of them are finite numbers."""
    try:
        numbers = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers in the shape of an array.") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must hold finite numbers, but contains NaN or infinity.")
    return numbers


def _covariance(name: str, values: npt.ArrayLike, d: int) -> Floats:
    """The values as a symmetric positive definite (d, d) matrix; a ValueError if they are none."""
    covariance = _numbers(name, values)
    if covariance.shape != (d, d):
        raise ValueError(f"{name} must have shape ({d}, {d}), but has shape {covariance.shape}.")
    if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0.0):
        raise ValueError(f"{name} must be symmetric; (S + S.T) / 2 makes it so.")
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"{name} must be positive definite; adding a small multiple of the identity helps."
        ) from None
    return (covariance + covariance.T) / 2


def _whitening(covariance: Floats) -> tuple[Floats, Floats]:
    """Standard deviations (d,), and W, packed, with W^T W the inverse of the correlations."""
    d = len(covariance)
    deviations = np.sqrt(covariance.diagonal())
    correlations = covariance / deviations / deviations[:, np.newaxis]
    W = _factor(correlations, np.zeros((d, d)), np.empty(d), np.empty(d * (d + 1) // 2))
    return deviations, W
