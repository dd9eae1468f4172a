"""Spherical covariances: one variance for all features.

The factor W is one number, the reciprocal of the standard deviation.
"""

import numpy as np

from spclust.jit.decorators import inner
from spclust.numerics.cholesky import dot
from spclust.state.scratch import Workspace
from spclust.state.structures import Structures, is_single, write_factor


@inner
def cover_spherical(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    The smallest sphere that covers a padded spread has its longest axis, which is along the offset;
    the union of two spheres is the larger one. Always True. Modified in place: s, work.
    """
    square, its = dot(work.e, work.e, 0), 1.0
    if not is_single(other, s):
        its = s.Sigma[other, 0, 0]
    own = s.Sigma[keeper, 0, 0] + share * share * square
    variance = max(own, its + (1.0 - share) * (1.0 - share) * square)
    s.Sigma[keeper, 0, 0], work.W[0] = variance, 1.0 / np.sqrt(variance)
    write_factor(keeper, s.whiten, work.W)
    return True
