"""What is posted as rows: the body of a request is read, checked, and becomes numbers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from starlette.requests import Request

from spclust.array_types import Floats
from spclust.live.posts.arrow_body import plain_numbers
from spclust.live.posts.bodies import (
    NAME,
    BodyError,
    Table,
    chosen,
    decompressed,
    opened,
    read,
)
from spclust.live.posts.intake import Intake
from spclust.live.posts.journal import Posted
from spclust.tables.chunks import BadRow, Columns
from spclust.tables.formats import Format, ReadOptions

AT_ONCE = 4  # longest bodies that may be in memory at the same time
_SECONDS, _BYTES_PER_SECOND = 10.0, 100_000  # slower bodies are refused


class ServiceOptions(NamedTuple):
    """How posted tables are read, and their limits."""

    columns: list[str] | None = None
    label: str | None = None
    keep: list[str] | None = None
    reading: ReadOptions = ReadOptions()
    stops_at_bad_rows: bool = True
    max_body: int = 64_000_000  # bytes
    max_rows: int = 1_000_000


class Bodies:
    """Reads bodies of requests: not too long ones, not too slow ones, not too many at once."""

    def __init__(self, most: int) -> None:
        """Read bodies of at most so many bytes."""
        self._most, self._held = most, 0

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, decompressed; BodyError if it is refused."""
        most, length = self._most, request.headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise BodyError(413, f"The body has {int(length):,} bytes: post at most {most:,}.")
        data, began = bytearray(), asyncio.get_running_loop().time()
        extended_at = _BYTES_PER_SECOND  # bytes, at which there is more time for the rest
        try:
            try:
                async with asyncio.timeout_at(began + _SECONDS) as limit:
                    async for part in request.stream():
                        data += part
                        self._held += len(part)
                        self._refuse_too_long(len(data))
                        if len(data) >= extended_at:
                            limit.reschedule(began + _SECONDS + len(data) / _BYTES_PER_SECOND)
                            extended_at = len(data) + _BYTES_PER_SECOND
            except TimeoutError:
                raise BodyError(408, "The body comes too slowly.") from None
            encoding = request.headers.get("content-encoding", "")
            yield decompressed(bytes(data), encoding, most)
        finally:
            self._held -= len(data)

    def _refuse_too_long(self, size: int) -> None:
        if size > self._most:
            raise BodyError(413, f"The body has more than {self._most:,} bytes.")
        if self._held > AT_ONCE * self._most:
            raise BodyError(503, "Too much is posted at once: try again in a second.")


def posted_batch(
    body: bytes, kind: Format, key: str, intake: Intake, options: ServiceOptions
) -> tuple[Posted, list[BadRow]]:
    """The rows of a body to be learnt, and those that are left out.

    The first one decides which columns are learnt. BodyError or TableError if it is refused.
    """
    columns = intake.columns
    if kind is Format.ARROW and columns is not None and columns == Columns(columns.features):
        values = plain_numbers(body, columns.features, options.max_rows)
        if values is not None:
            return Posted(key, values, b""), []
    while True:
        reader = opened(body, kind, options.reading, options.max_rows)
        columns, keep = intake.columns, intake.keep
        if columns is None:
            given = options.columns, options.label, options.keep, options.reading.time
            columns, keep = chosen(reader, *given)
        table = read(reader, columns, options.max_rows, stops=options.stops_at_bad_rows)
        if columns.time is not None and options.stops_at_bad_rows:
            _require_order(table, columns)
        if intake.begin(columns, keep) == columns:  # another one may have been the first
            return Posted(key, table.values, _extra_columns(table, columns)), table.bad


def _require_order(table: Table, columns: Columns) -> None:
    """Raise BodyError if times, the last column of the values, go backwards."""
    times = table.values[:, -1]
    back = np.flatnonzero(times[1:] < times[:-1])
    if back.size:
        raise BodyError(
            422,
            f"{NAME!r}, row {back[0] + 2}: column {columns.time!r}, of times, goes back: post rows "
            "in order of time.",
        )


def rows_to_score(body: bytes, kind: Format, names: list[str], options: ServiceOptions) -> Floats:
    """The rows of a body, all of them; BodyError or TableError if one is bad."""
    reader = opened(body, kind, options.reading, options.max_rows)
    return read(reader, Columns(tuple(names)), options.max_rows, stops=True).values


def _extra_columns(table: Table, columns: Columns) -> bytes:
    """Columns to be kept as an Arrow stream."""
    if not columns.extra:
        return b""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.extra.schema) as stream:
        stream.write_table(table.extra)
    data: bytes = sink.getvalue().to_pybytes()
    return data
