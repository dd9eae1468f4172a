"""Readers of tables, opened by their format one after the other, and the choice of columns."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import BinaryIO, Protocol

import pyarrow as pa

from spclust.tables.chunks import Chunk, Columns, Position
from spclust.tables.columnar_reader import ArrowBatches, ColumnarReader, ParquetBatches
from spclust.tables.columns.column_advice import advise
from spclust.tables.csv_reader import CsvReader, Dialect
from spclust.tables.files.growing_file import GrowingFile
from spclust.tables.formats import Format, ReadOptions, format_of, format_of_start
from spclust.tables.inputs import STDIN
from spclust.tables.ndjson_reader import NdjsonReader
from spclust.tables.table_error import TableError, TableOptionError, sentence_of, shortened
from spclust.tables.text_file import TextFile

_COMPARED = 1000  # names of columns that a misspelt one is compared with, which takes long


class Reader(Protocol):
    """A table that is read some rows at a time."""

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        ...

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers."""
        ...

    def chunks(self, columns: Columns, since: Position) -> Iterator[Chunk | None]:
        """Chunks of rows from a position on, or from one before it: the row at its offset.

        None when a growing file pauses.
        """
        ...

    def close(self) -> None:
        """Close the file."""
        ...


@contextmanager
def named_errors(path: str) -> Iterator[None]:
    """Raise errors of PyArrow, Python and the system as a TableError that names the file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise TableError(f"{path!r} cannot be read: {sentence_of(error)}") from error
    except (pa.ArrowException, ArithmeticError, LookupError, MemoryError, ValueError) as error:
        raise TableError(f"{path!r} cannot be read: {sentence_of(error)}") from error


def open_reader(
    path: str,
    options: ReadOptions,
    *,
    follow: bool,
    stopped: Callable[[], bool],
    digests: bool = False,
    content: BinaryIO | None = None,
    growing: GrowingFile | None = None,
    known: tuple[str, ...] = (),
) -> Reader:
    """Open a file, or standard input, with the reader of its format.

    `digests`: compute one of the text before each chunk, which is then the chunk's `identity`.
    `content`: of a table that is on no disk, for which `path` is but a name. `growing`: the file,
    if it may be rotated. `known`: names of the columns, if the file continues another one.
    """
    with named_errors(path):
        text = partial(
            TextFile,
            follow=follow,
            stopped=stopped,
            digests=digests,
            content=content,
            growing=growing,
            least_lines=1 if known else 2,
        )
        reader = _opened(path, options, text, known)
    # Lines of JSON cannot have two columns of one name, and are not read for nothing.
    if not isinstance(reader, NdjsonReader) and len(set(reader.names)) < len(reader.names):
        reader.close()
        counts = Counter(reader.names)
        twice = next(name for name in reader.names if counts[name] > 1)
        hint = ", or say --no-header if its first row is data" if _is_csv(path, options) else ""
        raise TableError(f"{path!r} has two columns {twice!r}: give them names of their own{hint}.")
    return reader


def _is_csv(path: str, options: ReadOptions) -> bool:
    return format_of(path, options.format) in (Format.CSV, Format.TSV)


def _opened(
    path: str,
    options: ReadOptions,
    text_file: Callable[[str, str], TextFile],
    known: tuple[str, ...],
) -> Reader:
    kind = format_of(path, options.format)
    if kind is Format.PARQUET:
        return ColumnarReader(path, ParquetBatches(path))
    delimiter = options.delimiter or ("\t" if kind is Format.TSV else ",")
    if len(delimiter) != 1 or len(options.decimal) != 1:
        raise TableError("--delimiter and --decimal are one character each.")
    if not (delimiter + options.decimal).isascii() or delimiter in '"\r\n':
        raise TableOptionError("--delimiter and --decimal are ASCII, and no quote or line break.")
    encoding = options.encoding if kind.is_text else "utf-8"
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise TableOptionError(
            f"--encoding {encoding!r} is not known: say for instance latin-1, cp1252 or utf-16."
        ) from None
    text = text_file(path, encoding)
    if path == STDIN and options.format is None:
        kind = format_of_start(text.peek_start(), kind)
    try:
        if kind is Format.ARROW:
            return ColumnarReader(path, ArrowBatches(text))
        if kind is Format.NDJSON:
            return NdjsonReader(text, options.read_bytes)
        dialect = Dialect(delimiter, options.decimal, options.header, known)
        return CsvReader(text, dialect, options.read_bytes)
    except BaseException:
        text.close()
        raise


def split_names(given: Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    """Names given one by one or separated by commas, which a name itself may contain."""
    found: list[str] = []
    for each in given or ():
        found += [each] if each in names else [name.strip() for name in each.split(",")]
    return tuple(dict.fromkeys(found))


def extra_columns(label: str | None, keep: Sequence[str]) -> tuple[str, ...]:
    """Columns to read besides the features: the label and those to keep."""
    return tuple(dict.fromkeys((*([label] if label else []), *keep)))


def choose_columns(
    reader: Reader,
    path: str,
    given: Sequence[str] | None,
    extra: tuple[str, ...],
    time: str | None,
) -> Columns:
    """Columns to read: those to cluster by, others as text, and that of times, if one is named.

    Times are numbers if the column is one of numbers, and else dates.
    """
    require_columns((*extra, *([] if time is None else [time])), reader, path)
    others = extra if time is None else (*extra, time)
    features = choose_features(reader, path, given, others)
    if not given:
        advise(path, features)
    if time is None:
        return Columns(features, extra)
    if time in features:
        raise TableOptionError(f"--columns and --time both name {time!r}: leave it out of one.")
    with named_errors(path):
        return Columns(features, extra, time, dated=time not in reader.numeric_columns())


def choose_features(
    reader: Reader, path: str, given: Sequence[str] | None, others: Sequence[str]
) -> tuple[str, ...]:
    """Columns to cluster by: the given ones, or all columns of numbers but the others."""
    if given:
        named = split_names(given, reader.names)
        require_columns(named, reader, path)
        return named
    with named_errors(path):
        found = tuple(name for name in reader.numeric_columns() if name not in others)
    if not found:
        hint = ""
        if len(reader.names) == 1 and any(mark in reader.names[0] for mark in ";\t|"):
            hint = " Is --delimiter another one?"
        raise TableError(
            f"{path!r} has no column of numbers to cluster by: its columns are "
            f"{_listed(reader.names)}.{hint}"
        )
    return found


def require_columns(names: Sequence[str], reader: Reader, path: str) -> None:
    """Raise TableError, with the columns that there are, if one is missing."""
    known = set(reader.names)
    for name in names:
        if name not in known:
            close = get_close_matches(name, reader.names[:_COMPARED], 1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise TableError(
                f"{path!r} has no column {name!r}: its columns are {_listed(reader.names)}.{guess}"
            )


def _listed(names: Sequence[str]) -> str:
    return shortened([f"{name!r:.60}" for name in names], most=20)
