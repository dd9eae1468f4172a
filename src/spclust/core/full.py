"""Full covariances: distances by a triangular factor, union by rank-one changes where it can be.

For the union with a single point, which nearly all merges are, see `point_union`.
"""

from spclust.arrays import Floats
from spclust.core.compile import inner, leaf, paragraph
from spclust.core.factor import (
    invert_transposed,
    least_eigenvalue_bound,
    raise_diagonal,
    renew_inverse,
    shifted_cholesky,
    times_vector,
    write_identity,
)
from spclust.core.lanes import Eight, load, same, same_at
from spclust.core.plane import unite_in_plane
from spclust.core.point_union import covers, stretch_by_factor, union_with_point
from spclust.core.structures import Structures, is_single, read_factor, write_factor
from spclust.core.union import surely_holds, unite
from spclust.core.workspace import Workspace

_FLOOR = 1.0  # in units of scale every spread is at least the identity

# A factor is computed anew after so many renewals, each of which adds a rounding error, and where
# one adds more than this to the spread, in units of the spread: the error would be as large.
_MOST_RENEWALS = 32.0
_LARGEST_RENEWAL = 1.0


@inner
def squares_in_each_full(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own W (t, 8)."""
    d, squares = offset.shape[0], same(0.0)
    t = 0
    for r in range(0, d - 1, 2):  # two rows of W for one reading of the offsets
        y, z = same(0.0), same(0.0)
        for c in range(r + 1):
            e = load(offset, c)
            y += load(W, t + c) * e
            z += load(W, t + r + 1 + c) * e
        z += load(W, t + 2 * r + 2) * load(offset, r + 1)
        squares += y * y
        squares += z * z
        t += 2 * r + 3
    if d % 2 == 1:
        y = same(0.0)
        for c in range(d):
            y += load(W, t + c) * load(offset, c)
        squares += y * y
    return squares


@inner
def two_squares_in_each_full(W: Floats, first: Floats, second: Floats) -> tuple[Eight, Eight]:
    """What `squares_in_each_full` gives for two sets of offsets; W is read once for both."""
    d, squares1, squares2 = first.shape[0], same(0.0), same(0.0)
    t = 0
    for r in range(0, d - 1, 2):
        y1, y2, z1, z2 = same(0.0), same(0.0), same(0.0), same(0.0)
        for c in range(r + 1):
            e1, e2 = load(first, c), load(second, c)
            w, v = load(W, t + c), load(W, t + r + 1 + c)
            y1 += w * e1
            y2 += w * e2
            z1 += v * e1
            z2 += v * e2
        v = load(W, t + 2 * r + 2)
        z1 += v * load(first, r + 1)
        z2 += v * load(second, r + 1)
        squares1 += y1 * y1
        squares2 += y2 * y2
        squares1 += z1 * z1
        squares2 += z2 * z2
        t += 2 * r + 3
    if d % 2 == 1:
        y1, y2 = same(0.0), same(0.0)
        for c in range(d):
            w = load(W, t + c)
            y1 += w * load(first, c)
            y2 += w * load(second, c)
        squares1 += y1 * y1
        squares2 += y2 * y2
    return squares1, squares2


@inner
def squares_in_one_full(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8) in the metric of one W (t,)."""
    d, squares = offset.shape[0], same(0.0)
    t = 0
    for r in range(0, d - 1, 2):
        y, z, y_odd, z_odd = same(0.0), same(0.0), same(0.0), same(0.0)
        below = t + r + 1
        for c in range(0, r, 2):  # four sums at once: each waits for its own last term
            e, f = load(offset, c), load(offset, c + 1)
            y += same_at(W, t + c) * e
            z += same_at(W, below + c) * e
            y_odd += same_at(W, t + c + 1) * f
            z_odd += same_at(W, below + c + 1) * f
        e = load(offset, r)
        y += same_at(W, t + r) * e
        z += same_at(W, below + r) * e
        z_odd += same_at(W, below + r + 1) * load(offset, r + 1)
        y, z = y + y_odd, z + z_odd
        squares += y * y
        squares += z * z
        t += 2 * r + 3
    if d % 2 == 1:
        y = same(0.0)
        for c in range(d):
            y += same_at(W, t + c) * load(offset, c)
        squares += y * y
    return squares


@paragraph
def cover_full(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    Its factor, with which all distances are measured, comes to lie in work.W, too. False, and
    nothing changed, if it takes the general union. Modified in place: s, work.
    """
    Sigma, W, e = s.Sigma[keeper], work.W, work.e
    single = is_single(other, s)
    if not single:
        return False
    read_factor(keeper, s.whiten, W)
    p = work.union.p
    if covers(W, e, share, s.least[keeper], p, work.union.v):
        grow_along(keeper, share, s, work)
        return True
    if s.renewals[keeper] < _MOST_RENEWALS and stretch_by_factor(Sigma, W, e, share, work.union):
        write_factor(keeper, s.whiten, W)
        s.renewals[keeper] += 2.0
        return True
    if not union_with_point(Sigma, e, share, s.least[keeper], work.union):
        return False
    factor_anew(keeper, s, work)
    return True


@paragraph
def cover_in_plane(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """What `cover_full` does, for any two structures, if d = 2. Modified in place: s, work."""
    Sigma, spread = s.Sigma[keeper], s.Sigma[max(other, 0)]
    entries = (1.0, 0.0, 1.0) if is_single(other, s) else (spread[0, 0], spread[0, 1], spread[1, 1])
    if not unite_in_plane(Sigma, entries, share, work.e, work.W):
        return False
    write_factor(keeper, s.whiten, work.W)
    return True


@paragraph
def cover_full_in_general(
    keeper: int, other: int, share: float, s: Structures, work: Workspace
) -> None:
    """What `cover_full` does, for any two structures. Modified in place: s, work."""
    e, spread = work.e, s.Sigma[max(other, 0)]
    if is_single(other, s):
        spread = work.union.R
        write_identity(spread)
    delta1, delta2 = work.union.v, work.union.w
    for c in range(e.size):
        delta1[c], delta2[c] = share * e[c], (share - 1.0) * e[c]
    read_factor(keeper, s.whiten, work.W)
    if surely_holds(work.W, spread, delta2):
        times_vector(work.W, e, work.union.p)
        grow_along(keeper, share, s, work)
        return
    unite(s.Sigma[keeper], delta1, spread, delta2, _FLOOR)
    factor_anew(keeper, s, work)


@inner
def grow_along(slot: int, share: float, s: Structures, work: Workspace) -> None:
    """Add to a spread what its own move adds, Eq. 14, and no more: it covers the other one.

    work.e is the offset of the other one, work.W the factor, work.union.p their product. Modified
    in place: s, work.
    """
    p = work.union.p
    add_square(s.Sigma[slot], share, work.e)
    if not renewable(s.renewals[slot], p, share):
        factor_anew(slot, s, work)
        return
    for c in range(p.size):
        p[c] *= share
    renew_inverse(work.W, p, work.union.v)
    write_factor(slot, s.whiten, work.W)
    s.renewals[slot] += 1.0


@inner
def factor_anew(slot: int, s: Structures, work: Workspace) -> None:
    """Compute the factor of a spread. Modified in place: s, work."""
    R, inverse, W = work.union.R, work.union.inverse, work.W
    shifted_cholesky(s.Sigma[slot], 0.0, _FLOOR, R, inverse)
    raise_diagonal(s.Sigma[slot], R)
    invert_transposed(R, inverse, W)
    write_factor(slot, s.whiten, W)
    s.least[slot], s.renewals[slot] = least_eigenvalue_bound(W), 0.0


@leaf
def add_square(Sigma: Floats, share: float, e: Floats) -> None:
    """Add share^2 e e^T, Eq. 14, to Sigma (d, d). Modified in place: Sigma."""
    for r in range(e.size):
        for c in range(e.size):
            Sigma[r, c] += (share * e[r]) * (share * e[c])


@leaf
def renewable(renewals: float, p: Floats, share: float) -> bool:
    """Whether a factor may be changed for share^2 e e^T instead of computed; p (d,) is W e."""
    added = 0.0
    for c in range(p.size):
        added += p[c] * p[c]
    return renewals < _MOST_RENEWALS and share * share * added <= _LARGEST_RENEWAL
