"""Points with missing features: their typicality, and the values expected in place of the missing.

A structure describes any subset of the features, by that part of its mean and that block of its
covariance. With o the observed features, a the missing ones, and y = x_o - mu_o,

    q = y^T Sigma_oo^-1 y              z = Sigma_ao Sigma_oo^-1 y

are the squared distance of the observed features, and the offset from mu_a at which the missing
ones are expected. There the squared distance in all features is smallest, and equal to q: a point
completed with mu_a + z is as typical of the structure as its observed features are.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats
from spclust.auto.novelty import are_solid, novelty_nlt
from spclust.covariance.export import Covariances, covariances_of
from spclust.numerics.eight import LANES
from spclust.state.kinds import DIAGONAL, LOWRANK, SPHERICAL
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.stream.stream import Stream


def nlt_observed(stream: AnyStream, x: Floats) -> Floats:
    """NLT (k,) of x (d,), NaN where missing, in each structure, oldest first. Eq. (4)."""
    q, _ = _distances_and_offsets(stream, x)
    if isinstance(stream, AutomaticStream):
        return stream.nlt_of_distances(q)
    with np.errstate(divide="ignore"):
        nlt: Floats = np.logaddexp(0.0, stream.params.exponent * np.log(q))
    return nlt


def nearest_nlt_observed(stream: AutomaticStream, x: Floats) -> float:
    """NLT of x (d,), NaN where missing, by the distance to its nearest solid structure."""
    q, _ = _distances_and_offsets(stream, x)
    nearest = q[are_solid(stream.faded_counts())].min(keepdims=True)
    return float(novelty_nlt(nearest, stream.structures)[0])


def nearest_observed(stream: AnyStream, x: Floats) -> int:
    """Position, by age, of the structure in which the observed part of x (d,) is most typical."""
    q, _ = _distances_and_offsets(stream, x)
    return int(np.argmin(q))


def completed(stream: AnyStream, x: Floats) -> Floats:
    """Fill x (d,) in with the values expected in the structure of which it is most typical."""
    q, z = _distances_and_offsets(stream, x)
    best = int(np.argmin(q))
    return _filled(stream, x, best, z[best])


def completed_by_heaviest(stream: AnyStream, x: Floats) -> Floats:
    """Fill x (d,), which has new features only, in with the mean of the heaviest structure."""
    return _filled(stream, x, int(np.argmax(_weights(stream))), 0.0)


def _filled(stream: AnyStream, x: Floats, structure: int, offset: Floats | float) -> Floats:
    """Return x (d,) with the structure's mean plus the offset where it is missing."""
    missing, whole = np.isnan(x), x.copy()
    whole[missing] = _mean(stream, structure)[missing] + offset
    return whole


def _distances_and_offsets(stream: AnyStream, x: Floats) -> tuple[Floats, Floats]:
    """Squared distances q (k,) and offsets (k, missing), oldest first, in the unit of the data."""
    observed = ~np.isnan(x)
    if isinstance(stream, AutomaticStream):
        q, z = _by_metric(stream, x, observed)
        return q, z * stream.structures.unit[~observed]
    q, z = _in_units_of_scale(stream, x, observed)
    return q, stream.params.scale * z


def _by_metric(stream: AutomaticStream, x: Floats, observed: Booleans) -> tuple[Floats, Floats]:
    """In the automatic mode: one metric for all structures, in coordinates."""
    s = stream.structures
    y = stream.coordinates(x) - s.mean[stream.order()]
    if s.diagonal:
        white = (y * s.metric[0])[:, observed]
        return np.einsum("ko,ko->k", white, white), np.zeros((len(y), x.size - white.shape[1]))
    triangle = s.metric[np.tril_indices(s.d)]
    return _by_factors(np.tile(triangle, (len(y), 1)), y[:, observed], observed)


