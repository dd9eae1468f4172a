"""Files that grow batch by batch: labels in any format, events and bad rows as NDJSON.

All but Parquet and Arrow files can be cut back to a length that they once had, and be continued.
"""

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from spclust.cli.exit_codes import CommandError
from spclust.persistence.atomic_file import AnyPath
from spclust.tables.formats import Format, codec_of, ending_of, format_of

STDOUT = "-"
_ROWS_OF_A_GROUP = 100_000  # of Parquet: many small ones would be slow to read


class Growing:
    """Bytes appended to a file, or to standard output."""

    def __init__(self, path: AnyPath, keep: int | None = None) -> None:
        """Begin a file, or go on after the first `keep` bytes of it."""
        self.path = str(path)
        self._file: IO[bytes]
        if self.path == STDOUT:
            self._file, self.length = sys.stdout.buffer, 0
            return
        if keep is not None and (
            not os.path.isfile(self.path) or os.path.getsize(self.path) < keep
        ):
            raise CommandError(
                f"{self.path!r} is shorter than when the checkpoint was made, {keep} bytes: it was "
                "changed. Remove the checkpoint to start anew."
            )
        self._file = open(self.path, "wb" if keep is None else "r+b", buffering=0)  # noqa: SIM115
        if keep is not None:
            self._file.truncate(keep)
            self._file.seek(keep)
        self.length = keep or 0

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
        self.length += len(data)

    def settle(self) -> int:
        """Let what was written be on the disk; how much it is."""
        if self.path != STDOUT:
            os.fsync(self._file.fileno())
        return self.length

    def close(self) -> None:
        """Close it."""
        if self.path != STDOUT:
            self._file.close()


class Records(Growing):
    """NDJSON."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Append an object."""
        self.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


class TableFile(Protocol):
    """A table that grows."""

    def add(self, table: pa.Table) -> None:
        """Append rows."""
        ...

    def settle(self) -> int:
        """Let what was written be on the disk; how many bytes."""
        ...

    def close(self) -> None:
        """End it."""
        ...


def refuse_targets(targets: Iterable[AnyPath | None], inputs: list[str]) -> None:
    """Raise CommandError if a file could not be written, or would take the place of an input.

    Better before a long run than after it.
    """
    for target in map(str, filter(None, targets)):
        if target == STDOUT:
            continue
        folder = os.path.dirname(target) or "."
        if not os.path.isdir(folder):
            raise CommandError(f"{target!r} cannot be written: there is no folder {folder!r}.")
        if os.path.isdir(target):
            raise CommandError(f"{target!r} cannot be written: it is a folder.")
        for name in inputs:
            both = os.path.exists(target) and os.path.exists(name)
            if both and os.path.samefile(target, name):
                raise CommandError(f"{target!r} is an input: name another file to write to.")


def refuse_uncuttable(path: str, given: Format | None) -> None:
    """Raise CommandError if a file could not be cut back to a checkpoint."""
    if path == STDOUT:
        raise CommandError(
            "What went to standard output cannot be taken back after a crash: with --checkpoint "
            "write labels to a file."
        )
    if format_of(path, given) is Format.PARQUET or (
        format_of(path, given) is Format.ARROW and ending_of(path) != ".arrows"
    ):
        raise CommandError(
            f"{path!r} is of a format that cannot be cut back to a checkpoint: write labels as "
            ".csv, .tsv, .ndjson (also .gz, .zst, .lz4) or as a stream of Arrow, .arrows."
        )


def open_table(path: str, given: Format | None, keep: int | None) -> TableFile:
    """A file for tables, by its format; after the first `keep` bytes of it, if they are given."""
    kind = format_of(path, given)
    if kind is Format.PARQUET or (kind is Format.ARROW and ending_of(path) != ".arrows"):
        if path == STDOUT and kind is Format.ARROW:
            return AppendedTable(Growing(path), kind, None)
        return _WholeTable(path, kind)
    return AppendedTable(Growing(path, keep), kind, codec_of(path))


class AppendedTable:
    """A table whose batches are bytes, one after the other, each compressed by itself."""

    def __init__(self, file: Growing, kind: Format, codec: str | None) -> None:
        if codec == "bz2":
            raise CommandError(f"{file.path!r}: labels can be compressed as .gz, .zst or .lz4.")
        self._file, self._kind = file, kind
        self._codec = None if codec is None else pa.Codec(codec)

    def add(self, table: pa.Table) -> None:
        """Append rows, after a header if they are the first."""
        data = _encoded(table, self._kind, first=self._file.length == 0)
        if self._codec is not None:
            data = self._codec.compress(data, asbytes=True)
        self._file.write(data)

    def settle(self) -> int:
        """Let what was written be on the disk; how many bytes."""
        return self._file.settle()

    def close(self) -> None:
        """End it."""
        self._file.close()  # a stream of Arrow may end without a word


def _encoded(table: pa.Table, kind: Format, *, first: bool) -> bytes:
    if kind is Format.ARROW:
        parts = [batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()]
        return b"".join([table.schema.serialize().to_pybytes() if first else b"", *parts])
    if kind is Format.NDJSON:
        rows = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
        return "".join(f"{row}\n" for row in rows).encode()
    sink, header = pa.BufferOutputStream(), io.StringIO()
    delimiter = "\t" if kind is Format.TSV else ","
    if first:  # by Python, which quotes no name that does not need it
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    pacsv.write_csv(table, sink, pacsv.WriteOptions(include_header=False, delimiter=delimiter))
    return b"".join([header.getvalue().encode(), sink.getvalue()])


class _WholeTable:
    """A Parquet or Arrow file, which is readable once it is closed."""

    def __init__(self, path: str, kind: Format) -> None:
        if path == STDOUT:
            raise CommandError("Parquet cannot be written to standard output: name a file.")
        self._path, self._kind = path, kind
        self._writer: Any = None
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def add(self, table: pa.Table) -> None:
        """Append rows."""
        self._waiting.append(table)
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

    def settle(self) -> int:
        """It cannot be cut back: there is no such length."""
        return 0

    def close(self) -> None:
        """End it."""
        self._flush()
        if self._writer is not None:
            self._writer.close()
