"""The rows of the last batch, whose labels are computed when they are read."""

import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from spclust.array_types import Floats, Integers, Rows
from spclust.auto.origin_path import Arrivals
from spclust.parameters import resolved_outlier_nlt
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream

NO_ROWS = np.empty(0, dtype=np.int64)

# Rows of a batch up to this size (bytes) are kept until their labels are read, which often never
# happens, or until the next batch; those of larger ones are labelled at once.
_LARGEST_KEPT = 8_000_000
_PART = 65_536  # rows that are moved at a time


# The NLT that decides whether a row belongs to no cluster: none, that of the nearest structure that
# is solid, or that of its best one. They differ in the automatic mode only: see `auto.novelty`.
Measure = Literal["none", "nearest", "best"]


def outlier_measure(model: Any) -> Measure:
    """The measure that a model has: "auto" is about the nearest solid structure."""
    if resolved_outlier_nlt(model.outlier_nlt, model.scale) is None:
        return "none"
    return "nearest" if isinstance(model.outlier_nlt, str) else "best"


def measured_nlt(rows: Rows, stream: AnyStream, threads: int, measure: Measure) -> Floats | None:
    """NLT (n,) of each row, or None."""
    if measure == "none":
        return None
    return (stream.nearest_nlt if measure == "nearest" else stream.least_nlt)(rows, threads)


def arrivals_of(
    rows: int, stream: AnyStream, t: Floats | None = None, weights: Floats | None = None
) -> Arrivals | None:
    """When rows just learnt arrived; None if clusters cannot have moved."""
    if not isinstance(stream, AutomaticStream) or stream.path is None:
        return None
    return Arrivals.of_last(rows, stream.structures, t, weights)


class LastBatch(NamedTuple):
    """The structures in which the rows are most typical, or the rows, to find out later."""

    seen: int | None  # points learnt, these rows included; None if they were not learnt in full,
    # -1 if other points were learnt since
    rows: Rows | None
    nearest: Integers  # position of a structure, in order of age, for each row; if rows is None
    nlt: Floats | None = None  # None if it was not needed while rows were there
    measure: Measure = "none"  # what `nlt` is
    arrivals: Arrivals | None = None  # of the rows, if clusters may have moved since

    @classmethod
    def of(
        cls,
        rows: Rows,
        stream: AnyStream,
        threads: int,
        arrivals: Arrivals | None,
        *,
        at_once: bool,
        measure: Measure,
    ) -> Self:
        """The rows that were just learnt."""
        if at_once or rows.nbytes > _LARGEST_KEPT:
            last = cls(stream.seen, rows, NO_ROWS, arrivals=arrivals)
            return last.found(stream, threads, measure)
        return cls(stream.seen, rows.copy(), NO_ROWS, arrivals=arrivals)

    def found(self, stream: AnyStream, threads: int, measure: Measure) -> Self:
        """The batch with the nearest structure of each row, and its NLT there if needed."""
        if self.rows is None:
            return self
        nearest, nlts = [], []
        for rows in self.as_of_now(self.rows, stream):
            nearest.append(stream.nearest(rows, threads))
            nlt = measured_nlt(rows, stream, threads, measure)
            nlts += [] if nlt is None else [nlt]
        found = self._replace(rows=None, nearest=np.concatenate(nearest))
        return found._replace(nlt=np.concatenate(nlts) if nlts else None, measure=measure)

    def as_of_now(self, rows: Rows, stream: AnyStream) -> Iterator[Rows]:
        """Its rows, in parts, moved as the clusters since they arrived."""
        if self.arrivals is None or not isinstance(stream, AutomaticStream):
            yield rows
            return
        for start in range(0, max(len(rows), 1), _PART):
            part = rows[start : start + _PART]
            yield stream.moved(part, self.arrivals.of(np.arange(start, start + len(part))))


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
