"""Spherical covariances: one variance for all features.

The factor W is one number, the reciprocal of the standard deviation.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.covariance.full import lacks_memory as lacks_memory
from spclust.jit.decorators import part
from spclust.numerics.cholesky import dot
from spclust.numerics.eight import Eight, load, same_at
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single, write_factor


@part
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets, of squared lengths `plain`, each in a slot of block b."""
    W = s.whiten[b]
    return plain * load(W, 0) * load(W, 0)


@part
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """`squares_in_each` for two sets of offsets."""
    W = s.whiten[b]
    return plain * load(W, 0) * load(W, 0), plain_next * load(W, 0) * load(W, 0)


@part
def squares_in_one(slot: int, s: Structures, work: Scratch, plain: Eight) -> Eight:
    """Squared distances of eight offsets of squared lengths `plain` in the metric of work.W."""
    return plain * same_at(work.W, 0) * same_at(work.W, 0)


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    The smallest sphere that covers a padded covariance has the length of its longest axis, which is
    along the offset; the union of two spheres is the larger one. Always True. Modified in place: s,
    work.
    """
    square, its = dot(work.e, work.e, 0), 1.0
    if not is_single(other, s):
        its = s.Sigma[other, 0, 0]
    own = s.Sigma[keeper, 0, 0] + share * share * square
    variance = max(own, its + (1.0 - share) * (1.0 - share) * square)
    s.Sigma[keeper, 0, 0], work.W[0] = variance, 1.0 / np.sqrt(variance)
    write_factor(keeper, s.whiten, work.W)
    return True
