"""The compiled kernels of the online phase, one set for each kind of covariances, and their calls.

`learn` is what the rest of the library calls. It runs the compiled loop over rows, `learn_rows`.
The general union of two covariances is rare and compiles to as much code as all the rest: it is a
kernel of its own, compiled when it is first needed.
"""

from functools import cache
from typing import Any, Protocol

import numpy as np

from spclust import covariance  # noqa: F401 - the modules of all kinds
from spclust.algorithm.update import learn_rows, unite_pair
from spclust.array_types import Floats
from spclust.jit.cache import compiled_once
from spclust.jit.decorators import specialised
from spclust.jit.gil import acquire, release
from spclust.jit.internals import entry_point
from spclust.state.kinds import without_unrolling
from spclust.state.scratch import Scratch, scratch_in_kernel
from spclust.state.structures import Structures, in_kernel


class Clocked(Protocol):
    """A state whose points may have time stamps."""

    timed: Any
    clock: Any


EXACT = 2**53  # integers up to here are exact as floats
NO_ROWS = np.empty(0)
NO_ROWS.flags.writeable = False  # kernels are compiled for rows that may not be written to


def learn(s: Structures, X: Floats, work: Scratch, row: int = 0, kind: int | None = None) -> int:
    """Learn the rows of X from `row` on, all finite, one after the other in one array.

    Returns the number of the row after the last one learnt: there are more only if s.needed_rank
    tells that first the state needs more memory. If the last call was interrupted before it
    finished, that is done first. Modified in place: s, work.
    """
    step = learning_kernel(s.kernel_kind if kind is None else kind)
    width = s.d + s.timed
    while s.needed_rank == 0:
        if work.pending:
            _unite_pair(step, s, work)
        learnt = abs(step(s.memory, X[row * width :], work.memory, X.size // width - row))
        row += learnt
        if work.pending or s.needed_rank > 0:
            continue
        if row * width >= X.size:
            break
        if learnt == 0:
            raise ValueError(f"Row {row} is not finite, or X is not one row of numbers.")
    return row


def _unite_pair(step: Any, s: Structures, work: Scratch) -> None:
    """Do the next merge by the general union of covariances. Modified in place: s, work."""
    try:
        union_kernel(without_unrolling(s.kernel_kind))(s.memory, work.memory)
    except BaseException:  # no structure may be there twice
        if work.united:
            step(s.memory, NO_ROWS, work.memory, 0)
        raise


def is_unfinished(s: Structures) -> bool:
    """True if there is something to prune, merge or measure before the next point."""
    return s.live > s.capacity or s.prune_from > 0 or s.stale > 0


def measure_slot(slot: int, s: Structures, work: Scratch) -> None:
    """Measure the relations of a structure to all others, whatever was known of them."""
    learning_kernel(s.kernel_kind)(s.memory, NO_ROWS, work.memory, -1 - slot)


def measure_all(s: Structures, work: Scratch) -> None:
    """Measure the relations of all structures."""
    for slot in range(s.live):
        measure_slot(slot, s, work)


@cache
def learning_kernel(kind: int) -> Any:
    """The kernel that learns rows, for one kind of covariances."""

    def learn_rows_of_kind(memory: Floats, X: Floats, scratch: Floats, rows: int) -> int:
        # A single point takes a microsecond: other threads wait for it, not it for them.
        thread = release(rows > 1)
        learnt = learn_rows(rows, X, in_kernel(memory, kind), scratch_in_kernel(scratch, kind))
        acquire(thread)
        return learnt

    memory = np.empty(1)
    kernel = specialised(learn_rows_of_kind, str(kind))
    return entry_point(compiled_once(kernel, memory, NO_ROWS, memory, 0))


@cache
def union_kernel(kind: int) -> Any:
    """The kernel that does one merge by the general union, for one kind of covariances."""

    def unite_pair_of_kind(memory: Floats, scratch: Floats) -> None:
        unite_pair(in_kernel(memory, kind), scratch_in_kernel(scratch, kind))

    memory = np.empty(1)
    kernel = specialised(unite_pair_of_kind, str(kind))
    return entry_point(compiled_once(kernel, memory, memory))


def stamped(x: Floats, t: Any, s: Clocked) -> Floats:
    """A point (d,) behind its time stamp, as kernels take it; empty if `can_follow` says no."""
    if not can_follow(t, s):
        return np.empty(0)
    row = np.empty(x.size + 1)
    row[0], row[1:] = t, x
    return row


def can_follow(t: Any, s: Clocked) -> bool:
    """True if t is a plain time stamp, not before the last, and the points of the stream have one.

    Anything else may still be converted to one by the slow path.
    """
    plain = isinstance(t, float) or (type(t) is int and -EXACT <= t <= EXACT)
    return plain and s.timed and bool(s.clock <= t < np.inf)
