"""Covariances: one module for each kind, with the same functions in each.

`squares_in_each`, `two_squares_in_each` and `squares_in_one` are the distances of Eq. 2; `unite` is
the covariance union of Eq. 14 to 16 where it is simple, `unite_in_general` where it is not;
`lacks_memory` tells if the state has to grow first. In a kernel the module is `s.covariance`.
"""

from spclust.covariance import diagonal, full, lowrank, plane, spherical, unrolled
from spclust.state.kinds import (
    DIAGONAL,
    FULL,
    LOWRANK,
    MODULES,
    PLANE,
    SPHERICAL,
    UNROLLED,
    UNROLLED_FEATURES,
)

MODULES.update(
    {FULL: full, PLANE: plane, DIAGONAL: diagonal, SPHERICAL: spherical, LOWRANK: lowrank}
)
MODULES.update({UNROLLED + d: unrolled for d in range(64) if d in UNROLLED_FEATURES})
