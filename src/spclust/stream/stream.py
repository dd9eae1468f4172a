"""One stream in the mode of the paper: its state, and learning. `query` has what only reads.

The interfaces of the library (scikit-learn and others) hold one of these and do no arithmetic.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spclust.algorithm import kernels
from spclust.array_types import Floats, Rows
from spclust.numerics.memory import aligned_copy
from spclust.parameters import Params
from spclust.state.creation import configure, empty, enlarged, extents, first_room
from spclust.state.kinds import FULL
from spclust.state.scratch import Scratch, scratch_for
from spclust.state.structures import Structures
from spclust.stream.access import Access, PointLearner
from spclust.stream.combination import combined
from spclust.stream.flat_rows import flat_chunks, with_columns
from spclust.stream.query import StreamQuery

_CHUNK_WORK = 1e9  # multiplications


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
            self._learn_flat(with_columns(rows, [] if t is None else [t[part]]))

    def _learn_flat(self, rows: Floats) -> None:
        row = kernels.learn(self.structures, rows, self.scratch)
        while self.structures.needed_rank > 0:
            old = self.structures
            self._use(lambda: enlarged(old, self.params), old.d, 2 * old.memory.size)  # noqa: B023
            row = kernels.learn(self.structures, rows, self.scratch, row)

    def finish(self) -> None:
        """Prune and merge what the last point left to do."""
        self._learn_flat(kernels.NO_ROWS)

    def point_learner(self, access: Access) -> PointLearner:
        """What learning one point at a time needs. Modified in place: access."""
        learn = kernels.learning_kernel(self.structures.kernel_kind)
        access.memory = self.structures.memory
        return PointLearner(learn, self.structures.memory, self.scratch.memory)

    def _chunks(
        self, X: Rows, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of X from `start` to `stop` in chunks that take about a second at most.

        An interrupt is handled between two chunks.
        """
        n, d = self.params.n_structures, X.shape[1]
        work = 4 * n * d * d + d**3 if self.params.kind == FULL else 64 * n * d
        return flat_chunks(X, int(_CHUNK_WORK / work), start, stop)
