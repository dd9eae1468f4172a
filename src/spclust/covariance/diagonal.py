"""Diagonal covariances: every feature by itself, in O(d) a structure.

The factor W is the diagonal of Sigma^(-1/2).
"""

import numpy as np

from spclust.arrays import Floats
from spclust.jit.decorators import inner
from spclust.numerics.eight import Eight, load, same, same_at
from spclust.state.scratch import Workspace
from spclust.state.structures import Structures, is_single, write_factor


@inner
def squares_in_each_diagonal(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own W (d, 8)."""
    squares = same(0.0)
    for c in range(offset.shape[0]):
        y = load(W, c) * load(offset, c)
        squares += y * y
    return squares


@inner
def two_squares_in_each_diagonal(W: Floats, first: Floats, second: Floats) -> tuple[Eight, Eight]:
    """What `squares_in_each_diagonal` gives for two sets of offsets; W is read once for both."""
    squares1, squares2 = same(0.0), same(0.0)
    for c in range(first.shape[0]):
        w = load(W, c)
        y, z = w * load(first, c), w * load(second, c)
        squares1 += y * y
        squares2 += z * z
    return squares1, squares2


@inner
def squares_in_one_diagonal(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8) in the metric of one W (d,)."""
    squares = same(0.0)
    for c in range(offset.shape[0]):
        y = same_at(W, c) * load(offset, c)
        squares += y * y
    return squares


@inner
def cover_diagonal(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    The union of two diagonal spreads is the larger of both in every feature. Always True. Modified
    in place: s, work.
    """
    single, e = is_single(other, s), work.e
    spread, others = s.Sigma[keeper], s.Sigma[max(other, 0)]
    for c in range(e.size):
        own, its = share * e[c], (1.0 - share) * e[c]
        variance = 1.0 if single else others[0, c]
        spread[0, c] = max(spread[0, c] + own * own, variance + its * its)
        work.W[c] = 1.0 / np.sqrt(spread[0, c])
    write_factor(keeper, s.whiten, work.W)
    return True
