"""Chunks: some rows of one file as numbers, its bad rows, and the position where they end."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spclust.array_types import Floats, Integers


class Columns(NamedTuple):
    """Columns to read."""

    features: tuple[str, ...]  # as numbers
    extra: tuple[str, ...] = ()  # as text: the label and columns to keep


class Position(NamedTuple):
    """A place between two rows of the input, from which reading can be resumed.

    The fields and their order are part of the format of checkpoints.
    """

    file: int = 0  # number of the file
    before: int = 0  # rows of the files before it
    row: int = 0  # rows of it that were read
    offset: int = 0  # a byte of its text at which a row starts,
    offset_row: int = 0  # and the number of that row
    identity: str = ""  # of the file


class BadRow(NamedTuple):
    """A row that is left out."""

    row: int  # number in its file, from 0
    why: str  # what is wrong, as the end of a sentence that begins with file and row
    record: dict[str, Any]  # what is collected about it: column, value, cells or text


class Chunk(NamedTuple):
    """Consecutive rows of a file: the good ones as numbers, the bad ones with their problem."""

    values: Floats  # (n, d)
    row: Integers  # (n,) number of each good row in its file, from 0
    extra: pa.Table  # columns besides the features, n rows
    bad: list[BadRow]
    offset: int  # a byte of the text at which the first row, good or bad, starts,
    offset_row: int  # and the number of that row
    end_row: int  # rows of the file up to here, good or bad
    consumed: int  # bytes of the file read so far
    identity: str  # of the file

    def part(self, start: int, stop: int) -> "Chunk":
        """Good rows `start` to `stop`, with the bad rows that come before the last of them."""
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

    def bad_only(self) -> "Chunk":
        """The bad rows without the good ones."""
        none = self.extra.slice(0, 0)
        return self._replace(values=self.values[:0], row=self.row[:0], extra=none)

    def since(self, row: int) -> "Chunk":
        """Rows, good and bad, from a row of the file on."""
        start = int(np.searchsorted(self.row, row))
        return self._replace(
            values=self.values[start:],
            row=self.row[start:],
            extra=self.extra.slice(start),
            bad=[bad for bad in self.bad if bad.row >= row],
        )
