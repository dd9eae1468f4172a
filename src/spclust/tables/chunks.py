"""Where reading stands, rows as they come out of a file, and rows that are no good."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spclust.arrays import Floats, Integers


class Position(NamedTuple):
    """A place in the input from which reading can begin again."""

    file: int = 0  # number of the file
    before: int = 0  # rows of the files before it
    row: int = 0  # rows of it that were read
    offset: int = 0  # a byte of its text at which a row starts,
    offset_row: int = 0  # and which row that is
    identity: str = ""  # of the file


class BadRow(NamedTuple):
    """A row that is left out."""

    row: int  # number in its file, from 0
    why: str  # what is wrong with it, as the end of a sentence that begins with file and row
    record: dict[str, Any]  # all there is to know of it: column, value, cells or text


class Piece(NamedTuple):
    """Some rows of a file, those that are good."""

    values: Floats  # (n, d)
    row: Integers  # (n,) number of each in its file, from 0
    extra: pa.Table  # columns besides the features, n rows
    bad: list[BadRow]
    offset: int  # a byte of the text at which the first of them, good or bad, starts,
    offset_row: int  # and the number of that row
    end_row: int  # rows of the file up to here, good or bad
    consumed: int  # bytes of the file read so far
    identity: str

    def part(self, start: int, stop: int) -> "Piece":
        """Some of the good rows, and the bad ones that come before the last of them."""
        first = self.row[start - 1] + 1 if start else 0
        last = self.row[stop - 1] if stop < len(self.row) else None
        inside = [b for b in self.bad if b.row >= first and (last is None or b.row < last)]
        return self._replace(
            values=self.values[start:stop],
            row=self.row[start:stop],
            extra=self.extra.slice(start, stop - start),
            bad=inside,
            end_row=self.end_row if last is None else int(last) + 1,
        )

    def without_rows(self) -> "Piece":
        """The bad ones alone."""
        none = self.extra.slice(0, 0)
        return self._replace(values=self.values[:0], row=self.row[:0], extra=none)

    def since(self, row: int) -> "Piece":
        """Without the rows, good or bad, before one of the file."""
        start = int(np.searchsorted(self.row, row))
        return self._replace(
            values=self.values[start:],
            row=self.row[start:],
            extra=self.extra.slice(start),
            bad=[bad for bad in self.bad if bad.row >= row],
        )


class Wanted(NamedTuple):
    """Columns to read."""

    features: tuple[str, ...]
    extra: tuple[str, ...] = ()  # label and columns to keep, as text
