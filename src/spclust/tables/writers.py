"""Writers, batch by batch: tables in any format, and records as NDJSON.

All files but those of Parquet and Arrow can be truncated to an earlier length and continued.
"""

import csv
import io
import json
import os
import sys
import zlib
from collections.abc import Mapping
from typing import IO, Any, NamedTuple, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from spclust.tables.columns.json_cells import as_records, as_text
from spclust.tables.formats import Format, codec_of, ending_of, format_of
from spclust.tables.table_error import TableError

AnyPath: TypeAlias = str | os.PathLike[str]

STDOUT = "-"
_ROWS_OF_A_GROUP = 100_000  # of Parquet: many small groups would be slow to read


class Written(NamedTuple):
    """The beginning of a file as a run has written it."""

    length: int = 0  # bytes
    digest: str = ""  # of these bytes; "" if none is computed


class AppendFile:
    """A file, or standard output, that bytes are appended to."""

    def __init__(
        self, path: AnyPath, keep: Written | None = None, *, digests: bool = False
    ) -> None:
        """Start a file, or truncate it to what it had and go on there.

        TableError if what is to be kept was changed. `digests`: compute one of all that is written.
        """
        self.path = str(path)
        self.length = 0
        self._file: IO[bytes]
        self._digest = 0 if digests else None  # CRC-32
        self._is_stdout = self.path == STDOUT
        # Devices and pipes take everything, and nothing can be taken back from them.
        self._is_regular = not self._is_stdout and is_regular(self.path)
        if self._is_stdout:
            self._file = sys.stdout.buffer
        elif keep is None or not self._is_regular:
            self._file = open(self.path, "wb", buffering=0)  # noqa: SIM115
        else:
            self._require_unchanged(keep)
            self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115
            self._file.truncate(keep.length)
            self._file.seek(keep.length)

    def _require_unchanged(self, keep: Written) -> None:
        """Read what is to be kept; TableError if it is not what was written."""
        what_to_do = "restore the file, or remove the checkpoint to start anew."
        if not os.path.isfile(self.path):
            raise TableError(
                f"{self.path!r} was removed after the checkpoint was made: {what_to_do}"
            )
        with open(self.path, "rb") as file:
            while self.length < keep.length and (
                data := file.read(min(keep.length - self.length, 1_000_000))
            ):
                self._count(data)
        if self.length < keep.length or (keep.digest and self.state() != keep):
            raise TableError(
                f"{self.path!r} was changed after the checkpoint was made, in its first "
                f"{keep.length} bytes: {what_to_do}"
            )

    def _count(self, data: bytes) -> None:
        self.length += len(data)
        if self._digest is not None:
            self._digest = zlib.crc32(data, self._digest)

    def state(self) -> Written:
        """What was written so far."""
        return Written(self.length, "" if self._digest is None else f"{self._digest:08x}")

    def write(self, data: bytes) -> None:
        """Append bytes; an OSError names the file."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
            self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from None
        self._count(data)

    def sync(self) -> Written:
        """Flush the file to the disk; what was written so far."""
        if self._is_regular:
            os.fsync(self._file.fileno())
        return self.state()

    def close(self) -> None:
        """Close the file."""
        if not self._is_stdout:
            self._file.close()


def is_regular(path: str) -> bool:
    """True for a file, or one that is not there yet; False for a device or a pipe."""
    return os.path.isfile(path) or not os.path.exists(path)


class RecordWriter(AppendFile):
    """Writer of NDJSON, one record per line."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record."""
        self.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


class TableWriter(Protocol):
    """Writer of a table."""

    def add(self, table: pa.Table) -> None:
        """Append rows."""
        ...

    def sync(self) -> Written:
        """Flush the file to the disk; what was written so far."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def open_writer(
    path: str,
    given: Format | None = None,
    keep: Written | None = None,
    *,
    digests: bool = False,
    option: str = "--out-format",
) -> TableWriter:
    """Writer of a file by its format; it goes on after what is to be kept, if given.

    `option` is the one that gives the format, if there is one.
    """
    kind = format_of(path, given, option)
    if kind is Format.PARQUET or (kind is Format.ARROW and ending_of(path) != ".arrows"):
        if path == STDOUT and kind is Format.ARROW:
            return _AppendingWriter(AppendFile(path), kind, None)
        return _FooterWriter(path, kind)
    codec = codec_of(path)
    if codec == "bz2":  # refused before the file is opened, and thereby truncated
        raise TableError(f"{path!r}: labels can be compressed as .gz, .zst or .lz4.")
    return _AppendingWriter(AppendFile(path, keep, digests=digests), kind, codec)


class _AppendingWriter:
    """Writer of batches as bytes, one after the other, each compressed by itself."""

    def __init__(self, file: AppendFile, kind: Format, codec: str | None) -> None:
        self._file, self._kind = file, kind
        self._codec = None if codec is None else pa.Codec(codec)

    def add(self, table: pa.Table) -> None:
        """Append rows, with a header before the first ones."""
        data = encoded(table, self._kind, first=self._file.length == 0)
        if self._codec is not None:
            data = self._codec.compress(data, asbytes=True)
        self._file.write(data)

    def sync(self) -> Written:
        """Flush the file to the disk; what was written so far."""
        return self._file.sync()

    def close(self) -> None:
        """Finish the file."""
        self._file.close()  # the end marker of an Arrow stream is optional


def encoded(table: pa.Table, kind: Format, *, first: bool) -> bytes:
    """Rows in a format, with a header if they are the first ones."""
    if kind is not Format.NDJSON:
        table = as_text(table)
    if kind is Format.ARROW:
        # Serialised slices are padded with what follows them. Nothing follows in a copy, which
        # `combine_chunks` makes if there are two chunks: the bytes depend on the rows only.
        copied = pa.concat_tables([table, table.slice(0, 0)]).combine_chunks()
        parts = [batch.serialize().to_pybytes() for batch in copied.to_batches()]
        return b"".join([table.schema.serialize().to_pybytes() if first else b"", *parts])
    if kind is Format.NDJSON:
        rows = (json.dumps(row, ensure_ascii=False) for row in as_records(table))
        return "".join(f"{row}\n" for row in rows).encode()
    sink, header = pa.BufferOutputStream(), io.StringIO()
    delimiter = "\t" if kind is Format.TSV else ","
    if first:  # by Python, which quotes only those names that need it
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    pacsv.write_csv(table, sink, pacsv.WriteOptions(include_header=False, delimiter=delimiter))
    return b"".join([header.getvalue().encode(), sink.getvalue()])


class _FooterWriter:
    """Writer of a Parquet or Arrow file, which has a footer and is readable once it is closed."""

    def __init__(self, path: str, kind: Format) -> None:
        if path == STDOUT:
            raise TableError("Parquet cannot be written to standard output: name a file.")
        self._path, self._kind = path, kind
        self._writer: Any = None
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def add(self, table: pa.Table) -> None:
        """Append rows."""
        self._waiting.append(as_text(table))
        self._rows += len(table)
        if self._rows >= _ROWS_OF_A_GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        table = pa.concat_tables(self._waiting).combine_chunks()
        if self._writer is None:
            make = pq.ParquetWriter if self._kind is Format.PARQUET else pa.ipc.new_file
            self._writer = make(self._path, table.schema)
        self._writer.write_table(table)
        self._waiting, self._rows = [], 0

    def sync(self) -> Written:
        """Nothing: such a file cannot be truncated."""
        return Written()

    def close(self) -> None:
        """Finish the file."""
        self._flush()
        if self._writer is not None:
            self._writer.close()
