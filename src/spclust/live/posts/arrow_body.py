"""Checks of a posted Arrow stream before it is read: small bodies could stand for huge tables.

Buffers may be compressed, columns of nulls have no buffers at all, dictionaries have one text for
many cells, and lists share their elements. None of that costs bytes in a body.
"""

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from spclust.array_types import Floats
from spclust.tables.columnar_reader import as_floats
from spclust.tables.table_error import TableError

MOST_REPEATED = 256_000_000  # bytes of dictionaries, times rows
_MAGIC = b"ARROW1\0\0"  # an IPC file is these bytes, a stream, and a footer
_SIMPLE = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_temporal),
    pa.types.is_null,
)
# Places of fields in tables of the format, as its file Message.fbs has them.
_HEADER, _DICTIONARY_DATA, _LENGTH, _COMPRESSION = 2, 1, 0, 3


def plain_numbers(body: bytes, features: Sequence[str], most_rows: int) -> Floats | None:
    """The features (n, d) of an Arrow stream of one batch, if all their cells are finite numbers.

    This is what programs post over and over: it takes a quarter of the time of a reader of files.
    None for all else, which such a reader reads, or refuses.
    """
    buffer = pa.py_buffer(body)
    try:
        _, *batches = pa.ipc.MessageReader.open_stream(buffer)
        if len(batches) != 1 or batches[0].type != "record batch":
            return None
        if _Fields(batches[0].metadata.to_pybytes()).table(_HEADER).place(_COMPRESSION):
            return None
        # By the reader of streams, which checks what the functions for single messages trust.
        reader = pa.ipc.open_stream(buffer)
        if len(set(reader.schema.names)) < len(reader.schema.names):
            return None
        batch = reader.read_next_batch().select(features)
        batch.validate(full=True)
    except (pa.ArrowException, EOFError, OSError, KeyError, ValueError, struct.error):
        return None
    return as_floats(batch, features) if 0 < len(batch) <= most_rows else None


def require_small(body: bytes, name: str, most_rows: int) -> None:
    """Raise TableError if an Arrow stream stands for far more memory than it has bytes."""
    start = len(_MAGIC) if body.startswith(_MAGIC) else 0
    rows = dictionaries = 0
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)[start:]):
            if message.type not in ("record batch", "dictionary"):
                continue
            batch = _Fields(message.metadata.to_pybytes()).table(_HEADER)
            if message.type == "dictionary":
                batch = batch.table(_DICTIONARY_DATA)
                dictionaries += len(message.body)
            else:
                rows += batch.integer(_LENGTH)
            if batch.place(_COMPRESSION):
                raise TableError(
                    f"{name!r} has compressed buffers: post it without, or with Content-Encoding: "
                    "gzip."
                )
    except (pa.ArrowException, EOFError, OSError, struct.error):
        pass  # it is no Arrow, or damaged: the reader says where
    if rows > most_rows:
        raise TableError(f"{name!r} has {rows:,} rows: post at most {most_rows:,}.")
    if rows * dictionaries > MOST_REPEATED:
        raise TableError(f"{name!r} has large dictionaries: post columns of text as they are.")


def require_simple(schema: Any, names: Sequence[str], name: str) -> None:
    """Raise TableError if the cells of a column that is read are not simple."""
    for column in names:
        kind = schema.field(column).type
        cell = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_kind(cell) for is_kind in _SIMPLE):
            raise TableError(
                f"{name!r}: column {column!r} is of type {kind}: post numbers, or text as string."
            )


class _Fields:
    """A table of FlatBuffers, the format of Arrow's metadata, which PyArrow has verified."""

    def __init__(self, data: bytes, at: int | None = None) -> None:
        self._data = data
        self._at = self._number("<I", 0) if at is None else at
        self._fields = self._at - self._number("<i", self._at)

    def _number(self, kind: str, at: int) -> int:
        return int(struct.unpack_from(kind, self._data, at)[0])

    def place(self, field: int) -> int:
        """Where a field is; 0 if it is not there."""
        at = 4 + 2 * field
        if at >= self._number("<H", self._fields):
            return 0
        offset = self._number("<H", self._fields + at)
        return self._at + offset if offset else 0

    def table(self, field: int) -> "_Fields":
        """The table that a field is."""
        at = self.place(field)
        return _Fields(self._data, at + self._number("<I", at))

    def integer(self, field: int) -> int:
        """The number of 64 bits that a field is."""
        at = self.place(field)
        return self._number("<q", at) if at else 0
