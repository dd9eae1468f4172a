"""What learning one point at a time needs."""

from collections.abc import Callable
from typing import NamedTuple

from spclust.array_types import Floats


class PointLearner(NamedTuple):
    """A call that learns one point: learn(memory, x, scratch, 1).

    It returns 1 if the point was learnt, -1 if then `Stream.finish` has to be called, and 0 if
    nothing was done.
    """

    learn: Callable[[Floats, Floats, Floats, int], int]
    memory: Floats
    scratch: Floats
