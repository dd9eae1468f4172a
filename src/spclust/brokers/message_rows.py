"""Values of messages as rows: JSON, CSV and Arrow, many small messages at once.

What a message becomes does not depend on those beside it: messages are put together only where
that makes no difference.
"""

import io
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from spclust.live.posts.arrow_body import require_simple, require_small
from spclust.tables.cells import is_number
from spclust.tables.chunks import BadRow, Chunk, Columns, Position
from spclust.tables.columnar_reader import ColumnarReader
from spclust.tables.formats import Format, ReadOptions
from spclust.tables.ndjson_reader import NdjsonReader
from spclust.tables.readers import Reader, named_errors, open_reader
from spclust.tables.table_error import TableError

MOST_BYTES = 64_000_000  # of a message
_MOST_JSON = 8_000_000  # bytes of an array of JSON, which takes twenty times that as objects
_MOST_ROWS = 1_000_000  # of a message
_SHOWN = 1000  # bytes of a bad message that are collected
_NAME = "the message"
_ARROW = (b"\xff\xff\xff\xff", b"ARROW1")  # first bytes of a stream, of a file
_LINES = "lines"  # JSON, one object in each line, and nothing else


class Run(NamedTuple):
    """Rows of consecutive messages."""

    counts: list[int]  # rows of each message
    chunks: list[Chunk]  # of all of them; rows are counted from 0


def runs(values: list[bytes], columns: Columns, options: ReadOptions) -> Iterator[Run]:
    """Messages as rows; one that cannot be read is a bad row."""
    if options.format in (None, Format.NDJSON):
        run = _lines(values, columns, options) or _lines(
            [value.strip() for value in values], columns, options
        )
        if run is not None:
            yield run
            return
    start = 0
    kinds = [_kind(value, options) for value in values]
    while start < len(values):
        stop = start + 1
        if kinds[start] == _LINES or kinds[start].startswith("csv"):
            while stop < len(values) and kinds[stop] == kinds[start]:
                stop += 1
        together, kind = values[start:stop], kinds[start]
        run = None
        if kind == _LINES:
            run = _lines([value.strip() for value in together], columns, options)
        elif stop > start + 1:
            run = _csv(together, columns, options)
        if run is not None:
            yield run
        else:
            for value in together:
                yield _single(value, columns, options)
        start = stop


def sample(values: list[bytes], options: ReadOptions) -> Reader | None:
    """A reader of the first messages that have columns; None if there are none."""
    for value in values:
        if _problem(value):
            continue
        kind = _format(value, options)
        if kind is Format.NDJSON:
            value = b"\n".join(
                _as_lines(each)
                for each in values
                if not _problem(each) and _format(each, options) is kind
            )
        try:
            reader = _reader(value, kind, options)
        except TableError:
            continue
        if reader.names:
            return reader
    return None


def _format(value: bytes, options: ReadOptions) -> Format:
    """The format of a message, by its first bytes if none is given."""
    if options.format is not None:
        return options.format
    if value.startswith(_ARROW):
        return Format.ARROW
    return Format.NDJSON if value.lstrip()[:1] in (b"{", b"[") else Format.CSV


def _kind(value: bytes, options: ReadOptions) -> str:
    """What messages that can be put together have in common."""
    kind = _format(value, options)
    if _problem(value) or kind is Format.ARROW:
        return kind
    if kind is Format.NDJSON:
        text = value.strip()
        is_plain = text.count(b"\n") == text.count(b"}\n{") and text[:1] + text[-1:] == b"{}"
        return _LINES if is_plain else kind
    line = value.partition(b"\n")[0].strip()
    cells = line.decode("utf-8", "replace").split(_delimiter(kind, options))
    return f"csv {len(cells)} {line!r}" if _has_header(cells, options) else f"csv {len(cells)}"


def _delimiter(kind: Format, options: ReadOptions) -> str:
    return options.delimiter or ("\t" if kind is Format.TSV else ",")


def _has_header(cells: list[str], options: ReadOptions) -> bool:
    if options.header is not None:
        return options.header
    return not all(is_number(cell.strip().replace(options.decimal, ".")) for cell in cells)


def _problem(value: bytes) -> str:
    """Why a message is not even opened."""
    if len(value) > MOST_BYTES:
        return f"it has {len(value):,} bytes, more than {MOST_BYTES:,}"
    return "" if value.strip() else "it is empty"


