"""Parquet and Arrow IPC: columns that come with their types, read some rows at a time."""

import hashlib
import os
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spclust.cli.exit_codes import CommandError
from spclust.tables.cells import examined, is_clean, matrix
from spclust.tables.chunks import BadRow, Piece, Position, Wanted
from spclust.tables.inputs import STDIN
from spclust.tables.text_file import IS_ANOTHER, TextFile

_MOST_CELLS = 50_000  # read at a time, so that memory stays flat however wide a table is
_MOST_ROWS = 50_000
_MAGIC = b"ARROW1\0\0"  # an IPC file is a stream between these bytes and a table of contents


class _Batches(Protocol):
    """A file of record batches."""

    schema: pa.Schema

    def read(self, columns: list[str], since: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns from about a row on, each with the number of its first row."""
        ...

    def consumed(self, row: int) -> int:
        """Bytes read when so many rows were."""
        ...

    def identity(self) -> str:
        """What tells it from another file."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


class Columnar:
    """A file of typed columns."""

    def __init__(self, path: str, file: _Batches) -> None:
        self._path, self._file = path, file
        self.names = list(file.schema.names)

    def numeric(self) -> list[str]:
        """Columns that hold numbers, by their type."""
        return [field.name for field in self._file.schema if _is_number(field.type)]

    def pieces(self, wanted: Wanted, since: Position | None) -> Iterator[Piece | None]:
        """The rows, from a position on."""
        columns = list(dict.fromkeys((*wanted.features, *wanted.extra)))
        identity = hashlib.sha256(self._file.identity().encode()).hexdigest()[:32]
        if since and since.identity and since.identity != identity:
            raise CommandError(f"{self._path!r} {IS_ANOTHER}")
        most = min(_MOST_ROWS, max(1, _MOST_CELLS // len(columns)))
        for first, batch in self._file.read(columns, since.row if since else 0):
            for start in range(0, len(batch), most):
                yield self._piece(batch.slice(start, most), first + start, wanted, identity)

    def close(self) -> None:
        """Read no more."""
        self._file.close()

    def _piece(self, batch: pa.RecordBatch, first: int, wanted: Wanted, identity: str) -> Piece:
        table = pa.table(batch)
        row = np.arange(first, first + len(table))
        numbers = _as_floats(table, wanted.features)
        if numbers is not None and is_clean(numbers, wanted.features):
            values, good = matrix(numbers, wanted.features), np.ones(len(row), bool)
            bad: list[BadRow] = []
        else:
            values, good, bad = examined(table, wanted.features, row)
        extra = table.select(list(wanted.extra)).filter(pa.array(good))
        extra = extra.cast(pa.schema([(name, pa.string()) for name in wanted.extra]))
        end = first + len(row)
        return Piece(values, row[good], extra, bad, 0, 0, end, self._file.consumed(end), identity)


def _as_floats(table: pa.Table, features: tuple[str, ...]) -> pa.Table | None:
    """The features as float64, if they are numbers."""
    if not all(_is_number(table.schema.field(name).type) for name in features):
        return None
    return pa.table({name: pc.cast(table[name], pa.float64(), safe=False) for name in features})


def _is_number(kind: pa.DataType) -> bool:
    return any(
        check(kind) for check in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    )


class ParquetRows:
    """A Parquet file: row groups that are known before they are read."""

    def __init__(self, path: str) -> None:
        if path == STDIN:
            raise CommandError("Parquet cannot be read from standard input: name the file.")
        try:
            self._file = pq.ParquetFile(path, memory_map=False, pre_buffer=False, buffer_size=65536)
        except pa.ArrowInvalid as error:
            raise CommandError(f"{path!r} is no Parquet file: {error}.") from None
        self.schema = self._file.schema_arrow
        self._path, self._bytes = path, os.path.getsize(path)

    def read(self, columns: list[str], since: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns from about a row on, each with the number of its first row."""
        metadata, first, groups = self._file.metadata, 0, []
        row = 0
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            if row + rows <= since:
                first = row + rows
            else:
                groups.append(group)
            row += rows
        if row < since:
            raise CommandError(f"{self._path!r} {IS_ANOTHER}")
        size = min(_MOST_ROWS, max(1, _MOST_CELLS // len(columns)))
        if not groups:
            return
        for batch in self._file.iter_batches(size, groups, columns, use_threads=False):
            yield first, batch
            first += len(batch)

    def consumed(self, row: int) -> int:
        """Bytes of the file, if all rows take as many."""
        return self._bytes * row // max(int(self._file.metadata.num_rows), 1)

    def identity(self) -> str:
        """The columns, and what is known of the first row group: its smallest values and so on."""
        metadata = self._file.metadata
        first = metadata.row_group(0).to_dict() if metadata.num_row_groups else ""
        return f"{self.schema.remove_metadata()} {first}"

    def close(self) -> None:
        """Read no more."""
        self._file.close()


class ArrowRows:
    """Arrow IPC: a file, or a stream, which may come from a pipe or be compressed."""

    def __init__(self, text: TextFile) -> None:
        self._text = text
        start = text.read_fully(len(_MAGIC))
        if start != _MAGIC:
            text.put_back(start)
        try:
            self._reader = pa.ipc.open_stream(pa.PythonFile(_Bytes(text), mode="r"))
        except (pa.ArrowInvalid, EOFError):
            raise CommandError(f"{text.path!r} is no Arrow IPC file or stream.") from None
        self.schema = self._reader.schema

    def read(self, columns: list[str], since: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these columns from about a row on, each with the number of its first row."""
        first = 0
        for batch in self._reader:
            if first + len(batch) > since:
                yield first, batch.select(columns)
            first += len(batch)

    def consumed(self, row: int) -> int:
        """Bytes read so far."""
        return self._text.consumed

    def identity(self) -> str:
        """The columns: there is no more to know before it is read."""
        return str(self.schema.remove_metadata())

    def close(self) -> None:
        """Read no more."""
        self._text.close()


class _Bytes:
    """A text file's bytes, whatever they are, as the file that PyArrow reads."""

    closed = False

    def __init__(self, text: TextFile) -> None:
        self._text = text

    def read(self, size: int = -1) -> bytes:
        return self._text.read_fully(size if size > 0 else 1_000_000)