def _in_units_of_scale(stream: Stream, x: Floats, observed: Booleans) -> tuple[Floats, Floats]:
    """In the mode of the paper: the covariance of each structure."""
    s = _geometry(stream, x)
    y = s.differences[:, observed]
    if s.low_rank is not None:
        return _by_low_rank(s.low_rank, y, observed)
    if s.kind in (DIAGONAL, SPHERICAL):
        white = y * (s.factors[:, observed] if s.kind == DIAGONAL else s.factors)
        return np.einsum("ko,ko->k", white, white), np.zeros((len(y), x.size - y.shape[1]))
    return _by_factors(s.factors, y, observed)


def _by_factors(W: Floats, y: Floats, observed: Booleans) -> tuple[Floats, Floats]:
    """Full covariances: least squares |W_o y + W_a z|^2, W (k, t) being lower triangles.

    These are the factors that the kernels use; Sigma_oo has lost digits where it is flat.
    """
    k, d = len(W), observed.size
    factors = np.zeros((k, d, d))
    factors[:, *np.tril_indices(d)] = W
    seen = np.einsum("kdo,ko->kd", factors[:, :, observed], y)
    Q, R = np.linalg.qr(factors[:, :, ~observed])
    inside = np.einsum("kda,kd->ka", Q, seen)
    rest = seen - np.einsum("kda,ka->kd", Q, inside)
    z = -np.linalg.solve(R, inside[:, :, np.newaxis])[:, :, 0]
    return np.einsum("kd,kd->k", rest, rest), z


def _by_low_rank(covariances: Covariances, y: Floats, observed: Booleans) -> tuple[Floats, Floats]:
    """Sigma = base I + V^T M V: by Woodbury's identity only rank x rank systems are solved."""
    k, start = len(y), 0
    q, z = np.empty(k), np.empty((k, np.count_nonzero(~observed)))
    for i, rank in enumerate(covariances.rank):
        base, V = covariances.base[i], covariances.V[start : start + rank]
        start += rank
        M = np.zeros((rank, rank))
        M[np.tril_indices(rank)] = covariances.Sigma[i, 0, : rank * (rank + 1) // 2]
        M += np.tril(M, -1).T - base * np.eye(rank)
        seen, inside = V[:, observed], V[:, observed] @ y[i]
        t = np.linalg.solve(base * np.eye(rank) + M @ (seen @ seen.T), M @ inside)
        q[i] = max((y[i] @ y[i] - inside @ t) / base, 0.0)
        z[i] = t @ V[:, ~observed]
    return q, z


# Reading the state: all that this module knows of its layout


class _Geometry(NamedTuple):
    """A point's position relative to all structures, oldest first, in units of scale."""

    kind: int  # of the covariances
    differences: Floats  # (k, d) the point minus each mean, NaN where it is missing
    factors: Floats  # (k, t) W, row by row, with W^T W = Sigma^-1
    low_rank: Covariances | None  # in place of factors


def _geometry(stream: Stream, x: Floats) -> _Geometry:
    s, slots = stream.structures, stream.order()
    blocks, lanes = slots // LANES, slots % LANES
    # Differences first, as in the kernels: far from the origin no digits are lost.
    y = (x - s.anchor[blocks, :, lanes] - s.drift[blocks, :, lanes]) / stream.params.scale
    y = np.clip(y, -s.reach, s.reach)
    kind = stream.params.kind
    low_rank = covariances_of(slots, s) if kind == LOWRANK else None
    return _Geometry(kind, y, s.whiten[blocks, :, lanes], low_rank)


def _weights(stream: AnyStream) -> Floats:
    """Weight (k,) of each structure, oldest first."""
    if isinstance(stream, AutomaticStream):
        return stream.faded_counts()
    s, order = stream.structures, stream.order()
    weights: Floats = s.total[order] / s.damping[order]
    return weights


def _mean(stream: AnyStream, structure: int) -> Floats:
    """Mean (d,) of a structure, counted by age."""
    mean: Floats = stream.means()[structure]
    return mean