def _lines(values: list[bytes], columns: Columns, options: ReadOptions) -> Run | None:
    """Messages of JSON objects, each in one line, read at once; None if they are something else.

    Where each end of a line is between two braces, no object goes on in the next line.
    """
    text = b"\n".join(values)
    ends = text.count(b"\n")
    if len(text) > MOST_BYTES or text[:1] + text[-1:] != b"{}" or text.count(b"}\n{") != ends:
        return None
    counts = [1] * len(values)
    if ends + 1 != len(values):
        counts = [value.count(b"\n") + 1 for value in values]
    chunks = _chunks(_reader(text, Format.NDJSON, options), columns)
    # Two objects in one line would be two rows.
    return Run(counts, chunks) if chunks[-1].end_row == ends + 1 else None


def _csv(values: list[bytes], columns: Columns, options: ReadOptions) -> Run | None:
    """Messages of CSV with the same header, or none, read at once; None if that is not possible."""
    kind = _format(values[0], options)
    first = values[0].partition(b"\n")[0]
    texts = [value.strip() for value in values]
    header = _has_header(first.decode("utf-8", "replace").split(_delimiter(kind, options)), options)
    if header:
        texts = [text.partition(b"\n")[2] for text in texts]
    text = b"\n".join([first.strip(), *texts] if header else texts)
    if b'"' in text or b"\r" in text or b"\n\n" in text or not all(texts):
        return None
    try:
        reader = _reader(text, kind, replace(options, header=header))
        if _missing(reader, columns):
            return None
        chunks = _chunks(reader, columns)
    except TableError:
        return None
    counts = [value.count(b"\n") + 1 for value in texts]
    return Run(counts, chunks) if chunks and chunks[-1].end_row == sum(counts) else None


def _single(value: bytes, columns: Columns, options: ReadOptions) -> Run:
    """The rows of one message."""
    problem = _problem(value)
    if problem:
        return _bad(value, problem, columns, options)
    kind = _format(value, options)
    try:
        if kind is Format.NDJSON:
            value = _as_lines(value)
        elif kind is Format.ARROW:
            require_small(value, _NAME, _MOST_ROWS)
        reader = _reader(value, kind, options)
        missing = None if isinstance(reader, NdjsonReader) else _missing(reader, columns)
        if missing is not None:
            return _bad(value, f"it has no column {missing!r}", columns, options)
        if isinstance(reader, ColumnarReader):
            require_simple(reader.schema, columns.read, _NAME)
        chunks = _chunks(reader, columns)
    except TableError as error:
        why = str(error).replace(f"{_NAME!r}", "it", 1).partition(": say --")[0].rstrip(".")
        return _bad(value, why, columns, options)
    return Run([chunks[-1].end_row if chunks else 0], chunks)


def _as_lines(value: bytes) -> bytes:
    """JSON as lines: those of an array, or of one object in several lines."""
    if len(value) > _MOST_JSON:
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value  # several lines, or nothing that can be read
    rows = found if isinstance(found, list) else [found]
    return b"\n".join(json.dumps(row).encode() for row in rows)


def _missing(reader: Reader, columns: Columns) -> str | None:
    names = set(reader.names)
    return next((name for name in columns.read if name not in names), None)


def _reader(value: bytes, kind: Format, options: ReadOptions) -> Reader:
    if kind is Format.PARQUET:
        raise TableError(f"{_NAME!r} cannot be Parquet: send JSON, CSV or Arrow.")
    return open_reader(
        _NAME,
        replace(options, format=kind, encoding="utf-8"),
        follow=False,
        stopped=lambda: False,
        content=io.BytesIO(value),
    )


def _chunks(reader: Reader, columns: Columns) -> list[Chunk]:
    with closing(reader), named_errors(_NAME):
        return [chunk for chunk in reader.chunks(columns, Position()) if chunk is not None]


def _bad(value: bytes, why: str, columns: Columns, options: ReadOptions) -> Run:
    """A message that cannot be read, as one bad row."""
    # What a reader makes of a line that is no object has the shape of all other chunks.
    (chunk,) = _chunks(_reader(b"0", Format.NDJSON, options), columns)
    text = value[:_SHOWN].decode("utf-8", "replace")
    return Run([1], [chunk._replace(bad=[BadRow(0, why, {"text": text})])])
