"""Chunks: some rows of one file as numbers, its bad rows, and the position where they end."""

import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spclust.array_types import Booleans, Floats, Integers

# Parts of it are used: to make such a table releases the GIL, for which a thread then has to wait.
_NO_COLUMNS = pa.table({"": pa.nulls(1 << 20)}).select([])


class Columns(NamedTuple):
    """Columns to read."""

    features: tuple[str, ...]  # as numbers
    extra: tuple[str, ...] = ()  # as text: the label and columns to keep
    time: str | None = None  # as times
    dated: bool = False  # True if these are dates, False if they are numbers

    @property
    def read(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        time = () if self.time is None else (self.time,)
        return tuple(dict.fromkeys((*self.features, *self.extra, *time)))


class Position(NamedTuple):
    """A place between two rows of the input, from which reading can be resumed.

    The fields and their order are part of the format of checkpoints.
    """

    file: int = 0  # number of the file
    before: int = 0  # rows of the files before it
    row: int = 0  # rows of it that were read
    offset: int = 0  # a byte of its text at which a row starts,
    offset_row: int = 0  # and the number of that row
    identity: str = ""  # length and digest of the text before that byte; "" if it is no text
    rows: str = ""  # digest of the rows from that one on
    message: str = ""  # cursor of a topic in a broker, and rows read of the message after it


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
    identity: str  # length and digest of the text before the first row; "" if not known
    time: Floats | None = None  # (n,) of each good row; None if no column of times is read

    def part(self, start: int, stop: int) -> "Chunk":
        """Good rows `start` to `stop`, with the bad rows that come before the last of them."""
        first = self.row[start - 1] + 1 if start else 0
        last = self.row[stop - 1] if stop < len(self.row) else None
        inside = [b for b in self.bad if b.row >= first and (last is None or b.row < last)]
        return self._replace(
            values=self.values[start:stop],
            row=self.row[start:stop],
            extra=self.extra.slice(start, stop - start),
            time=_sliced(self.time, start, stop),
            bad=inside,
            end_row=self.end_row if last is None else int(last) + 1,
        )

    def bad_only(self) -> "Chunk":
        """The bad rows without the good ones."""
        none, time = self.extra.slice(0, 0), _sliced(self.time, 0, 0)
        return self._replace(values=self.values[:0], row=self.row[:0], extra=none, time=time)

    def until(self, row: int) -> "Chunk":
        """Rows, good and bad, before a row of the file."""
        stop = int(np.searchsorted(self.row, row))
        return self._replace(
            values=self.values[:stop],
            row=self.row[:stop],
            extra=self.extra.slice(0, stop),
            time=_sliced(self.time, 0, stop),
            bad=[bad for bad in self.bad if bad.row < row],
        )

    def since(self, row: int) -> "Chunk":
        """Rows, good and bad, from a row of the file on."""
        start = int(np.searchsorted(self.row, row))
        return self._replace(
            values=self.values[start:],
            row=self.row[start:],
            extra=self.extra.slice(start),
            time=_sliced(self.time, start, None),
            bad=[bad for bad in self.bad if bad.row >= row],
        )


def filtered(extra: pa.Table, rows: Booleans) -> pa.Table:
    """Some rows of a table, by a mask (n,); PyArrow does not count those of one without columns."""
    return extra.filter(pa.array(rows)) if extra.num_columns else extra


def _sliced(time: Floats | None, start: int, stop: int | None) -> Floats | None:
    return None if time is None else time[start:stop]


class RowDigest:
    """Digest of consecutive rows of a file, which does not depend on how they are cut."""

    def __init__(self) -> None:
        # Those that each chunk has: one without rows then changes nothing.
        self._parts: defaultdict[str, int] = defaultdict(int, values=0, row=0)

    def add(self, chunk: Chunk) -> None:
        """Add the rows, good and bad, of a chunk or of a part of one."""
        self._update("values", np.ascontiguousarray(chunk.values))
        self._update("row", np.ascontiguousarray(chunk.row))
        if chunk.time is not None:
            self._update("time", np.ascontiguousarray(chunk.time))
        for bad in chunk.bad:
            self._update("bad", f"{tuple(bad)}\n".encode())
        for name, column in zip(chunk.extra.column_names, chunk.extra.columns, strict=True):
            for array in column.chunks:
                for kind, data in _contents(array):
                    self._update(f"{kind} of {name}", data)

    def _update(self, name: str, data: Any) -> None:
        self._parts[name] = zlib.crc32(data, self._parts[name])

    def value(self) -> str:
        """The digest of all rows so far."""
        return f"{zlib.crc32(repr(sorted(self._parts.items())).encode()):08x}"


def _contents(array: pa.StringArray) -> Iterator[tuple[str, Any]]:
    """Missing cells, lengths and text of a column of strings, by what they are."""
    if not len(array):
        return
    _, offsets, text = array.buffers()
    ends = np.frombuffer(offsets, np.int32, len(array) + 1, 4 * array.offset)
    yield "missing cells", array.is_null().to_numpy(zero_copy_only=False)
    yield "lengths", np.diff(ends)
    yield "text", memoryview(text or b"")[ends[0] : ends[-1]]


def without_columns(rows: int) -> pa.Table:
    """A table that has rows, and no columns."""
    if rows <= len(_NO_COLUMNS):
        return _NO_COLUMNS.slice(0, rows)
    return pa.table({"": pa.nulls(rows)}).select([])
