"""Scratch memory: kernels make no arrays, they work in what they are given."""

from typing import Any, NamedTuple

from spclust.algorithm.typicality import Relation
from spclust.arrays import Floats
from spclust.covariance.point_union import UnionScratch
from spclust.jit.decorators import paragraph
from spclust.numerics.eight import LANES
from spclust.numerics.memory import matrix, row
from spclust.state.kinds import spare_size
from spclust.state.structures import REACH, SCALE, Structures, view


class Unit(NamedTuple):
    """What a difference of two points is measured in."""

    per_scale: float  # 1 / scale
    reach: float  # the largest difference, in units of scale


spare_size_in_kernel = paragraph(spare_size)

_VECTORS = 10  # of d numbers each
_ROWS = 10  # of a number for each slot


class Workspace(NamedTuple):
    """Named views of the scratch memory; nothing in it outlives the point."""

    x: Any  # (2, d) the point: anchor, and a drift of 0
    mu: Any  # (2, d) mean of a structure: anchor and drift
    e: Any  # (d,) difference of two means, in units of scale
    W: Any  # (t,) factor of a structure
    offset: Any  # (d, 8) differences of eight means to mu
    ahead: Any  # (d, 8) differences of eight means to x
    point: Relation  # how the point stands to all structures
    changed: Relation  # how a structure that changed stands to all others
    union: UnionScratch
    unit: Unit
    spare: Any  # for spreads of low rank


def scratch_size(pool: Floats) -> int:
    """Floats of scratch memory that learning into a pool needs."""
    s = view(pool)
    n, d = s.id.size, s.drift.shape[1]
    spread = s.whiten.shape[1] + s.Sigma.shape[1] ** 2 + spare_size(d, s.place.shape[1])
    return _VECTORS * d + _ROWS * n + 2 * d * LANES + spread


@paragraph
def relation(scratch: Floats, start: int, n: int) -> Relation:
    """Name the five rows of a relation."""
    return Relation(
        row(scratch, start, n),
        row(scratch, start + n, n),
        row(scratch, start + 2 * n, n),
        row(scratch, start + 3 * n, n),
        row(scratch, start + 4 * n, n),
    )


@paragraph
def workspace(scratch: Floats, s: Structures) -> Workspace:
    """Name the parts of the scratch memory."""
    n, d = s.id.size, s.drift.shape[1]
    rows = d * LANES
    ahead = rows + _ROWS * n
    vectors = ahead + d * LANES
    W = vectors + _VECTORS * d
    R = W + s.whiten.shape[1]
    spare = R + s.Sigma.shape[1] ** 2
    return Workspace(
        matrix(scratch, vectors, 2, d),
        matrix(scratch, vectors + 2 * d, 2, d),
        row(scratch, vectors + 4 * d, d),
        row(scratch, W, R - W),
        matrix(scratch, 0, d, LANES),
        matrix(scratch, ahead, d, LANES),
        relation(scratch, rows, n),
        relation(scratch, rows + 5 * n, n),
        UnionScratch(
            matrix(scratch, R, s.Sigma.shape[1], s.Sigma.shape[1]),
            row(scratch, vectors + 5 * d, d),
            row(scratch, vectors + 6 * d, d),
            row(scratch, vectors + 7 * d, d),
            row(scratch, vectors + 8 * d, d),
            row(scratch, vectors + 9 * d, d),
        ),
        Unit(1.0 / s.head[SCALE], s.head[REACH]),
        row(scratch, spare, spare_size_in_kernel(d, s.place.shape[1])),
    )
