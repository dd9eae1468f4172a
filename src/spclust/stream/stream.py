"""One stream: the state and everything that can be asked of it, behind a plain Python object.

The faces of the library (scikit-learn and others) own one of these and do no arithmetic.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from spclust.algorithm import update as online
from spclust.arrays import Floats, Integers, Rows
from spclust.auto import hysteresis as standing
from spclust.auto import scale as frame
from spclust.numerics.memory import aligned, aligned_copy
from spclust.parameters import Params
from spclust.state.scratch import scratch_size
from spclust.state.structures import (
    CRAMPED,
    CUT_DUE,
    DUE,
    FEATURES,
    SEEN,
    TIMED,
    Structures,
    configure,
    empty_pool,
    enlarged,
    first_room,
    kind_of,
    pool_size,
    view,
)
from spclust.stream.combination import united
from spclust.stream.query import ReadStream

# Machine code, and what it is called with: a pool, here the point, scratch memory, and the address
# of the code that it calls. It returns 1 if the point was learnt, -1 if then it has to be pruned, 0
# if nothing was done. A plain tuple, which is taken apart soonest.
PointLearner: TypeAlias = tuple[Any, Floats, Floats, int]


class Stream(ReadStream):
    """State of one stream of points with d features."""

    params: Params
    pool: Floats
    structures: Structures  # the pool's parts, by name
    scratch: Floats

    def __init__(self, params: Params, d: int) -> None:
        self.params = params
        self._clustering: tuple[float, int, float, Integers] | None = None
        room = first_room(params, d)
        self._use(lambda: empty_pool(params, d, room), d, pool_size(params, d, room))

    def _use(self, make: Callable[[], Floats], d: int, size: int) -> None:
        """Make a pool, and scratch memory for it; both take the place of the old ones, or none."""
        try:
            pool = make()
            scratch = aligned(scratch_size(pool))
        except MemoryError:
            raise MemoryError(
                f"{self.params.n_structures} structures of {d} features need "
                f"{8e-9 * size:.1f} GB: lower n_structures, or choose "
                'covariance_type "diag", or "lowrank" with a max_rank.'
            ) from None
        # In one step: an interrupt between two would leave a pool with another one's scratch.
        vars(self).update(pool=pool, scratch=scratch, structures=view(pool))

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "pool": self.pool}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.params, self._clustering = state["params"], None
        pool = state["pool"]
        self._use(lambda: aligned_copy(pool), int(pool[FEATURES]), pool.size)

    @classmethod
    def united(cls, streams: Sequence["Stream"], params: Params, *, concurrent: bool) -> "Stream":
        """One stream of several with the same parameters, at the same time or one after another."""
        pools = [stream.pool for stream in streams]
        new = cls.__new__(cls)
        new.params, new._clustering = params, None
        d, size = int(pools[0][FEATURES]), pools[0].size
        new._use(lambda: united(pools, params, concurrent), d, size)
        return new

    def configure(self, params: Params) -> None:
        """Use other decay and pruning parameters from now on."""
        configure(self.pool, params)
        self.params = params

    def learn(self, X: Rows, t: Floats | None = None) -> None:
        """Learn the rows of X (rows, d), all finite, in order.

        With time stamps t (rows,), never earlier than the one before, for all points of the stream
        or for none.
        """
        if self.seen == 0 and len(X):
            self.pool[TIMED] = float(t is not None)
            if self.framed:
                frame.begin(self.pool, np.asarray(X[0], dtype=np.float64))
        at = 0
        while at < len(X):
            self._look_around()  # first of all, if the last call was interrupted before it
            until = int(min(len(X), max(at + 1, at + self._due() - self.seen)))
            if self.framed:
                frame.learn_units(self.structures, X[at:until])
            for part, rows in self._chunks(X, at, until):
                if t is not None:
                    rows = np.column_stack([t[part], rows.reshape(-1, X.shape[1])]).reshape(-1)
                    rows.flags.writeable = False
                self._learn_flat(rows)
            at = until
        self._look_around()

    def _due(self) -> float:
        """Points that will have been learnt when it is time to look around."""
        due = self.pool[DUE] if self.framed else np.inf
        return float(min(due, self.pool[CUT_DUE] if self.params.natural else np.inf))

    def _look_around(self) -> None:
        """Let the units fit the structures, and clusters stand, if it is time to."""
        if self._due() <= self.seen and online.unfinished(self.pool):
            self.make_room()  # if the last call was interrupted before it
        if self.framed and 0 < self.pool[DUE] <= self.seen:
            self._look_at_units()
        if self.params.natural and self.pool[CUT_DUE] <= self.seen:
            standing.decide(self.structures)
            self._clustering = None

    def _look_at_units(self) -> None:
        """Let the units fit the structures."""
        due, pool = frame.next_look(self.pool), frame.fitted(self.pool)
        pool[DUE] = due
        if pool is not self.pool:
            self._use(lambda: pool, int(pool[FEATURES]), pool.size)

    def _learn_flat(self, rows: Floats) -> None:
        row = online.learn(self.pool, rows, self.scratch)
        while self.pool[CRAMPED] > 0.0:
            pool, d = self.pool, int(self.pool[FEATURES])
            self._use(lambda: enlarged(pool, self.params), d, 2 * pool.size)  # noqa: B023 - at once
            row = online.learn(self.pool, rows, self.scratch, row)

    def point_learner(self) -> PointLearner:
        """What learning one point at a time needs."""
        learn, address = online.point_kernel(kind_of(self.pool))
        if self.framed:
            learn = self._learner_in_frame(learn)
        elif self.params.natural:
            learn = self._learner_that_looks(learn)
        return learn, self.pool, self.scratch, address

    def _learner_in_frame(self, learn: Any) -> Any:
        """A learner of one point that takes it in the unit of the data; 0 if `learn` has to do it.

        That is when a unit is not known yet, or when it is time to look at them.
        """
        s, due = self.structures, self._due()  # looks come with a new learner
        d = s.unit.size
        if not np.all(s.unit > 0.0):
            due = 0.0

        def learn_in_frame(pool: Floats, x: Floats, scratch: Floats, address: int) -> int:
            stamps = int(pool[TIMED])
            if pool[SEEN] + 1.0 >= due or x.size != d + stamps:
                return 0
            plain = np.ascontiguousarray(x[stamps:])  # else another kernel compiles
            point = frame.in_units(plain.reshape(1, d), s.origin, s.unit).reshape(d)
            if stamps:
                point = np.concatenate([x[:stamps], point])
            learnt: int = learn(pool, point, scratch, address)
            return learnt

        return learn_in_frame

    def _learner_that_looks(self, learn: Any) -> Any:
        """A learner of one point; 0 if `learn` has to do it, because it is time to look around."""

        def learn_until_due(pool: Floats, x: Floats, scratch: Floats, address: int) -> int:
            if pool[SEEN] + 1.0 >= pool[CUT_DUE]:
                return 0
            learnt: int = learn(pool, x, scratch, address)
            return learnt

        return learn_until_due

    def make_room(self) -> None:
        """Prune, after a point was learnt that left something to prune."""
        online.make_room(self.pool, self.scratch)
        if self.pool[CRAMPED] > 0.0:
            self._learn_flat(online.NO_ROWS)
