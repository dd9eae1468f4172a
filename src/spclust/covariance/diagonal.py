"""Diagonal covariances: every feature by itself, in O(d) a structure.

The factor W is the diagonal of Sigma^(-1/2).
"""

import numpy as np

from spclust.array_types import Floats
from spclust.covariance.full import lacks_memory as lacks_memory
from spclust.jit.decorators import part
from spclust.numerics.eight import Eight, load, same, same_at
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single, write_factor


@part
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own slot of block b."""
    W, squares = s.whiten[b], same(0.0)
    for c in range(offset.shape[0]):
        y = load(W, c) * load(offset, c)
        squares += y * y
    return squares


@part
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """`squares_in_each` for work.offset and work.ahead; factors are read once for both."""
    W, first, second = s.whiten[b], work.offset, work.ahead
    squares1, squares2 = same(0.0), same(0.0)
    for c in range(first.shape[0]):
        w = load(W, c)
        y, z = w * load(first, c), w * load(second, c)
        squares1 += y * y
        squares2 += z * z
    return squares1, squares2


@part
def squares_in_one(slot: int, s: Structures, work: Scratch, plain: Eight) -> Eight:
    """Squared distances of the eight work.offset (d, 8) in the metric of factor work.W."""
    W, offset, squares = work.W, work.offset, same(0.0)
    for c in range(offset.shape[0]):
        y = same_at(W, c) * load(offset, c)
        squares += y * y
    return squares


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    The union of two diagonal covariances is the larger of both in every feature. Always True.
    Modified in place: s, work.
    """
    single, e = is_single(other, s), work.e
    Sigma, theirs = s.Sigma[keeper], s.Sigma[max(other, 0)]
    for c in range(e.size):
        own, its = share * e[c], (1.0 - share) * e[c]
        variance = 1.0 if single else theirs[0, c]
        Sigma[0, c] = max(Sigma[0, c] + own * own, variance + its * its)
        work.W[c] = 1.0 / np.sqrt(Sigma[0, c])
    write_factor(keeper, s.whiten, work.W)
    return True
