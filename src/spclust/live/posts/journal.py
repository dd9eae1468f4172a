"""The journal of posted batches: on the disk, whole or not at all, before they are acknowledged.

A journal is a folder of segments. Each begins with a header, a line of JSON: names of the columns,
rows before it, and the keys of the last batches. Entries follow, one for each batch: lengths, a
checksum, its key, its rows as numbers, and other columns as an Arrow stream. An entry at the end
that is not whole was never acknowledged: it is cut off. Segments that checkpoints need no more are
removed.
"""

import json
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats
from spclust.tables.chunks import Columns, Position

MOST_KEYS = 10_000  # of batches, which are remembered
_SEGMENT = 32_000_000  # bytes after which a new segment is begun
_ENTRY = struct.Struct("<IIHII")  # length and checksum of what follows; of key, rows, extra columns
_SUFFIX = ".posted"


class Posted(NamedTuple):
    """A batch that was posted."""

    key: str  # "" if it has none
    values: Floats  # (n, d), or (n, d + 1) with their times as the last column
    extra: bytes  # other columns, as an Arrow stream; b"" if there are none


class JournalError(ValueError):
    """Why a journal cannot be read: one sentence."""


class Journal:
    """Segments in a folder, to the last of which batches are appended."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()  # of the file that is written
        self.columns: Columns | None = None
        self._keys: dict[str, int] = {}  # with the number of rows
        self._file: Any = None
        self._number, self._before, self._rows, self._offset = 0, 0, 0, 0
        self.cut_off = 0  # bytes of a batch that was not acknowledged
        numbers = self._segments()
        for before, number in pairwise(numbers):
            if number != before + 1:
                raise self._damaged(before + 1)
        for number in numbers:
            self._recover(number, last=number == numbers[-1])
        self._recovered = (self._number, self._offset)  # where the batches of before end

    def _segments(self) -> list[int]:
        stems = (path.stem for path in self._folder.glob(f"*{_SUFFIX}"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:010}{_SUFFIX}"

    def _damaged(self, number: int) -> JournalError:
        path = str(self._path(number))
        return JournalError(f"{path!r} is damaged or missing: take another copy of it.")

    def _recover(self, number: int, *, last: bool) -> None:
        """Learn the columns and keys of a segment, and where it ends.

        Of the last one, what is not whole is left out; it is cut off before more is written.
        """
        path = self._path(number)
        with open(path, "rb") as file:
            header = _header(path, file)
            if header is None:
                file.seek(0)
                if not last or b"\n" in file.read():
                    raise self._damaged(number)
                path.unlink()  # it was just begun
                return
            self.columns = Columns(
                tuple(header["features"]),
                tuple(header["extra"]),
                header.get("time"),
                dated=bool(header.get("dated")),
            )
            self._keys.update({key: int(rows) for key, rows in header["keys"]})
            self._number, self._before = number, int(header["rows_before"])
            self._rows, self._offset = 0, file.tell()
            width = _width(self.columns)
            while (posted := _next_entry(file, width)) is not None:
                self._remember(posted.key, len(posted.values))
                self._rows += len(posted.values)
                self._offset = file.tell()
            self.cut_off = os.fstat(file.fileno()).st_size - self._offset
        if self.cut_off and not last:
            raise self._damaged(number)

    def begin(self, columns: Columns) -> None:
        """Use these columns, if there is no segment yet."""
        if self.columns is None:
            self.columns = columns

    def rows_of(self, key: str) -> int | None:
        """Rows of the batch that has a key; None if there is none."""
        return self._keys.get(key) if key else None

    def _remember(self, key: str, rows: int) -> None:
        if key:
            self._keys[key] = rows
            while len(self._keys) > MOST_KEYS:
                del self._keys[next(iter(self._keys))]

    def append(self, batches: list[Posted]) -> list[Position]:
        """Write batches to the disk; return the positions after them.

        If that fails, none of them is in the journal.
        """
        with self._lock:
            return self._append(batches)

    def _append(self, batches: list[Posted]) -> list[Position]:
        if self._file is None:
            self._open()
        ends, rows, data = [], self._rows, bytearray()
        for each in batches:
            data += _as_bytes(each)
            rows += len(each.values)
            ends.append(Position(self._number, self._before, rows, self._offset + len(data), rows))
        try:
            _write(self._file, data)
        except OSError:
            with suppress(OSError):  # if this fails, too, it is done before more is written
                self._file.truncate(self._offset)
            self._file.close()
            self._file = None
            raise
        for each in batches:
            self._remember(each.key, len(each.values))
        self._rows, self._offset = rows, self._offset + len(data)
        return ends

    def _open(self) -> None:
        """Open the last segment, or the first one."""
        if self._number == 0:
            self._begin_segment()
        else:
            file = open(self._path(self._number), "ab", buffering=0)  # noqa: SIM115
            try:
                file.truncate(self._offset)
            except OSError:
                file.close()
                raise
            self._file = file

    def _begin_segment(self) -> None:
        """Begin the next segment; if that fails, batches are appended to this one."""
        assert self.columns is not None
        number, before = self._number + 1, self._before + self._rows
        header = {
            "features": self.columns.features,
            "extra": self.columns.extra,
            "rows_before": before,
            "keys": list(self._keys.items()),
        }
        if self.columns.time is not None:
            header |= {"time": self.columns.time, "dated": self.columns.dated}
        line = json.dumps(header).encode() + b"\n"
        data = b"%08x " % zlib.crc32(line) + line
        file = open(self._path(number), "wb", buffering=0)  # noqa: SIM115
        try:
            _write(file, data)
            _sync_folder(self._folder)
        except OSError:
            file.close()
            self._path(number).unlink(missing_ok=True)
            raise
        if self._file is not None:
            self._file.close()
        self._file = file
        self._number, self._before, self._rows, self._offset = number, before, 0, len(data)

    def renew(self, needed: Position) -> None:
        """Begin a new segment if this one is long, and remove those before a position."""
        with self._lock:
            if self._file is not None and self._offset > _SEGMENT:
                self._begin_segment()
        for number in self._segments():
            if number < min(needed.file, self._number):
                self._path(number).unlink()

    def recovered(self, since: Position) -> Iterator[tuple[Posted, Position]]:
        """Batches of before from a position on, with the positions after them.

        Those that are appended to the journal since it was opened are not among them. JournalError
        if the journal does not reach from that position to its end.
        """
        (last, end), numbers = self._recovered, self._segments()
        if (since.file, since.offset) > (last, end) or (last and max(since.file, 1) < numbers[0]):
            raise JournalError(
                f"The journal {str(self._folder)!r} does not belong to the checkpoint beside it: "
                "take another copy of both, or remove both to start anew."
            )
        for number in [n for n in numbers if since.file <= n <= last]:
            path = self._path(number)
            with open(path, "rb") as file:
                header = _header(path, file)
                if header is None or self.columns is None:
                    raise self._damaged(number)
                rows, before = 0, int(header["rows_before"])
                if number == since.file:
                    file.seek(max(since.offset, file.tell()))
                    rows = since.row
                stop = end if number == last else os.fstat(file.fileno()).st_size
                while file.tell() < stop:
                    posted = _next_entry(file, _width(self.columns))
                    if posted is None:
                        raise self._damaged(number)
                    rows += len(posted.values)
                    yield posted, Position(number, before, rows, file.tell(), rows)

    def close(self) -> None:
        """Close the segment that is written."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _width(columns: Columns) -> int:
    """Numbers of a row: its features, and its time."""
    return len(columns.features) + (columns.time is not None)


