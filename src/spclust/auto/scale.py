"""The automatic scale: coordinates whose units fit the data, scale="auto".

The stream is learnt in coordinates z = (x - origin) / unit, one unit for each feature, in which the
scale is 1. The unit follows the structures: in each feature it is as large as four typical
distances of a structure to its nearest neighbour, in any number of features and with any N. If it
were much smaller, structures that have grown would absorb each other before they absorb the points
between them; if it were much larger, everything would be typical everywhere.

Coordinates are whole multiples of 2^-20, and units change by ratios that are computed in
coordinates. So the same points in other units, or far from the origin, have the same coordinates to
the last bit, and get the same labels, ties included.
"""

import numpy as np

from spclust.algorithm import kernels
from spclust.arrays import Booleans, Floats, Integers, Rows
from spclust.jit.decorators import kernel
from spclust.numerics.eight import LANES
from spclust.numerics.euclidean_distances import distances
from spclust.numerics.memory import aligned_copy
from spclust.state.kinds import DIAGONAL, LOWRANK, SPHERICAL
from spclust.state.scratch import scratch_for
from spclust.state.structures import Structures, means

_GRID = 2.0**20
_GAPS = 4.0  # typical distances to the nearest neighbour that make a unit
_TOLERATED = 0.5  # by so much, as a power of two, may units be off,
_UNEVEN = 0.25  # and those of most features by so much more or less than the others
_SAME = 1e-12  # distances below this share of the largest are those of copies
_CELL = 4.0 / _GRID  # and so are those of a few places of the grid
_DIGITS = 1e-13  # of the largest eigenvalue: smaller ones are rounding errors
_FAR_OFF = 2.0**20  # coordinates from which the origin moves to where the points are
_GROWTH = 1.4  # units are examined whenever so many times the points were learnt
_LEAST = 20.0  # where points fade: not before so many points for each structure
_TAIL = 0.05  # share of the points at each end of a feature that does not tell how wide it is
_FARTHEST = 1e150
_SMALLEST, _LARGEST = 1e-290, 1e300  # units
_NUMBERS_AT_ONCE = 100_000  # of covariances that are stretched together: a call takes its time
_OUT_OF_SIGHT = 1e6  # coordinate, in a query, of a value that differs in a constant feature


def begin(s: Structures, x: Floats) -> None:
    """Put the origin at the first point. Modified in place: s."""
    s.origin[:], s.unit[:] = x, 0.0
    s.scale_due = 2


def learn_units(s: Structures, X: Rows) -> None:
    """Give a unit to features in which a point differs for the first time. Modified in place: s."""
    for c in np.flatnonzero(s.unit == 0.0):
        different = np.flatnonzero(X[:, c] != s.origin[c])
        if different.size:
            with np.errstate(over="ignore"):
                offset = abs(float(X[different[0], c]) - s.origin[c])
            s.unit[c] = min(max(offset, _SMALLEST), _LARGEST)


def coordinates(s: Structures, X: Rows) -> Floats:
    """Coordinates (n, d) of the rows of X (n, d)."""
    return in_units(np.ascontiguousarray(X, dtype=np.float64), s.origin, s.unit)


@kernel
def in_units(X: Floats, origin: Floats, unit: Floats) -> Floats:
    """The rows of X (n, d) from an origin (d,), in units (d,), rounded."""
    z = np.empty(X.shape)
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            offset = X[i, c] - origin[c]
            if unit[c] > 0.0:
                offset /= unit[c]
            elif offset != 0.0:
                offset = np.copysign(_OUT_OF_SIGHT, offset)
            offset = min(max(np.rint(offset * _GRID) / _GRID, -_FARTHEST), _FARTHEST)
            z[i, c] = offset if X[i, c] - X[i, c] == 0.0 else np.nan
    return z


def places(s: Structures, z: Floats) -> Floats:
    """Places (n, d), in the unit of the data, of coordinates z (n, d)."""
    with np.errstate(over="ignore"):
        found: Floats = s.origin + s.unit * z
    largest = np.finfo(float).max
    return np.clip(found, -largest, largest)


