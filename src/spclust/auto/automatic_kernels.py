"""The compiled kernels of the automatic mode: one that learns, and two that answer queries."""

from functools import cache
from typing import Any

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.home import into_metric, write_coordinates, write_distances
from spclust.auto.point_update import learn_points
from spclust.jit.cache import compiled_once
from spclust.jit.decorators import lean_kernel
from spclust.jit.gil import acquire, release
from spclust.jit.internals import entry_point
from spclust.numerics.smallest import first_smallest
from spclust.state.automatic_structures import automatic_in_kernel

_FEW_ROWS = 4  # more of them are read without the GIL
_ROWS, _MEMORY, _INTEGERS = np.empty(0), np.empty(1), np.empty(1, dtype=np.int64)
_ROWS.flags.writeable = False  # kernels are compiled for rows that may not be written to


@cache
def automatic_learner() -> Any:
    """The kernel that learns rows: learn(memory, X, scratch, rows) is the number learnt."""

    def learn_automatically(memory: Floats, X: Floats, scratch: Floats, rows: int) -> int:
        # A single point takes a microsecond: other threads wait for it, not it for them.
        thread = release(rows > 1)
        learnt = learn_points(rows, X, automatic_in_kernel(memory))
        acquire(thread)
        return learnt

    kernel = lean_kernel(learn_automatically)
    return entry_point(compiled_once(kernel, _MEMORY, _ROWS, _MEMORY, 0))


@cache
def automatic_nearest() -> Any:
    """The kernel that finds the nearest structure of each row, by Eq. 17."""

    def find_nearest_automatically(
        memory: Floats, X: Floats, position: Integers, nearest: Integers, scratch: Floats
    ) -> None:
        thread = release(nearest.size > _FEW_ROWS)
        s = automatic_in_kernel(memory)
        y, z, q = scratch[: s.d], scratch[s.d : 2 * s.d], scratch[2 * s.d :]
        for row in range(nearest.size):
            write_coordinates(X, row * s.d, y, s)
            into_metric(y, z, s)
            write_distances(z, q, s)
            nearest[row] = position[first_smallest(q, s.id, s.live)]
        acquire(thread)

    kernel = lean_kernel(find_nearest_automatically)
    return entry_point(compiled_once(kernel, _MEMORY, _ROWS, _INTEGERS, _INTEGERS, _MEMORY))


@cache
def automatic_homes() -> Any:
    """The kernel that finds the distance of each row from home in each group of structures.

    Or to the nearest structure of each group, if reaches do not count.
    """

    def find_homes(
        memory: Floats, X: Floats, group: Integers, home: Floats, scratch: Floats, reaches: bool
    ) -> None:
        thread = release(home.shape[0] > _FEW_ROWS)
        s = automatic_in_kernel(memory)
        y, z, q = scratch[: s.d], scratch[s.d : 2 * s.d], scratch[2 * s.d :]
        for row in range(home.shape[0]):
            write_coordinates(X, row * s.d, y, s)
            into_metric(y, z, s)
            write_distances(z, q, s)
            for g in range(home.shape[1]):
                home[row, g] = np.inf
            for i in range(s.live):
                g = group[i]
                if g >= 0:
                    distance = max(q[i], s.reach[i]) if reaches else q[i]
                    home[row, g] = min(home[row, g], distance)
        acquire(thread)

    kernel = lean_kernel(find_homes)
    homes = np.empty((1, 1))
    return entry_point(compiled_once(kernel, _MEMORY, _ROWS, _INTEGERS, homes, _MEMORY, True))


def query_scratch(d: int, n: int) -> Floats:
    """Working memory of a query kernel for d features and n slots."""
    return np.empty(2 * d + n)
