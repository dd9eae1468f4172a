"""Readers of tables, opened by their format, and the choice of columns."""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Protocol

from spclust.tables.chunks import Chunk, Columns, Position
from spclust.tables.columnar_reader import ArrowBatches, ColumnarReader, ParquetBatches
from spclust.tables.csv_reader import CsvReader, Dialect
from spclust.tables.formats import Format, ReadOptions, format_of
from spclust.tables.ndjson_reader import NdjsonReader
from spclust.tables.table_error import TableError, shortened
from spclust.tables.text_file import TextFile


class Reader(Protocol):
    """A table that is read some rows at a time."""

    names: list[str]  # of all columns

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers."""
        ...

    def chunks(self, columns: Columns, since: Position | None) -> Iterator[Chunk | None]:
        """Chunks of rows from a position on; None when a growing file pauses."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def open_reader(
    path: str, options: ReadOptions, *, follow: bool, stopped: Callable[[], bool]
) -> Reader:
    """Open a file, or standard input, with the reader of its format."""
    kind = format_of(path, options.format)
    if kind is Format.PARQUET:
        return ColumnarReader(path, ParquetBatches(path))
    delimiter = options.delimiter or ("\t" if kind is Format.TSV else ",")
    if len(delimiter) != 1 or len(options.decimal) != 1:
        raise TableError("--delimiter and --decimal are one character each.")
    encoding = options.encoding if kind.is_text else "utf-8"
    text = TextFile(path, encoding, follow=follow, stopped=stopped)
    try:
        if kind is Format.ARROW:
            return ColumnarReader(path, ArrowBatches(text))
        if kind is Format.NDJSON:
            return NdjsonReader(text, options.read_bytes)
        dialect = Dialect(delimiter, options.decimal, options.header)
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


def choose_features(
    reader: Reader, path: str, given: Sequence[str] | None, others: Sequence[str]
) -> tuple[str, ...]:
    """Columns to cluster by: the given ones, or all columns of numbers but the others."""
    if given:
        named = split_names(given, reader.names)
        require_columns(named, reader, path)
        return named
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
    for name in names:
        if name not in reader.names:
            close = get_close_matches(name, reader.names, 1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise TableError(
                f"{path!r} has no column {name!r}: its columns are {_listed(reader.names)}.{guess}"
            )


def _listed(names: Sequence[str]) -> str:
    return shortened([repr(name) for name in names], most=20)
