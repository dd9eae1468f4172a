"""Rows as kernels take them: one number after the other, float64, read-only, in chunks."""

from collections.abc import Iterator, Sequence

import numpy as np

from spclust.array_types import Floats, Rows

_MOST_ROWS, _MOST_NUMBERS = 65_536, 1_000_000


def flat_chunks(
    X: Rows, most: int = _MOST_ROWS, start: int = 0, stop: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """The rows of X from `start` to `stop`, at most so many at a time, and their slices.

    Whatever X is: kernels compile for one type. A chunk is large enough to hide the call, and small
    enough that a batch of another type, or of another memory order, never exists twice as a whole.
    """
    size = max(1, min(_MOST_ROWS, most, _MOST_NUMBERS // X.shape[1]))
    end = len(X) if stop is None else stop
    for first in range(start, end, size):
        part = slice(first, min(first + size, end))
        rows = np.ascontiguousarray(X[part], dtype=np.float64).reshape(-1)
        rows.flags.writeable = False
        yield part, rows


def with_columns(rows: Floats, columns: Sequence[Floats]) -> Floats:
    """The same rows, each behind its numbers of some columns (n,): time stamps, weights."""
    if not columns:
        return rows
    wider = np.column_stack([*columns, rows.reshape(len(columns[0]), -1)]).reshape(-1)
    wider.flags.writeable = False
    return wider
