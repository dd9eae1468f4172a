"""The metric, which `scale="auto"` finds: distances in units of what varies inside of structures.

A point x has the coordinates y = (x - origin) / unit - displacement, whose units
`renewal.learn_units` chooses. In the metric it is z = A y, and A^T A is the inverse of

    W + (0.25)^2 diag(width^2)

W is the scatter within structures, pooled over all of them and divided by their mass. The second
term keeps the metric finite in directions in which structures do not vary; `width` is the standard
deviation of all points in a feature. So clusters of any unit and orientation become about round.

Lone points cannot inflate it. Of W the widest structures of a tenth of the mass are left out. In
`width` no distance from the median counts as more than eight times the mean distance of structures
that have at least half of the mean mass.
"""

from typing import Any

import numpy as np

from spclust.array_types import Booleans, Floats
from spclust.state.automatic_structures import AutomaticStructures, scatter_by_feature, write_z

RIDGE = 0.25
_HEAVY, _FAR = 0.5, 8.0  # times the mean mass; times the mean distance from the median
_WIDEST = 0.1
_ROUNDED = 1e-10  # share of a variance: beside it no rounding error counts
NOISE = 1e-14  # of the largest coordinate: widths below this are rounding errors


def renew_metric(s: AutomaticStructures) -> None:
    """Fit the metric to the structures, and measure all of them in it. Modified in place: s."""
    order = np.argsort(s.id[: s.live])  # where numbers tie, age decides: slots do not keep it
    mass, mean, variances = s.mass[order], s.mean[order], scatter_by_feature(s, order)
    s.width[:] = widths(mass, mean, variances)
    known = s.width > 0.0
    per_width = 1.0 / np.where(known, s.width, 1.0)
    narrow = narrow_ones(mass, (variances * per_width**2).sum(axis=1))
    pooled = s.scatter[order[narrow]].sum(axis=0) / mass[narrow].sum()
    # In units of the widths: a feature may be 10^6 times as large as another one.
    if s.diagonal:
        s.metric[0] = per_width / np.sqrt(pooled[0] * per_width**2 + RIDGE**2)
    else:
        W = per_width[:, np.newaxis] * pooled * per_width + RIDGE**2 * np.eye(s.d)
        s.metric[:] = np.tril(np.linalg.inv(root_of(W))) * per_width
    write_z(s, in_metric(s, s.mean[: s.live]))


def root_of(W: Any) -> Any:
    """L (d, d), lower triangular, with W = L L^T."""
    try:
        L = np.linalg.cholesky(W)
    except np.linalg.LinAlgError:  # the ridge is a rounding error beside the largest scatter
        L = np.linalg.cholesky(W + _ROUNDED * np.diag(np.diag(W)))
    return L


def widths(mass: Floats, mean: Floats, variances: Floats) -> Floats:
    """Standard deviation (d,) of each feature, to which what is far away adds little.

    Of structures of some mass (k,), mean (k, d) and variances times mass (k, d).
    """
    share = (mass / mass.sum())[:, np.newaxis]
    offset = np.abs(mean - medians(mass, mean))
    heavy = mass >= _HEAVY * mass.mean()
    usual = mass[heavy] @ offset[heavy] / mass[heavy].sum()
    far = _FAR * np.where(usual > 0.0, usual, (share * offset).sum(axis=0))
    within = np.minimum(variances / mass[:, np.newaxis], np.where(far > 0.0, far, np.inf) ** 2)
    width = np.sqrt((share * (np.minimum(offset, far) ** 2 + within)).sum(axis=0))
    return np.where(width <= NOISE * np.abs(mean).max(axis=0), 0.0, width)


def medians(mass: Floats, mean: Floats) -> Floats:
    """The median (d,) of each feature: half of the mass (k,) has means (k, d) up to it."""
    order = np.argsort(mean, axis=0, kind="stable")
    upto = np.cumsum(mass[order], axis=0)
    middle = (upto >= 0.5 * upto[-1]).argmax(axis=0)
    found: Floats = np.take_along_axis(mean, order, axis=0)[middle, np.arange(mean.shape[1])]
    return found


def narrow_ones(mass: Floats, scatter: Floats) -> Booleans:
    """True (k,) for structures but the widest ones, by scatter (k,) divided by mass (k,)."""
    order = np.argsort(scatter / mass, kind="stable")
    before = np.cumsum(mass[order]) - mass[order]
    narrow = np.zeros(mass.size, dtype=np.bool_)
    narrow[order] = before < (1.0 - _WIDEST) * mass.sum()
    return narrow


def in_metric(s: AutomaticStructures, y: Floats) -> Floats:
    """Coordinates y (n, d) in the metric (n, d)."""
    z: Floats = y * s.metric[0] if s.diagonal else y @ s.metric.T
    return z
