"""Points of which some features are missing: how typical they are, and what was to be expected.

A structure says something of any part of the features: that part of its mean, and that block of its
covariance. With o the features that were observed, a those that are absent, and y = x_o - mu_o,

    q = y^T Sigma_oo^-1 y              z = Sigma_ao Sigma_oo^-1 y

are the squared distance of what was observed, and the offset from mu_a at which the absent ones are
expected: where the distance in all features is the smallest, which then is q. So a point
that is completed with mu_a + z is as typical of the structure as what was seen of it.
"""

import numpy as np

from spclust.arrays import Booleans, Floats, Integers
from spclust.numerics.eight import LANES
from spclust.state.kinds import DIAGONAL, LOWRANK, SPHERICAL
from spclust.state.structures import (
    EXPONENT,
    REACH,
    SCALE,
    Structures,
    means,
    spreads_of,
    view,
)
from spclust.stream.stream import Stream


def nlt_observed(stream: Stream, x: Floats) -> Floats:
    """NLT (k,) of x (d,), NaN where absent, in each structure, oldest first. Eq. (4)."""
    q, _ = _squares_and_offsets(stream, x)
    with np.errstate(divide="ignore"):
        nlt: Floats = np.logaddexp(0.0, stream.pool[EXPONENT] * np.log(q))
    return nlt


def nearest_observed(stream: Stream, x: Floats) -> int:
    """Position, by age, of the structure in which what is observed of x (d,) is most typical."""
    q, _ = _squares_and_offsets(stream, x)
    return int(np.argmin(q))


def completed(stream: Stream, x: Floats) -> Floats:
    """The point x (d,) with what is expected in the structure of which it is most typical."""
    q, z = _squares_and_offsets(stream, x)
    best = int(np.argmin(q))
    return _filled(stream, x, best, stream.params.scale * z[best])


def completed_blindly(stream: Stream, x: Floats) -> Floats:
    """The point x (d,) with the mean of the heaviest structure: nothing says which one is near."""
    s, order = view(stream.pool), stream.order()
    heaviest = int(np.argmax(s.total[order] / s.mass[order]))
    return _filled(stream, x, heaviest, 0.0)


def _filled(stream: Stream, x: Floats, structure: int, offset: Floats | float) -> Floats:
    """The point x (d,) with mean plus offset where it is absent."""
    absent, whole = np.isnan(x), x.copy()
    slot = stream.order()[structure : structure + 1]
    whole[absent] = means(view(stream.pool), slot)[0, absent] + offset
    return whole


def _squares_and_offsets(stream: Stream, x: Floats) -> tuple[Floats, Floats]:
    """Squares q (k,) and offsets z (k, absent) as above, oldest first, in units of scale."""
    s, slots = view(stream.pool), stream.order()
    there = ~np.isnan(x)
    # Differences first, as the kernels do: far from the origin no digits are lost.
    blocks, lanes = slots // LANES, slots % LANES
    y = (x - s.anchor[blocks, :, lanes] - s.drift[blocks, :, lanes])[:, there] / s.head[SCALE]
    y = np.clip(y, -s.head[REACH], s.head[REACH])
    kind = stream.params.kind
    if kind == LOWRANK:
        return _of_low_rank(slots, s, y, there)
    W = s.whiten[blocks, :, lanes]
    if kind in (DIAGONAL, SPHERICAL):
        white = y * (W[:, there] if kind == DIAGONAL else W)
        return np.einsum("ko,ko->k", white, white), np.zeros((len(slots), x.size - y.shape[1]))
    return _of_factors(W, y, there)


def _of_factors(W: Floats, y: Floats, there: Booleans) -> tuple[Floats, Floats]:
    """With full covariances: the least squares |W_o y + W_a z|^2, W (k, t) being triangles.

    They are the factors that the kernels measure with; Sigma_oo has lost digits where it is flat.
    """
    k, d = len(W), there.size
    factors = np.zeros((k, d, d))
    factors[:, *np.tril_indices(d)] = W
    seen = np.einsum("kdo,ko->kd", factors[:, :, there], y)
    Q, R = np.linalg.qr(factors[:, :, ~there])
    inside = np.einsum("kda,kd->ka", Q, seen)
    rest = seen - np.einsum("kda,ka->kd", Q, inside)
    z = -np.linalg.solve(R, inside[:, :, np.newaxis])[:, :, 0]
    return np.einsum("kd,kd->k", rest, rest), z


def _of_low_rank(
    slots: Integers, s: Structures, y: Floats, there: Booleans
) -> tuple[Floats, Floats]:
    """With Sigma = base I + V^T M V, by the identity of Woodbury: only rank x rank is solved."""
    spreads, start = spreads_of(slots, s), 0
    q, z = np.empty(len(slots)), np.empty((len(slots), np.count_nonzero(~there)))
    for i, rank in enumerate(spreads.rank):
        base, V = spreads.base[i], spreads.V[start : start + rank]
        start += rank
        M = np.zeros((rank, rank))
        M[np.tril_indices(rank)] = spreads.Sigma[i, 0, : rank * (rank + 1) // 2]
        M += np.tril(M, -1).T - base * np.eye(rank)
        seen, inside = V[:, there], V[:, there] @ y[i]
        t = np.linalg.solve(base * np.eye(rank) + M @ (seen @ seen.T), M @ inside)
        q[i] = max((y[i] @ y[i] - inside @ t) / base, 0.0)
        z[i] = t @ V[:, ~there]
    return q, z
