"""Assignment of points to structures: the nearest structure (Eq. 17) and the least NLT (Eq. 4)."""

from functools import cache
from typing import Any

import numpy as np

from spclust import covariance  # noqa: F401 - the modules of all kinds
from spclust.algorithm.kernels import NO_ROWS
from spclust.algorithm.typicality import distances_of_point, nlt_from_odds
from spclust.array_types import Floats, Integers
from spclust.jit.cache import compiled_once
from spclust.jit.decorators import part, specialised
from spclust.jit.gil import acquire, release
from spclust.numerics.smallest import first_smallest
from spclust.state.kinds import without_unrolling
from spclust.state.scratch import Scratch, scratch_in_kernel
from spclust.state.structures import Structures, in_kernel

_FEW_ROWS = 4  # more of them are read without the GIL
_MEMORY, _INTEGERS = np.empty(1), np.empty(1, dtype=np.int64)


@part
def read_point(X: Floats, row: int, work: Scratch) -> None:
    """Make a row of X, a flat array, the point work.x. Modified in place: work."""
    x = work.x
    for c in range(x.shape[1]):
        x[0, c], x[1, c] = X[row * x.shape[1] + c], 0.0


@part
def find_nearest(
    X: Floats, position: Integers, nearest: Integers, s: Structures, work: Scratch
) -> None:
    """For each row of X, one after the other in one array, the nearest structure. Eq. (17).

    The distance 1 - u^2 of Eq. (17) grows with the squared Mahalanobis distance, which therefore
    decides alone; the oldest wins a tie (E12). What is written down is the `position` (live,) of
    its slot. Modified in place: nearest (rows,), work.
    """
    q = work.point_q
    for row in range(nearest.size):
        read_point(X, row, work)
        distances_of_point(work.x, s, q, work.ahead, work.spare)
        nearest[row] = position[first_smallest(q, s.id, s.live)]


@part
def find_least_nlt(X: Floats, group: Integers, least: Floats, s: Structures, work: Scratch) -> None:
    """NLT of each row of X, one after the other, in the best structure of each group. Eq. (4).

    `group` (live,) gives the group of each slot, -1 for none. Modified in place: least
    (rows, n_groups), work.
    """
    q, live = work.point_q, s.live
    for row in range(least.shape[0]):
        read_point(X, row, work)
        for g in range(least.shape[1]):
            least[row, g] = np.inf
        distances_of_point(work.x, s, q, work.ahead, work.spare)
        for i in range(live):
            g = group[i]
            if g >= 0 and q[i] < least[row, g]:
                least[row, g] = q[i]
        for g in range(least.shape[1]):
            least[row, g] = nlt_from_odds(s.exponent * np.log(least[row, g]), True)


@cache
def nearest_kernel(kind: int) -> Any:
    """The kernel of `find_nearest` for one kind of covariances."""
    if kind != without_unrolling(kind):
        return nearest_kernel(without_unrolling(kind))

    def nearest_structures(
        memory: Floats, X: Floats, position: Integers, nearest: Integers, scratch: Floats
    ) -> None:
        thread = release(nearest.size > _FEW_ROWS)
        s, work = in_kernel(memory, kind), scratch_in_kernel(scratch, kind)
        find_nearest(X, position, nearest, s, work)
        acquire(thread)

    kernel = specialised(nearest_structures, str(kind))
    return compiled_once(kernel, _MEMORY, NO_ROWS, _INTEGERS, _INTEGERS, _MEMORY)


@cache
def nlt_kernel(kind: int) -> Any:
    """The kernel of `find_least_nlt` for one kind of covariances."""
    if kind != without_unrolling(kind):
        return nlt_kernel(without_unrolling(kind))

    def least_nlt(
        memory: Floats, X: Floats, group: Integers, least: Floats, scratch: Floats
    ) -> None:
        thread = release(least.shape[0] > _FEW_ROWS)
        s, work = in_kernel(memory, kind), scratch_in_kernel(scratch, kind)
        find_least_nlt(X, group, least, s, work)
        acquire(thread)

    kernel = specialised(least_nlt, str(kind))
    return compiled_once(kernel, _MEMORY, NO_ROWS, _INTEGERS, np.empty((1, 1)), _MEMORY)
