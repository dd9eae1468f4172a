"""Full covariances: distances by a triangular factor. `dense` has their union."""

from spclust.array_types import Floats
from spclust.covariance.dense import (
    cover_any,
    cover_if_easy,
    dense_of,
    holds_covariance,
    holds_point,
)
from spclust.jit.decorators import part
from spclust.numerics.cholesky import write_identity
from spclust.numerics.eight import Eight, load, same, same_at
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single, read_factor, write_factor


@part
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own slot of block b.

    `plain` are their squared lengths, not needed here; nor is `spare`, scratch.
    """
    W = s.whiten[b]
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


@part
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """`squares_in_each` for work.offset and work.ahead; factors are read once for both."""
    W, first, second = s.whiten[b], work.offset, work.ahead
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


@part
def squares_in_one(slot: int, s: Structures, work: Scratch, plain: Eight) -> Eight:
    """Squared distances of the eight work.offset (d, 8) in the metric of one slot.

    Its factor is work.W, and `plain` are their squared lengths, not needed here.
    """
    W, offset = work.W, work.offset
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


@part
def lacks_memory(rank: int, s: Structures) -> bool:
    """True if the state needs more memory before a merge to a covariance of that rank: never."""
    return False


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    `share` is the other one's in the merged mean. The factor, with which all distances are
    measured, is written to work.W, too. False, and nothing changed, if it takes the general union.
    Modified in place: s, work.
    """
    own, single = dense_of(keeper, s, work), is_single(other, s)
    read_factor(keeper, s.whiten, own.W)
    if single:
        held = holds_point(keeper, share, own, s)
    else:
        held = holds_covariance(share, own, s.Sigma[max(other, 0)])
    if not cover_if_easy(keeper, held, single, share, own, s):
        return False
    write_factor(keeper, s.whiten, own.W)
    return True


@part
def unite_in_general(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> None:
    """`unite` for any two structures. Modified in place: s, work."""
    own = dense_of(keeper, s, work)
    theirs = s.Sigma[max(other, 0)]
    if is_single(other, s):
        theirs = work.R
        write_identity(theirs)
    read_factor(keeper, s.whiten, own.W)
    cover_any(keeper, share, own, theirs, s, work.general)
    write_factor(keeper, s.whiten, own.W)
