"""Parquet and Arrow IPC: typed columns, read some rows at a time."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spclust.array_types import Floats
from spclust.tables.cells import parse_cells
from spclust.tables.chunks import BadRow, Chunk, Columns, Position
from spclust.tables.columns.time_column import with_times
from spclust.tables.inputs import STDIN
from spclust.tables.table_error import TableError, sentence_of
from spclust.tables.text_file import TextFile

_MOST_CELLS = 50_000  # read at a time, which limits the memory for wide tables
_FLOAT64 = pa.float64()
_MAGIC = b"ARROW1\0\0"  # an IPC file is these bytes, a stream, and a footer


class _RecordBatches(Protocol):
    """A file of record batches."""

    schema: pa.Schema

    def read(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns, each with the number of its first row."""
        ...

    def consumed(self, row: int) -> int:
        """Bytes of the file up to a row, about."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class ColumnarReader:
    """Reader of a file of typed columns."""

    def __init__(self, path: str, file: _RecordBatches) -> None:
        self._path, self._file = path, file
        self.schema = file.schema
        self.names = list(file.schema.names)

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers, by their type."""
        return [field.name for field in self._file.schema if _is_number(field.type)]

    def chunks(self, columns: Columns, since: Position) -> Iterator[Chunk | None]:
        """Chunks of all rows, also of those before the position: they are to be compared."""
        names = list(columns.read)
        for name in columns.extra:
            self._require_text(name)
        most = _most_rows(names)
        for first, batch in self._file.read(names):
            for start in range(0, len(batch), most):
                yield self._chunk(batch.slice(start, most), first + start, columns)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _require_text(self, name: str) -> None:
        """Raise TableError if the cells of a column cannot be written as text."""
        kind = self._file.schema.field(name).type
        try:
            pa.nulls(0, kind).cast(pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise TableError(
                f"{self._path!r}: the cells of column {name!r} ({kind}) cannot be read as text: "
                "choose another column for --keep and --label."
            ) from None

    def _chunk(self, batch: pa.RecordBatch, first: int, columns: Columns) -> Chunk:
        table = pa.Table.from_batches([batch])
        row = np.arange(first, first + len(table))
        values, bad = as_floats(batch, columns.features), list[BadRow]()
        if values is None:
            values, good, bad = parse_cells(table, columns.features, row)
            table, row = table.filter(pa.array(good)), row[good]
        extra = table.select(list(columns.extra))
        if columns.extra:
            extra = extra.cast(pa.schema([(name, pa.string()) for name in columns.extra]))
        end = first + len(batch)
        chunk = Chunk(values, row, extra, bad, 0, 0, end, self._file.consumed(end), "")
        return with_times(chunk, table, columns)


def _most_rows(columns: list[str]) -> int:
    """Rows of these columns to be read at a time."""
    return max(1, _MOST_CELLS // len(columns))


def as_floats(batch: pa.RecordBatch, features: Sequence[str]) -> Floats | None:
    """The features (n, d); None if a cell is not a finite number."""
    values = np.empty((len(batch), len(features)))
    for i, name in enumerate(features):
        column = batch.column(name)
        # A cast takes longer than all else of a small table, also one that changes nothing.
        if column.type != _FLOAT64:
            if not _is_number(column.type):
                return None
            column = pc.cast(column, _FLOAT64, safe=False)
        if column.null_count:
            return None
        values[:, i] = column.to_numpy()
    return values if np.isfinite(values).all() else None


@contextmanager
def _sound(path: str, place: str) -> Iterator[None]:
    """Raise TableError, with file and place, if what is read there is damaged."""
    try:
        yield
    except (pa.ArrowException, OSError, MemoryError, ValueError) as error:
        raise TableError(f"{path!r} is damaged in {place}: {sentence_of(error)}") from error


def _is_number(kind: pa.DataType) -> bool:
    return any(
        check(kind) for check in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    )


class ParquetBatches:
    """Record batches of a Parquet file."""

    def __init__(self, path: str) -> None:
        if path == STDIN:
            raise TableError("Parquet cannot be read from standard input: name the file.")
        try:
            self._file = pq.ParquetFile(path, memory_map=False, pre_buffer=False, buffer_size=65536)
        except pa.ArrowInvalid as error:
            raise TableError(f"{path!r} is no Parquet file: {sentence_of(error)}") from None
        self.schema = self._file.schema_arrow
        self._path, self._bytes = path, os.path.getsize(path)

    def read(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns, each with the number of its first row."""
        first, most = 0, _most_rows(columns)
        batches = self._file.iter_batches(most, columns=columns, use_threads=False)
        while True:
            with _sound(self._path, f"the rows from {first + 1} on"):
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)
            yield first, batch
            first += len(batch)

    def consumed(self, row: int) -> int:
        """Bytes of the file up to a row, if all rows are of the same size."""
        return self._bytes * row // max(int(self._file.metadata.num_rows), 1)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ArrowBatches:
    """Record batches of an Arrow IPC file or stream, which may be a pipe or compressed."""

    def __init__(self, text: TextFile) -> None:
        self._text = text
        start = text.read_fully(len(_MAGIC))
        if start != _MAGIC:
            text.put_back(start)
        source = text.whole()
        if source is None:
            source = pa.PythonFile(_Decompressed(text), mode="r")
        try:
            self._reader = pa.ipc.open_stream(source)
        except (pa.ArrowInvalid, EOFError):
            raise TableError(f"{text.path!r} is no Arrow IPC file or stream.") from None
        self.schema = self._reader.schema

    def read(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns, each with the number of its first row."""
        first = number = 0
        while True:
            number += 1
            with _sound(self._text.path, f"record batch {number}"):
                batch = next(self._reader, None)
                if batch is None:
                    return
                batch = batch.select(columns)
                # PyArrow trusts a file: offsets out of range would be read as they are.
                batch.validate(full=True)
            yield first, batch
            first += len(batch)

    def consumed(self, row: int) -> int:
        """Bytes read so far."""
        return self._text.consumed

    def close(self) -> None:
        """Close the file."""
        self._text.close()


class _Decompressed:
    """The decompressed bytes of a file, as a file for PyArrow."""

    closed = False

    def __init__(self, text: TextFile) -> None:
        self._text = text

    def read(self, size: int = -1) -> bytes:
        return self._text.read_fully(size if size > 0 else 1_000_000)
