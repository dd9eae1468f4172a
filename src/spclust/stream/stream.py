"""One stream: its state, and learning. `query` has everything that only reads.

The interfaces of the library (scikit-learn and others) hold one of these and do no arithmetic.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from spclust.algorithm import kernels
from spclust.arrays import Floats, Rows
from spclust.auto import hysteresis, scale
from spclust.numerics.memory import aligned_copy
from spclust.parameters import Params
from spclust.state.creation import configure, empty, enlarged, extents, first_room
from spclust.state.kinds import FULL
from spclust.state.scratch import Scratch, scratch_for
from spclust.state.structures import Structures
from spclust.stream.combination import combined
from spclust.stream.query import StreamQuery

# Rows converted and handed to a kernel at a time: large enough to hide the call, small enough
# that a batch of another type, or of another memory order, never exists twice as a whole, and that
# an interrupt, which is handled between chunks, is handled within about a second.
_LARGEST_CHUNK = 65_536
_CHUNK_WORK = 1e9  # multiplications
_LARGEST_CHUNK_NUMBERS = 1_000_000


class PointLearner(NamedTuple):
    """What learning one point at a time needs: learn(memory, x, scratch, 1).

    It returns 1 if the point was learnt, -1 if then `Stream.finish` has to be called, and 0 if
    nothing was done.
    """

    learn: Callable[[Floats, Floats, Floats, int], int]
    memory: Floats
    scratch: Floats


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

    @property
    def automatic_scale(self) -> bool:
        """True if units follow the data: scale="auto"."""
        return self.structures.automatic_scale

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
            if self.automatic_scale:
                scale.begin(self.structures, np.asarray(X[0], dtype=np.float64))
        at = 0
        while at < len(X):
            self._renew_if_due()  # the last call may have been interrupted before it
            until = int(min(len(X), max(at + 1, at + self._due() - self.seen)))
            if self.automatic_scale:
                scale.learn_units(self.structures, X[at:until])
            for part, rows in self._chunks(X, at, until):
                if t is not None:
                    rows = np.column_stack([t[part], rows.reshape(-1, X.shape[1])]).reshape(-1)
                    rows.flags.writeable = False
                self._learn_flat(rows)
            at = until
        self._renew_if_due()

    def _due(self) -> float:
        """Points that will have been learnt when the automatic scale or cut is renewed."""
        due = self.structures.scale_due if self.automatic_scale else np.inf
        return float(min(due, self.structures.cut_due if self.params.automatic_cut else np.inf))

    def _renew_if_due(self) -> None:
        """Renew the automatic scale and the automatic cut if they are due."""
        if self._due() <= self.seen and kernels.is_unfinished(self.structures):
            self.finish()  # the last call may have been interrupted before it
        if self.automatic_scale and 0 < self.structures.scale_due <= self.seen:
            self._renew_scale()
        if self.params.automatic_cut and self.structures.cut_due <= self.seen:
            hysteresis.decide(self.structures)
            self._clustering = None

    def _renew_scale(self) -> None:
        due, structures = scale.next_due(self.structures), scale.fitted(self.structures)
        structures.scale_due = due
        if structures is not self.structures:
            self._use(lambda: structures, structures.d, structures.memory.size)

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
        if self.automatic_scale:
            learn = self._learner_in_units(learn)
        elif self.params.automatic_cut:
            learn = self._learner_until_due(learn)
        return PointLearner(learn, self.structures.memory, self.scratch.memory)

    def _learner_in_units(self, learn: Any) -> Any:
        """A learner of one point in the unit of the data; it returns 0 if `learn` has to do it.

        That is the case if a unit is not known yet, or if the scale is due.
        """
        s, due = self.structures, self._due()  # a renewal makes a new learner
        d, stamps = s.d, int(s.timed)
        if not np.all(s.unit > 0.0):
            due = 0.0

        def learn_in_units(memory: Floats, x: Floats, scratch: Floats, rows: int) -> int:
            if s.seen + 1 >= due or x.size != d + stamps:
                return 0
            plain = np.ascontiguousarray(x[stamps:])  # else another kernel compiles
            point = scale.in_units(plain.reshape(1, d), s.origin, s.unit).reshape(d)
            if stamps:
                point = np.concatenate([x[:stamps], point])
            learnt: int = learn(memory, point, scratch, rows)
            return learnt

        return learn_in_units

    def _learner_until_due(self, learn: Any) -> Any:
        """A learner of one point; it returns 0 when the automatic cut is due."""
        s = self.structures

        def learn_until_due(memory: Floats, x: Floats, scratch: Floats, rows: int) -> int:
            if s.seen + 1 >= s.cut_due:
                return 0
            learnt: int = learn(memory, x, scratch, rows)
            return learnt

        return learn_until_due

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
            if self.automatic_scale:
                rows = scale.coordinates(self.structures, X[part]).reshape(-1)
            else:
                rows = np.ascontiguousarray(X[part], dtype=np.float64).reshape(-1)
            rows.flags.writeable = False
            yield part, rows
