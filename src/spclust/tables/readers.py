"""Files opened by their format, and the columns that are taken from them."""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Protocol

from spclust.cli.exit_codes import CommandError, shortened
from spclust.cli.options import Reading
from spclust.tables.chunks import Piece, Position, Wanted
from spclust.tables.formats import Format, format_of


class Source(Protocol):
    """A table that is read some rows at a time."""

    names: list[str]

    def numeric(self) -> list[str]:
        """Columns that hold numbers."""
        ...

    def pieces(self, wanted: Wanted, since: Position | None) -> Iterator[Piece | None]:
        """The rows from a position on; None when a growing file stands still."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


def open_source(
    path: str, reading: Reading, *, follow: bool, stopped: Callable[[], bool]
) -> Source:
    """The table in a file."""
    from spclust.tables.columnar_reader import ArrowRows, Columnar, ParquetRows
    from spclust.tables.csv_reader import Delimited, Dialect
    from spclust.tables.ndjson_reader import Ndjson
    from spclust.tables.text_file import TextFile

    kind = format_of(path, reading.format)
    if kind is Format.PARQUET:
        return Columnar(path, ParquetRows(path))
    delimiter = reading.delimiter or ("\t" if kind is Format.TSV else ",")
    if len(delimiter) != 1 or len(reading.decimal) != 1:
        raise CommandError("--delimiter and --decimal are one character each.")
    encoding = reading.encoding if kind.is_text else "utf-8"
    text = TextFile(path, encoding, follow=follow, stopped=stopped)
    try:
        if kind is Format.ARROW:
            return Columnar(path, ArrowRows(text))
        if kind is Format.NDJSON:
            return Ndjson(text, reading.read_bytes)
        dialect = Dialect(delimiter, reading.decimal, reading.header)
        return Delimited(text, dialect, reading.read_bytes)
    except BaseException:
        text.close()
        raise


def split_names(given: Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    """Names given repeatedly or separated by commas, which names themselves may have."""
    found: list[str] = []
    for each in given or ():
        found += [each] if each in names else [name.strip() for name in each.split(",")]
    return tuple(dict.fromkeys(found))


def besides(label: str | None, keep: Sequence[str]) -> tuple[str, ...]:
    """Columns to read besides the features."""
    return tuple(dict.fromkeys((*([label] if label else []), *keep)))


def chosen_features(
    source: Source, path: str, reading: Reading, others: Sequence[str]
) -> list[str]:
    """The columns to cluster by: those that were named, or all of numbers but the others."""
    if reading.columns:
        named = split_names(reading.columns, source.names)
        refuse_missing(named, source, path)
        return list(named)
    found = [name for name in source.numeric() if name not in others]
    if not found:
        hint = ""
        if len(source.names) == 1 and any(mark in source.names[0] for mark in ";\t|"):
            hint = " Is --delimiter another one?"
        raise CommandError(
            f"{path!r} has no column of numbers to cluster by: its columns are "
            f"{_listed(source.names)}.{hint}"
        )
    return found


def refuse_missing(wanted: Sequence[str], source: Source, path: str) -> None:
    """Raise CommandError, with the columns that there are, if one is missing."""
    for name in wanted:
        if name not in source.names:
            close = get_close_matches(name, source.names, 1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise CommandError(
                f"{path!r} has no column {name!r}: its columns are {_listed(source.names)}.{guess}"
            )


def _listed(names: Sequence[str]) -> str:
    return shortened([repr(name) for name in names], most=20)
