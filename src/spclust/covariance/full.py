"""Full covariances: distances by a triangular factor; `dense` tells how they grow."""

from spclust.arrays import Floats
from spclust.covariance.dense import (
    Dense,
    cover_any,
    cover_if_easy,
    holds_point,
    holds_spread,
    renewable,
    spread_of_point,
)
from spclust.covariance.fixed import add_square_fixed, renew_inverse_fixed, times_vector_fixed
from spclust.covariance.plane import unite_in_plane
from spclust.covariance.point_union import inside
from spclust.jit.decorators import inner, paragraph
from spclust.numerics.eight import Eight, load, same, same_at
from spclust.state.kinds import FIXED
from spclust.state.scratch import Workspace
from spclust.state.structures import Structures, is_single, read_factor, write_factor


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
def cover_full(
    keeper: int, other: int, share: float, s: Structures, work: Workspace, kind: int
) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    Its factor, with which all distances are measured, comes to lie in work.W, too. False, and
    nothing changed, if it takes the general union. For a few features (`kind` tells) loops are
    written out where a point is covered already, as most are. Modified in place: s, work.
    """
    own, single = Dense(s.Sigma[keeper], work.W, work.e, work.union), is_single(other, s)
    read_factor(keeper, s.whiten, own.W)
    if not single:
        held = holds_spread(share, own, s.Sigma[max(other, 0)])
    elif kind > FIXED:
        first = times_vector_fixed(kind, own.W, own.e, own.union.p)
        held = inside(first, own.W, share, s.least[keeper], own.union.p, own.union.v)
        if held and renewable(keeper, first, share, s):
            add_square_fixed(kind, own.Sigma, share, own.e)
            renew_inverse_fixed(kind, own.W, own.union.p, share)
            s.renewals[keeper] += 1.0
            write_factor(keeper, s.whiten, own.W)
            return True
    else:
        held = holds_point(keeper, share, own, s)
    if not cover_if_easy(keeper, held, single, share, own, s):
        return False
    write_factor(keeper, s.whiten, own.W)
    return True


@inner
def cover_in_plane(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """What `cover_full` does, for any two structures, if d = 2. Modified in place: s, work."""
    Sigma, spread = s.Sigma[keeper], s.Sigma[max(other, 0)]
    entries = (1.0, 0.0, 1.0) if is_single(other, s) else (spread[0, 0], spread[0, 1], spread[1, 1])
    if not unite_in_plane(Sigma, entries, share, work.e, work.W):
        return False
    write_factor(keeper, s.whiten, work.W)
    return True


@inner
def cover_full_in_general(
    keeper: int, other: int, share: float, s: Structures, work: Workspace
) -> None:
    """What `cover_full` does, for any two structures. Modified in place: s, work."""
    own = Dense(s.Sigma[keeper], work.W, work.e, work.union)
    spread = spread_of_point(own) if is_single(other, s) else s.Sigma[max(other, 0)]
    read_factor(keeper, s.whiten, work.W)
    cover_any(keeper, share, own, spread, s)
    write_factor(keeper, s.whiten, work.W)
