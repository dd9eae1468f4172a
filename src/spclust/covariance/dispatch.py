"""What each kind of spread has to do, by its kind: measure distances, and cover another spread.

Spreads are `full`, `diagonal`, `spherical` or of `lowrank`; see `kinds`. `kind` is known when a
kernel is compiled, so that of each function below one branch is left.
"""

from spclust.arrays import Floats
from spclust.covariance.diagonal import (
    cover_diagonal,
    squares_in_each_diagonal,
    squares_in_one_diagonal,
    two_squares_in_each_diagonal,
)
from spclust.covariance.fixed import (
    squares_in_each_fixed,
    squares_in_one_fixed,
    two_squares_in_each_fixed,
)
from spclust.covariance.full import (
    cover_full,
    cover_full_in_general,
    cover_in_plane,
    squares_in_each_full,
    squares_in_one_full,
    two_squares_in_each_full,
)
from spclust.covariance.lowrank import (
    squares_in_each_lowrank,
    squares_in_one_lowrank,
    two_squares_in_each_lowrank,
)
from spclust.covariance.lowrank_union import cover_lowrank, cover_lowrank_in_general, cramped
from spclust.covariance.spherical import cover_spherical
from spclust.jit.decorators import paragraph
from spclust.numerics.eight import Eight, load, same_at
from spclust.state.kinds import DIAGONAL, FIXED, LOWRANK, PLANE, SPHERICAL
from spclust.state.scratch import Workspace
from spclust.state.structures import Structures


@paragraph
def squares_in_each(
    b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats, kind: int
) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own slot of block b.

    `plain` are their squared lengths. Modified in place: spare, scratch.
    """
    if kind == LOWRANK:
        return squares_in_each_lowrank(b, s, offset, plain, spare)
    W = s.whiten[b]
    if kind == SPHERICAL:
        return plain * load(W, 0) * load(W, 0)
    if kind == DIAGONAL:
        return squares_in_each_diagonal(W, offset)
    if kind > FIXED:
        return squares_in_each_fixed(kind, W, offset)
    return squares_in_each_full(W, offset)


@paragraph
def two_squares_in_each(
    b: int, s: Structures, work: Workspace, plain: Eight, plain_next: Eight, kind: int
) -> tuple[Eight, Eight]:
    """What `squares_in_each` gives for work.offset and work.ahead; factors are read once for both.

    Modified in place: work.
    """
    if kind == LOWRANK:
        return two_squares_in_each_lowrank(b, s, work, plain, plain_next)
    W = s.whiten[b]
    if kind == SPHERICAL:
        return plain * load(W, 0) * load(W, 0), plain_next * load(W, 0) * load(W, 0)
    if kind == DIAGONAL:
        return two_squares_in_each_diagonal(W, work.offset, work.ahead)
    if kind > FIXED:
        return two_squares_in_each_fixed(kind, W, work.offset, work.ahead)
    return two_squares_in_each_full(W, work.offset, work.ahead)


@paragraph
def squares_in_one(slot: int, s: Structures, work: Workspace, plain: Eight, kind: int) -> Eight:
    """Squared distances of the eight work.offset (d, 8) in the metric of one slot.

    Its factor is work.W, and `plain` are their squared lengths. Modified in place: work.
    """
    if kind == LOWRANK:
        return squares_in_one_lowrank(slot, s, work.offset, plain, work.spare)
    if kind == SPHERICAL:
        return plain * same_at(work.W, 0) * same_at(work.W, 0)
    if kind == DIAGONAL:
        return squares_in_one_diagonal(work.W, work.offset)
    if kind > FIXED:
        return squares_in_one_fixed(kind, work.W, work.offset)
    return squares_in_one_full(work.W, work.offset)


@paragraph
def lacks_memory(rank: float, s: Structures, kind: int) -> bool:
    """Whether the state has to be made larger before a merge, to a spread of that rank at most."""
    if kind == LOWRANK:
        return cramped(rank, s)
    return False


@paragraph
def cover(keeper: int, other: int, share: float, s: Structures, work: Workspace, kind: int) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    `share` is the other one's in the merged mean. The new factor comes to lie in work.W, too.
    False, and nothing changed, if it takes `cover_in_general`. Modified in place: s, work.
    """
    if kind == SPHERICAL:
        return cover_spherical(keeper, other, share, s, work)
    if kind == DIAGONAL:
        return cover_diagonal(keeper, other, share, s, work)
    if kind == LOWRANK:
        return cover_lowrank(keeper, other, share, s, work)
    if kind == PLANE:
        return cover_in_plane(keeper, other, share, s, work)
    return cover_full(keeper, other, share, s, work, kind)


@paragraph
def cover_in_general(
    keeper: int, other: int, share: float, s: Structures, work: Workspace, kind: int
) -> None:
    """What `cover` does, whatever it takes. Modified in place: s, work."""
    if kind == LOWRANK:
        cover_lowrank_in_general(keeper, other, share, s, work)
    elif kind != SPHERICAL and kind != DIAGONAL:
        cover_full_in_general(keeper, other, share, s, work)