def next_due(s: Structures) -> int:
    """Points that will have been learnt when the units are renewed the next time.

    Where points fade, structures have to be examined again while they are still there.
    """
    least, soon = _LEAST * float(s.capacity), np.inf
    if s.beta > 0.0:  # which is a rate per unit of time, if there are time stamps
        soon = s.seen + (least if s.timed else max(least, np.ceil(1.0 / s.beta)))
    return int(min(max(s.seen + 1.0, np.ceil(_GROWTH * s.seen)), soon))


def fitting(s: Structures) -> tuple[Floats, Floats] | None:
    """A ratio and a middle (d,) so that ratio (z - middle) fits the structures; None if z does."""
    slots = np.arange(s.live)
    z, count = means(s, slots), s.count[slots]
    middle, width, lone = _widths(z, s.scatter[slots], count)
    varied = (width > 0.0) & ~lone
    gap = _typical_gap(z[:, varied] / width[varied]) if varied.any() else 0.0
    ratio = np.ones(width.size)
    if gap > 0.0:
        ratio[varied] = 1.0 / (_GAPS * gap * width[varied])
        off = np.log2(ratio[varied])
        common = _median(off)
        if abs(common) <= _TOLERATED and _most(np.abs(off - common)) <= _UNEVEN:
            ratio[:] = 1.0
    # One point far away has made the unit: all others are in one place of the grid.
    ratio[lone] = _GRID
    if np.all(ratio == 1.0):
        return None
    return ratio, np.where(np.abs(middle) > _FAR_OFF, middle, 0.0)


def fitted(s: Structures) -> Structures:
    """The same state in units that fit its structures; the state itself if they nearly do."""
    change = fitting(s)
    if change is None:
        return s
    ratio, middle = change
    return in_other_units(s, ratio, -ratio * middle)


def _widths(z: Floats, scatter: Floats, count: Floats) -> tuple[Floats, Floats, Booleans]:
    """Of each feature (d,): the middle, the width, and if all but one of many are in one place.

    The width is the standard deviation of most points, or of all, if most are in one place. By the
    means z (k, d), and the scatter (k, d) around them, of structures of `count` (k,) points.
    """
    shares, features = count[:, np.newaxis], np.arange(z.shape[1])
    order = np.argsort(z, axis=0, kind="stable")
    sorted_shares = count[order]
    upto = np.cumsum(sorted_shares, axis=0)
    before = upto - sorted_shares
    kept = np.empty(z.shape)
    kept[order, features] = (upto > _TAIL * upto[-1]) & (before < (1.0 - _TAIL) * upto[-1])
    half = np.argmax(upto >= 0.5 * upto[-1], axis=0)
    middle = z[order[half, features], features]
    width = _deviations(z, scatter, shares * kept, kept)
    alike = width <= _CELL
    elsewhere = np.sum(np.where(np.abs(z - middle) > _CELL, shares, 0.0), axis=0)
    lone = alike & (elsewhere == 1.0) & (count.sum() > 1.0 / _TAIL)
    if alike.any():
        everything = np.ones(z.shape)
        width[alike] = _deviations(z, scatter, shares * everything, everything)[alike]
    return middle, width, lone


def _deviations(z: Floats, scatter: Floats, count: Floats, kept: Floats) -> Floats:
    """Standard deviation (d,) of the points of the structures that are `kept` (k, d).

    These differ from one feature to the next; `count` (k, d) are their points.
    """
    total = count.sum(axis=0)
    middle = (count * z).sum(axis=0) / total
    return np.sqrt((count * (z - middle) ** 2 + kept * scatter).sum(axis=0) / total)


def _typical_gap(z: Floats) -> float:
    """Median distance of the rows of z (k, d) to the nearest row that is another; 0 if none is."""
    apart = distances(np.ascontiguousarray(z))
    apart[apart <= _SAME * apart.max(axis=1, keepdims=True)] = np.inf
    apart[apart <= _CELL] = np.inf
    nearest = apart.min(axis=1)
    nearest = nearest[nearest < np.inf]
    return _median(nearest) if nearest.size else 0.0


