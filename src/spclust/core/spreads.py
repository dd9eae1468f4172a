"""What each kind of spread has to do, by its kind: measure distances, and cover another spread.

Spreads are `full`, `diagonal` or `spherical`; see `kinds`. `kind` is known when a kernel is
compiled, so that of each function below one branch is left.
"""

from spclust.arrays import Floats
from spclust.core.compile import paragraph
from spclust.core.diagonal import (
    cover_diagonal,
    squares_in_each_diagonal,
    squares_in_one_diagonal,
    two_squares_in_each_diagonal,
)
from spclust.core.full import (
    cover_full,
    cover_full_in_general,
    cover_in_plane,
    squares_in_each_full,
    squares_in_one_full,
    two_squares_in_each_full,
)
from spclust.core.kinds import DIAGONAL, PLANE, SPHERICAL
from spclust.core.lanes import Eight, load, same_at
from spclust.core.spherical import cover_spherical
from spclust.core.structures import Structures
from spclust.core.workspace import Workspace


@paragraph
def squares_in_each(W: Floats, offset: Floats, plain: Eight, kind: int) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own W (t, 8).

    `plain` are their squared lengths.
    """
    if kind == SPHERICAL:
        return plain * load(W, 0) * load(W, 0)
    if kind == DIAGONAL:
        return squares_in_each_diagonal(W, offset)
    return squares_in_each_full(W, offset)


@paragraph
def two_squares_in_each(
    W: Floats, first: Floats, second: Floats, plain1: Eight, plain2: Eight, kind: int
) -> tuple[Eight, Eight]:
    """What `squares_in_each` gives for two sets of offsets; W is read once for both."""
    if kind == SPHERICAL:
        return plain1 * load(W, 0) * load(W, 0), plain2 * load(W, 0) * load(W, 0)
    if kind == DIAGONAL:
        return two_squares_in_each_diagonal(W, first, second)
    return two_squares_in_each_full(W, first, second)


@paragraph
def squares_in_one(W: Floats, offset: Floats, plain: Eight, kind: int) -> Eight:
    """Squared distances of eight offsets (d, 8), of squared lengths `plain`, in one metric."""
    if kind == SPHERICAL:
        return plain * same_at(W, 0) * same_at(W, 0)
    if kind == DIAGONAL:
        return squares_in_one_diagonal(W, offset)
    return squares_in_one_full(W, offset)


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
    if kind == PLANE:
        return cover_in_plane(keeper, other, share, s, work)
    return cover_full(keeper, other, share, s, work)


@paragraph
def cover_in_general(
    keeper: int, other: int, share: float, s: Structures, work: Workspace, kind: int
) -> None:
    """What `cover` does, whatever it takes. Modified in place: s, work."""
    if kind != SPHERICAL and kind != DIAGONAL:
        cover_full_in_general(keeper, other, share, s, work)
