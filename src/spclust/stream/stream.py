"""One stream in the mode of the paper: its state, and learning. `query` has what only reads.

The interfaces of the library (scikit-learn and others) hold one of these and do no arithmetic.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from spclust.algorithm import kernels
from spclust.arrays import Floats, Rows
from spclust.numerics.memory import aligned_copy
from spclust.parameters import Params
from spclust.state.creation import configure, empty, enlarged, extents, first_room
from spclust.state.kinds import FULL
from spclust.state.scratch import Scratch, scratch_for
from spclust.state.structures import Structures
from spclust.stream.combination import combined
from spclust.stream.point_learner import PointLearner
from spclust.stream.query import StreamQuery

# Rows converted and handed to a kernel at a time: large enough to hide the call, small enough
# that a batch of another type, or of another memory order, never exists twice as a whole, and that
# an interrupt, which is handled between chunks, is handled within about a second.
_LARGEST_CHUNK = 65_536
_CHUNK_WORK = 1e9  # multiplications
_LARGEST_CHUNK_NUMBERS = 1_000_000


class Stream(StreamQuery):
    """State of one stream of points with d features."""

    params: Params
    structures: Structures
    scratch: Scratch

    def __init__(self, params: Params, d: int) -> None:
        self.params, self._clustering = params, None
        room = first_room(params, d)
        size = Structures.size(extents(params, d, room))
        self._use(lambda: empty(params, d, room), d, size)

    def _use(self, make: Callable[[], Structures], d: int, size: int) -> None:
        """Make a state, and scratch memory for it; both replace the old ones, or neither does."""
        try:
            structures = make()
            scratch = scratch_for(structures)
        except MemoryError:
            raise MemoryError(
                f"{self.params.n_structures} structures of {d} features need "
                f"{8e-9 * size:.1f} GB: lower n_structures, or choose "
                'covariance_type "diag", or "lowrank" with a max_rank.'
            ) from None
        # In one step: an interrupt between two would leave a state with another one's scratch.
        vars(self).update(structures=structures, scratch=scratch)

    @classmethod
    def of(cls, params: Params, make: Callable[[], Structures], d: int, size: int = 0) -> "Stream":
        """A stream with the state that `make` returns."""
        stream = cls.__new__(cls)
        stream.params, stream._clustering = params, None
        stream._use(make, d, size)
        return stream

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "memory": self.structures.memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.params, self._clustering = state["params"], None
        memory = state["memory"]
        d = Structures(memory).d
        self._use(lambda: Structures(aligned_copy(memory)), d, memory.size)

    @classmethod
    def combined(cls, streams: Sequence["Stream"], params: Params, *, concurrent: bool) -> "Stream":
        """One stream of several with the same parameters, at the same time or one after another."""
        states = [stream.structures for stream in streams]
        first = states[0]
        make = lambda: combined(states, params, concurrent)  # noqa: E731
        return cls.of(params, make, first.d, first.memory.size)

    @property
    def seen(self) -> int:
        """Points learnt."""
        return self.structures.seen

    @property
    def clock(self) -> float | None:
        """The last time stamp, if points have any."""
        return self.structures.clock if self.structures.timed else None

    def configure(self, params: Params) -> None:
        """Use other decay and pruning parameters from now on."""
        configure(self.structures, params)
        self.params = params

    def learn(self, X: Rows, t: Floats | None = None) -> None:
        """Learn the rows of X (rows, d), all finite, in order.

        With time stamps t (rows,), never earlier than the one before, for all points of the stream
        or for none.
        """
        if self.seen == 0 and len(X):
            self.structures.timed = t is not None
        for part, rows in self._chunks(X):
            if t is not None:
                rows = np.column_stack([t[part], rows.reshape(-1, X.shape[1])]).reshape(-1)
                rows.flags.writeable = False
            self._learn_flat(rows)

    def _learn_flat(self, rows: Floats) -> None:
        row = kernels.learn(self.structures, rows, self.scratch)
        while self.structures.needed_rank > 0:
            old = self.structures
            self._use(lambda: enlarged(old, self.params), old.d, 2 * old.memory.size)  # noqa: B023
            row = kernels.learn(self.structures, rows, self.scratch, row)

    def finish(self) -> None:
        """Prune and merge what the last point left to do."""
        self._learn_flat(kernels.NO_ROWS)

    def point_learner(self) -> PointLearner:
        """What learning one point at a time needs."""
        learn = kernels.learning_kernel(self.structures.kernel_kind)
        return PointLearner(learn, self.structures.memory, self.scratch.memory)

    def _chunks(
        self, X: Rows, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of X from `start` to `stop`, in pieces that kernels accept, and their slices.

        One after the other, float64 and read-only, whatever X is: kernels compile for one type.
        """
        n, d = self.params.n_structures, X.shape[1]
        work = 4 * n * d * d + d**3 if self.params.kind == FULL else 64 * n * d
        size = max(1, min(_LARGEST_CHUNK, int(_CHUNK_WORK / work), _LARGEST_CHUNK_NUMBERS // d))
        end = len(X) if stop is None else stop
        for first in range(start, end, size):
            part = slice(first, min(first + size, end))
            rows = np.ascontiguousarray(X[part], dtype=np.float64).reshape(-1)
            rows.flags.writeable = False
            yield part, rows