def _header(path: Path, file: Any) -> dict[str, Any] | None:
    """The header of a segment; None if it is not whole."""
    line = file.readline()
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    header: dict[str, Any] = json.loads(text)
    return header


def _as_bytes(posted: Posted) -> bytes:
    key, values = posted.key.encode(), np.ascontiguousarray(posted.values, dtype="<f8").tobytes()
    body = b"".join([key, values, posted.extra])
    lengths = (len(key), len(posted.values), len(posted.extra))
    check = zlib.crc32(struct.pack("<HII", *lengths), zlib.crc32(body))
    return _ENTRY.pack(len(body), check, *lengths) + body


def _next_entry(file: Any, width: int) -> Posted | None:
    """The next batch, of rows of `width` numbers; None if there is no whole one."""
    head = file.read(_ENTRY.size)
    if len(head) < _ENTRY.size:
        return None
    length, check, key_length, rows, extra_length = _ENTRY.unpack(head)
    if length != key_length + 8 * rows * width + extra_length:
        return None
    body = file.read(length)
    lengths = struct.pack("<HII", key_length, rows, extra_length)
    if len(body) < length or zlib.crc32(lengths, zlib.crc32(body)) != check:
        return None
    values = np.frombuffer(body, "<f8", rows * width, key_length).reshape(rows, width)
    return Posted(body[:key_length].decode(), values, body[length - extra_length :])


def _write(file: Any, data: bytes | bytearray) -> None:
    """Write all of it to the disk: a full disk may take a part of it first."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make sure that the name of a new file is on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
