"""Arrow batches as rows of finite numbers, on the workers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from spclust.array_types import Booleans, Floats
from spclust.partitions import BadRows
from spclust.spark.worker_errors import BadRowsError


class RowFormat(NamedTuple):
    """How rows are read from the columns of a batch; sent from the driver to the workers."""

    names: list[str]  # of the columns, in the user's table
    vector: bool  # one column holds all features
    bad_rows: BadRows


class RowReader:
    """Turns the batches of one partition into arrays (rows, d), one after the other.

    Attributes
    ----------
    partition : int
        Number of the partition.
    skipped : int
        Rows left out so far, because a number in them was missing, NaN or infinite.
    """

    def __init__(self, row_format: RowFormat) -> None:
        self.names, self.vector, self.bad_rows = row_format
        context = TaskContext.get()
        self.partition = -1 if context is None else context.partitionId()
        self.skipped = self._read = 0
        self._width: int | None = None

    def rows(self, columns: Sequence[pa.Array]) -> Floats:
        """The finite rows of the columns of a batch."""
        rows, finite = self.rows_and_mask(columns)
        return rows if finite is None else rows[finite]

    def rows_and_mask(self, columns: Sequence[pa.Array]) -> tuple[Floats, Booleans | None]:
        """All rows of the columns of a batch, and which of them are finite; None if all are."""
        start, self._read = self._read, self._read + len(columns[0])
        rows = self._vectors(columns[0], start) if self.vector else _side_by_side(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(rows.sum()):  # a fast test that is sufficient: finite sums may overflow
                return rows, None
        finite = np.isfinite(rows)
        if finite.all():
            return rows, None
        finite_rows: Booleans = np.all(finite, axis=1)
        if self.bad_rows == "raise":
            row, column = (int(index) for index in np.argwhere(~finite)[0])
            self._refuse(row + start, column, rows[row, column])
        self.skipped += int(np.count_nonzero(~finite_rows))
        return rows, finite_rows

    def _vectors(self, lists: pa.Array, start: int) -> Floats:
        """The rows of a column of lists: NaN where a list or an element is missing."""
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        lengths = np.where(np.isnan(lengths), -1, lengths).astype(np.int64)
        if self._width is None and lengths.max(initial=-1) >= 0:
            self._width = int(lengths[lengths >= 0][0])
        width = self._width or 1
        others = np.flatnonzero((lengths >= 0) & (lengths != width))
        if others.size:
            raise BadRowsError(
                f"Column {self.names[0]!r} has {lengths[others[0]]} numbers in row "
                f"{start + others[0]} of partition {self.partition}, where other rows have "
                f"{width}: give all rows the same number."
            )
        rows = np.full((len(lists), width), np.nan)
        rows[lengths >= 0] = _numbers(lists.flatten()).reshape(-1, width)
        return rows

    def _refuse(self, row: int, column: int, value: float) -> None:
        name = self.names[0 if self.vector else column]
        where = f"Column {name!r}" + (f", element {column}," if self.vector else "")
        what = "null or NaN" if np.isnan(value) else "an infinity"
        raise BadRowsError(
            f"{where} has {what} in row {row} of partition {self.partition}: drop such rows or "
            'fill them in first, or pass bad_rows="skip".'
        )


def _side_by_side(columns: Sequence[pa.Array]) -> Floats:
    rows = np.empty((len(columns[0]), len(columns)))
    for position, column in enumerate(columns):
        rows[:, position] = _numbers(column)
    return rows


def _numbers(column: Any) -> Floats:
    """A column of doubles, with NaN where one is missing."""
    numbers: Floats = column.to_numpy(zero_copy_only=False)
    return numbers