def _median(values: Floats) -> float:
    """np.median, without its checks: there are few values, and many calls."""
    ascending = np.sort(values)
    return float((ascending[(values.size - 1) // 2] + ascending[values.size // 2]) / 2.0)


def _most(values: Floats) -> float:
    """The quantile 0.9 as np.quantile computes it, without its checks."""
    ascending, place = np.sort(values), 0.9 * (values.size - 1)
    lower = int(place)
    upper = min(lower + 1, values.size - 1)
    return float(ascending[lower] + (place - lower) * (ascending[upper] - ascending[lower]))


def in_other_units(old: Structures, ratio: Floats, shift: Floats) -> Structures:
    """The same structures in coordinates ratio z + shift, both (d,), in new memory.

    Origin and unit become what they are then.
    """
    s = Structures(aligned_copy(old.memory))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        unit = np.where(s.unit > 0.0, np.clip(s.unit / ratio, _SMALLEST, _LARGEST), 0.0)
        s.origin[:] = places(s, -shift / ratio)
    s.anchor[:] = s.anchor * ratio[:, np.newaxis] + shift[:, np.newaxis]
    s.drift[:] *= ratio[:, np.newaxis]
    s.scatter[:] *= ratio**2
    _stretch(s, np.arange(s.grown), ratio)
    s.unit[:] = unit
    kernels.measure_all(s, scratch_for(s))
    return s


def _stretch(s: Structures, slots: Integers, ratio: Floats) -> None:
    """Stretch the covariances of some slots, less I, by a ratio (d,). Modified in place: s.

    The I of a fresh structure becomes that of the new unit: nothing of the old one is left.
    """
    kind = s.kind
    if kind == LOWRANK:
        for slot in slots:
            _stretch_lowrank(s, int(slot), ratio)
    elif kind in (DIAGONAL, SPHERICAL):
        longest = ratio.max() if kind == SPHERICAL else ratio
        s.Sigma[slots] = 1.0 + np.maximum(s.Sigma[slots] - 1.0, 0.0) * longest**2
        s.whiten[slots // LANES, :, slots % LANES] = 1.0 / np.sqrt(s.Sigma[slots, 0])
    else:
        fresh, both = np.eye(ratio.size), np.outer(ratio, ratio)
        at_once = max(1, _NUMBERS_AT_ONCE // both.size)
        for start in range(0, slots.size, at_once):
            some = slots[start : start + at_once]
            s.Sigma[some], W = _sound(fresh + (s.Sigma[some] - fresh) * both)
            s.whiten[some // LANES, :, some % LANES] = W
            s.least[some], s.renewals[some] = 1.0 / np.sum(W * W, axis=1), 0.0


def _stretch_lowrank(s: Structures, slot: int, ratio: Floats) -> None:
    """`_stretch` for one covariance base (I - V^T V) + V^T S V. Modified in place: s.

    Outside of V, base becomes large enough for every feature.
    """
    rank, half = int(s.rank[slot]), s.columns // 2
    numbers, corner = rank * (rank + 1) // 2, np.tril_indices(rank)
    old = float(s.base[slot])
    s.base[slot] = base = 1.0 + max(old - 1.0, 0.0) * float(ratio.max()) ** 2
    if rank == 0:
        return
    rows = s.place[slot, :rank]
    S = np.zeros((rank, rank))
    S[corner] = s.Sigma[slot, 0, :numbers]
    S += np.tril(S, -1).T - old * np.eye(rank)
    Q, R = np.linalg.qr((s.basis[rows] * ratio).T)
    (S,), (W,) = _sound((R @ S @ R.T + base * np.eye(rank))[np.newaxis])
    s.basis[rows] = Q.T
    s.Sigma[slot, 0, :numbers], s.Sigma[slot, 0, half : half + numbers] = S[corner], W
    s.renewals[slot], s.least[slot] = 0.0, min(base, 1.0 / (W @ W))


def _sound(Sigma: Floats) -> tuple[Floats, Floats]:
    """Covariances (m, d, d), raised to I where rounding made them less, and factors W, packed."""
    values, Q = np.linalg.eigh((Sigma + Sigma.transpose(0, 2, 1)) / 2.0)
    floor = np.maximum(1.0, _DIGITS * values[:, -1])[:, np.newaxis]
    low = values[:, 0] < floor[:, 0]
    if low.any():
        lifted = (Q[low] * np.maximum(values, floor)[low, np.newaxis]) @ Q[low].transpose(0, 2, 1)
        Sigma = Sigma.copy()
        Sigma[low] = (lifted + lifted.transpose(0, 2, 1)) / 2.0
    W = np.linalg.inv(np.linalg.cholesky(Sigma))
    rows, columns = np.tril_indices(Sigma.shape[1])
    return Sigma, W[:, rows, columns]
