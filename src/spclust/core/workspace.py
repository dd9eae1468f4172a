"""Scratch memory: kernels make no arrays, they work in what they are given."""

from typing import Any, NamedTuple

from spclust.arrays import Floats
from spclust.core.compile import paragraph
from spclust.core.distances import Unit
from spclust.core.lanes import LANES
from spclust.core.point_union import UnionScratch
from spclust.core.structures import REACH, SCALE, Structures, view
from spclust.core.typicality import Relation


class Workspace(NamedTuple):
    """Named views of the scratch memory; nothing in it outlives the point."""

    x: Any  # (2, d) the point: anchor, and a drift of 0
    mu: Any  # (2, d) mean of a structure: anchor and drift
    e: Any  # (d,) difference of two means, in units of scale
    W: Any  # (t,) factor of a structure
    offset: Any  # (d, 8) differences of eight means
    to_all: Relation  # how the point, or a structure, stands to all structures
    u: Any  # (n,) typicalities
    union: UnionScratch
    unit: Unit


def scratch_size(pool: Floats) -> int:
    """Floats of scratch memory that learning into a pool needs."""
    s = view(pool)
    n, d = s.id.size, s.drift.shape[1]
    return 9 * d + 6 * n + d * LANES + d * (d + 1) // 2 + d * d


@paragraph
def workspace(scratch: Floats, s: Structures) -> Workspace:
    """Name the parts of the scratch memory."""
    n, d = s.id.size, s.drift.shape[1]
    rows = 9 * d
    offset = rows + 6 * n
    W = offset + d * LANES
    R = W + d * (d + 1) // 2
    vector = scratch[:rows].reshape(9, d)
    row = scratch[rows:offset].reshape(6, n)
    return Workspace(
        vector[0:2],
        vector[2:4],
        vector[4],
        scratch[W:R],
        scratch[offset:W].reshape(d, LANES),
        Relation(row[0], row[1], row[2], row[3], row[4]),
        row[5],
        UnionScratch(
            scratch[R : R + d * d].reshape(d, d), vector[5], vector[6], vector[7], vector[8]
        ),
        Unit(1.0 / s.head[SCALE], s.head[REACH]),
    )
