"""Bodies of requests as tables: NDJSON, JSON, CSV and Arrow, by their content type."""

import io
import json
import zlib
from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spclust.array_types import Floats
from spclust.live.posts.arrow_body import require_simple, require_small
from spclust.tables.chunks import BadRow, Chunk, Columns, Position
from spclust.tables.columnar_reader import ColumnarReader
from spclust.tables.formats import Format, ReadOptions
from spclust.tables.ndjson_reader import NdjsonReader
from spclust.tables.readers import (
    Reader,
    choose_columns,
    extra_columns,
    named_errors,
    open_reader,
    require_columns,
    split_names,
)

NAME = "the posted table"
TYPES = {
    "application/x-ndjson": Format.NDJSON,
    "application/jsonl": Format.NDJSON,
    "application/json": Format.NDJSON,
    "text/csv": Format.CSV,
    "text/tab-separated-values": Format.TSV,
    "application/vnd.apache.arrow.stream": Format.ARROW,
    "application/vnd.apache.arrow.file": Format.ARROW,
}


MOST_COLUMNS = 10_000
MOST_BAD_ROWS = 10_000  # of one body, if they are left out
MOST_JSON = 8_000_000  # bytes of an array of JSON, which is parsed at once, and of one line
_SPACE = b" \t\r\n\xef\xbb\xbf"


class BodyError(Exception):
    """Why a body is refused: one sentence, and a status of HTTP."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Table(NamedTuple):
    """The rows of a body."""

    values: Floats  # (n, d), or (n, d + 1) with their times as the last column
    extra: pa.Table  # other columns, n rows
    bad: list[BadRow]


def format_of_type(content_type: str) -> Format:
    """The format of a content type; BodyError if it is none of those that can be read."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in TYPES:
        raise BodyError(
            415, f"Content-Type {kind!r} cannot be read: post {', '.join(sorted(TYPES))}."
        )
    return TYPES[kind]


def decompressed(body: bytes, encoding: str, most: int) -> bytes:
    """A body without its content encoding; BodyError if it then has more bytes than `most`."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise BodyError(415, f"Content-Encoding {encoding!r} cannot be read: post gzip, or plain.")
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        data = inflater.decompress(body, most + 1)
    except zlib.error as error:
        raise BodyError(400, f"The body is no gzip: {error}.") from None
    if len(data) > most:
        raise BodyError(413, f"The body has more than {most:,} bytes when it is decompressed.")
    if not inflater.eof or inflater.unused_data:
        raise BodyError(400, "The body is a gzip that was cut short, or more than one.")
    return data


def opened(body: bytes, kind: Format, options: ReadOptions, most_rows: int) -> Reader:
    """A reader of a body."""
    if kind is Format.NDJSON:
        body = _lines(body) if body.lstrip(_SPACE)[:1] == b"[" else body
        _require_short_lines(body)
    elif kind is Format.ARROW:
        require_small(body, NAME, most_rows)
    reader = open_reader(
        NAME,
        ReadOptions(kind, options.delimiter, options.decimal, options.header, "utf-8"),
        follow=False,
        stopped=lambda: False,
        content=io.BytesIO(body),
    )
    if kind is not Format.NDJSON:
        _require_few_columns(reader.names)
    return reader


def _lines(body: bytes) -> bytes:
    """An array of JSON objects as lines."""
    if len(body) > MOST_JSON:
        raise BodyError(
            413, f"A JSON array has at most {MOST_JSON:,} bytes: post NDJSON, a line for each row."
        )
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError):
        raise BodyError(400, "The body is no JSON: post an array of objects.") from None
    return b"\n".join(json.dumps(row).encode() for row in rows)


def _require_short_lines(body: bytes) -> None:
    """Raise BodyError if a line is far too long: as objects, JSON needs twenty times its bytes."""
    half = MOST_JSON // 2  # each of which has the end of a line, if no line is longer than two
    for start in range(0, len(body) - half, half):
        if body.find(b"\n", start, start + half) < 0:
            raise BodyError(413, f"A line of the body has more than {half:,} bytes.")


def _require_few_columns(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise BodyError(413, f"The body has {len(names):,} columns: post at most {MOST_COLUMNS:,}.")


def chosen(
    reader: Reader, given: Any, label: str | None, keep: Any, time: str | None
) -> tuple[Columns, tuple[str, ...]]:
    """The columns to learn by, as `spclust cluster` chooses them, and those to keep."""
    _require_few_columns(reader.names)
    kept = split_names(keep, reader.names)
    extra = extra_columns(label, kept)
    return choose_columns(reader, NAME, given, extra, time), kept


def read(reader: Reader, columns: Columns, most_rows: int, *, stops: bool) -> Table:
    """All rows of a reader; BodyError at the first bad row, if it `stops` there."""
    names = columns.read
    # Lines of JSON have no names of their own: a row without a column is a bad row.
    if not isinstance(reader, NdjsonReader) and reader.names:
        require_columns(names, reader, NAME)
    if isinstance(reader, ColumnarReader):
        require_simple(reader.schema, names, NAME)
    chunks, rows, bad = list[Chunk](), 0, list[BadRow]()
    with closing(reader), named_errors(NAME):
        has_rows = isinstance(reader, NdjsonReader) or reader.names
        for chunk in reader.chunks(columns, Position()) if has_rows else ():
            if chunk is None:
                continue
            chunks.append(chunk)
            rows += len(chunk.values) + len(chunk.bad)
            bad += chunk.bad
            if bad and stops:
                raise BodyError(422, f"{NAME!r}, row {bad[0].row + 1}: {bad[0].why}.")
            if rows > most_rows:
                raise BodyError(413, f"The body has more than {most_rows:,} rows.")
            if len(bad) > MOST_BAD_ROWS:
                raise BodyError(422, f"The body has more than {MOST_BAD_ROWS:,} bad rows.")
    if not rows:
        raise BodyError(400, "The body has no rows.")
    values = [
        chunk.values if chunk.time is None else np.column_stack([chunk.values, chunk.time])
        for chunk in chunks
    ]
    return Table(
        np.concatenate(values) if len(values) > 1 else values[0],
        pa.concat_tables([chunk.extra for chunk in chunks]),
        bad,
    )
