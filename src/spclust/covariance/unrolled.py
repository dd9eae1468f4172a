"""Full covariances of a few features: `full`, with its longest loops written out."""

from spclust.array_types import Floats
from spclust.covariance.dense import (
    cover_if_easy,
    dense_of,
    holds_covariance,
    renewable,
)
from spclust.covariance.full import lacks_memory as lacks_memory
from spclust.covariance.point_union import inside
from spclust.covariance.unrolled_loops import (
    add_square_unrolled,
    renew_inverse_unrolled,
    squares_in_each_unrolled,
    squares_in_one_unrolled,
    times_vector_unrolled,
    two_squares_in_each_unrolled,
)
from spclust.jit.decorators import part
from spclust.numerics.eight import Eight
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single, read_factor, write_factor


@part
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own slot of block b."""
    return squares_in_each_unrolled(s, s.whiten[b], offset)


@part
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """`squares_in_each` for work.offset and work.ahead; factors are read once for both."""
    return two_squares_in_each_unrolled(s, s.whiten[b], work.offset, work.ahead)


@part
def squares_in_one(slot: int, s: Structures, work: Scratch, plain: Eight) -> Eight:
    """Squared distances of the eight work.offset (d, 8) in the metric of factor work.W."""
    return squares_in_one_unrolled(s, work.W, work.offset)


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    As in `full`. Loops are written out where a point is covered already, as most points are.
    Modified in place: s, work.
    """
    own, single = dense_of(keeper, s, work), is_single(other, s)
    read_factor(keeper, s.whiten, own.W)
    if single:
        first = times_vector_unrolled(s, own.W, own.e, own.union.p)
        held = inside(first, own.W, share, s.least[keeper], own.union.p, own.union.v)
        if held and renewable(keeper, first, share, s):
            add_square_unrolled(s, own.Sigma, share, own.e)
            renew_inverse_unrolled(s, own.W, own.union.p, share)
            s.renewals[keeper] += 1.0
            write_factor(keeper, s.whiten, own.W)
            return True
    else:
        held = holds_covariance(share, own, s.Sigma[max(other, 0)])
    if not cover_if_easy(keeper, held, single, share, own, s):
        return False
    write_factor(keeper, s.whiten, own.W)
    return True
