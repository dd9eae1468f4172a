"""The rows of the last batch, whose labels are computed when they are read."""

import os
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from spclust.array_types import Floats, Integers, Rows
from spclust.parameters import resolved_outlier_nlt
from spclust.stream.mode import AnyStream

NO_ROWS = np.empty(0, dtype=np.int64)

# Rows of a batch up to this size (bytes) are kept until their labels are read, which often never
# happens, or until the next batch; those of larger ones are labelled at once.
_LARGEST_KEPT = 8_000_000


# The NLT that decides whether a row belongs to no cluster: none, that of its nearest structure, or
# that of its best one. They differ in the automatic mode only: see `auto.home`.
Measure = Literal["none", "nearest", "best"]


def outlier_measure(model: Any) -> Measure:
    """The measure that a model has: "auto" is about the nearest structure, however light."""
    if resolved_outlier_nlt(model.outlier_nlt, model.scale) is None:
        return "none"
    return "nearest" if isinstance(model.outlier_nlt, str) else "best"


def measured_nlt(rows: Rows, stream: AnyStream, threads: int, measure: Measure) -> Floats | None:
    """NLT (n,) of each row, or None."""
    if measure == "none":
        return None
    return (stream.nearest_nlt if measure == "nearest" else stream.least_nlt)(rows, threads)


class LastBatch(NamedTuple):
    """The structures in which the rows are most typical, or the rows, to find out later."""

    seen: int | None  # points learnt, these rows included; None if they were not learnt in full,
    # -1 if other points were learnt since
    rows: Rows | None
    nearest: Integers  # position of a structure, in order of age, for each row; if rows is None
    nlt: Floats | None = None  # None if it was not needed while rows were there
    measure: Measure = "none"  # what `nlt` is

    @classmethod
    def of(
        cls, rows: Rows, stream: AnyStream, threads: int, *, at_once: bool, measure: Measure
    ) -> Self:
        """The rows that were just learnt."""
        if at_once or rows.nbytes > _LARGEST_KEPT:
            return cls(stream.seen, rows, NO_ROWS).found(stream, threads, measure)
        return cls(stream.seen, rows.copy(), NO_ROWS)

    def found(self, stream: AnyStream, threads: int, measure: Measure) -> Self:
        """The batch with the nearest structure of each row, and its NLT there if needed."""
        if self.rows is None:
            return self
        nlt = measured_nlt(self.rows, stream, threads, measure)
        nearest = stream.nearest(self.rows, threads)
        return self._replace(rows=None, nearest=nearest, nlt=nlt, measure=measure)


INTERRUPTED = LastBatch(None, None, NO_ROWS)  # not learnt in full
SUPERSEDED = LastBatch(-1, None, NO_ROWS)  # points one by one, or another model, came after it


def threads(model: Any) -> int:
    """Threads that read the model: n_jobs, where negative numbers count cores from the last."""
    jobs = 1 if model.n_jobs is None else int(model.n_jobs)
    if jobs == 0:
        raise ValueError("n_jobs must not be 0: None is one thread, -1 one for each core.")
    return jobs if jobs > 0 else max(1, _cores() + 1 + jobs)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
