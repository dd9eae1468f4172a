"""CSV and TSV: PyArrow parses blocks of text; bad rows are found cell by cell.

Where records end is found by `text.csv_records`, encodings are decoded by `text_file`, and
`readers` guesses the separator.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from spclust.array_types import Integers
from spclust.tables.cells import is_clean, is_number, is_numeric, matrix, parse_cells
from spclust.tables.chunks import BadRow, Chunk, Columns, Position
from spclust.tables.columns.time_column import with_times
from spclust.tables.table_error import TableError, sentence_of
from spclust.tables.text.csv_records import Records
from spclust.tables.text_file import Block, TextFile, chunks_of

_SAMPLE = 1000  # rows by which columns of numbers are recognised
_BOM = b"\xef\xbb\xbf"


class Dialect(NamedTuple):
    """How a CSV file is written."""

    delimiter: str = ","
    decimal: str = "."
    header: bool | None = None  # None: there is one unless the first row is all numbers
    known: tuple[str, ...] = ()  # names of the columns of a file that this one continues


class CsvReader:
    """Reader of a CSV or TSV file."""

    def __init__(self, text: TextFile, dialect: Dialect, size: int) -> None:
        self._text, self._dialect, self._size = text, dialect, size
        self._records = Records(dialect.delimiter)
        head = text.peek(size)
        self._data = 0  # byte at which the first row starts
        self.names: list[str] = []
        self._head = head
        if head.strip(b"\r\n" + _BOM):
            self._read_header(head)

    def _read_header(self, head: bytes) -> None:
        start = len(head) - len(head.removeprefix(_BOM).lstrip(b"\r\n"))
        line = head[start : start + self._records.first(head[start:])]
        try:
            lines = io.StringIO(line.decode(), newline="")
            cells = next(csv.reader(lines, delimiter=self._dialect.delimiter))
        except UnicodeDecodeError:
            raise TableError(_not_utf8(self._text.path)) from None
        except csv.Error as error:
            raise TableError(f"{self._text.path!r}, row 1: {sentence_of(error)}") from None
        cells = [cell.strip() for cell in cells]
        header, known = self._dialect.header, list(self._dialect.known)
        if known and header is not False:  # one that continues another one may have none
            header = set(cells) == set(known)
        if header is None:
            header = not all(is_number(cell.replace(self._dialect.decimal, ".")) for cell in cells)
        self.names = cells if header else known or [f"x{i}" for i in range(len(cells))]
        self._data = start + len(line) if header else start

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers, judged by the first rows."""
        data = self._head[self._data :]
        data = data[: self._records.whole(data)] or data
        if not data.strip():
            return list(self.names)
        table = self._as_text(data, self.names, []).slice(0, _SAMPLE)
        table = self._with_points(table, self.names)
        return [name for name in self.names if is_numeric(table[name])]

    def chunks(self, columns: Columns, since: Position) -> Iterator[Chunk | None]:
        """Chunks of rows from the offset of a position on; None when a growing file pauses."""
        return chunks_of(
            self._text,
            self._size,
            since,
            self._data,
            self._records.whole,
            lambda block, row: self._chunk(block, row, columns),
        )

    def close(self) -> None:
        """Close the file."""
        self._text.close()

    def _chunk(self, block: Block, row: int, columns: Columns) -> Chunk:
        """The rows of a block; `row` is the number of the first one."""
        ragged: list[pacsv.InvalidRow] = []
        types = {
            **dict.fromkeys(columns.features, pa.float64()),
            **dict.fromkeys(columns.extra, pa.string()),
            **({} if columns.time is None else {columns.time: pa.string()}),
        }
        try:
            # PyArrow fails to hand over ragged rows that are not UTF-8.
            aside = ragged if block.data.isascii() else None
            table = self._parsed(block.data, types, tuple(types), aside)
            found = self._as_floats(table, columns)
            clean = is_clean(found, columns.features)
        except pa.ArrowInvalid:
            clean = False
        if clean:
            values, good = matrix(found, columns.features), np.ones(len(table), bool)
            bad: list[BadRow] = []
            numbers = _numbers(len(table), ragged, row)
        else:
            ragged.clear()
            table = self._as_text(block.data, columns.read, ragged)
            numbers = _numbers(len(table), ragged, row)
            values, good, bad = parse_cells(
                self._with_points(table, columns.features), columns.features, numbers
            )
        bad += [_ragged(each, row) for each in ragged]
        bad.sort(key=lambda each: each.row)
        extra = table.select(list(columns.extra)).filter(pa.array(good))
        chunk = Chunk(
            values,
            numbers[good],
            extra,
            bad,
            block.offset,
            row,
            row + len(table) + len(ragged),
            block.consumed,
            self._text.identity(),
        )
        if columns.time is None:
            return chunk
        cells = self._with_points(table.filter(pa.array(good)), [columns.time])
        return with_times(chunk, cells, columns)

    def _as_floats(self, table: pa.Table, columns: Columns) -> pa.Table:
        """The table with numbers in those features, too, that are also read as text."""
        for name in (name for name in columns.features if name in columns.extra):
            texts = pc.utf8_trim_whitespace(self._with_points(table, [name])[name])
            numbers = pc.cast(texts, pa.float64())
            table = table.set_column(table.column_names.index(name), name, numbers)
        return table

    def _as_text(
        self, data: bytes, needed: Sequence[str], ragged: list[pacsv.InvalidRow]
    ) -> pa.Table:
        """All columns as text, to find and to show bad cells. Modified in place: ragged."""
        types = {
            name: pa.string() if name in needed else pa.binary()  # any bytes are valid
            for name in self.names
        }
        names = tuple(self.names)
        try:
            if _is_utf8(data):
                return self._parsed(data, types, names, ragged)
            # PyArrow fails to hand over ragged rows that are not UTF-8. It therefore gets each
            # byte as a character: cells are the same, because what ends them is ASCII.
            binary = dict.fromkeys(names, pa.binary())
            table = self._parsed(data.decode("latin-1").encode(), binary, names, ragged)
            ragged[:] = [each._replace(text=_as_utf8(each.text)) for each in ragged]
            cells = {
                name: [cell.decode().encode("latin-1") for cell in table[name].to_pylist()]
                for name in names
            }
            return pa.table(cells, pa.schema(binary)).cast(pa.schema(types))
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                raise TableError(_not_utf8(self._text.path)) from None
            raise TableError(f"{self._text.path!r} cannot be read: {sentence_of(error)}") from None

    def _with_points(self, table: pa.Table, names: Iterable[str]) -> pa.Table:
        """The table with decimal commas replaced by points."""
        if self._dialect.decimal == ".":
            return table
        for name in names:
            with_points = pc.replace_substring(table[name], self._dialect.decimal, ".")
            table = table.set_column(table.column_names.index(name), name, with_points)
        return table

    def _parsed(
        self,
        data: bytes,
        types: dict[str, pa.DataType],
        columns: tuple[str, ...],
        ragged: list[pacsv.InvalidRow] | None,
    ) -> pa.Table:
        """Columns of a text. Modified in place: ragged; if it is None they raise ArrowInvalid."""
        return pacsv.read_csv(
            pa.BufferReader(data),
            # One block and one thread: PyArrow numbers bad rows only then.
            pacsv.ReadOptions(column_names=self.names, use_threads=False, block_size=len(data) + 1),
            pacsv.ParseOptions(
                delimiter=self._dialect.delimiter,
                newlines_in_values=b'"' in data,
                invalid_row_handler=None if ragged is None else _collector(ragged),
            ),
            pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(columns),
                strings_can_be_null=False,
                decimal_point=self._dialect.decimal,
            ),
        )


def _numbers(kept: int, ragged: list[pacsv.InvalidRow], first: int) -> Integers:
    """Number of each row that was kept; the ragged ones count."""
    if not ragged:
        return np.arange(first, first + kept)
    everything = np.arange(kept + len(ragged))
    left_out = [int(each.number) - 1 for each in ragged]
    return np.delete(everything, left_out) + first


def _collector(ragged: list[pacsv.InvalidRow]) -> Callable[[pacsv.InvalidRow], str]:
    """Handler that lets PyArrow skip ragged rows, and appends them to a list."""

    def set_aside(bad: pacsv.InvalidRow) -> str:
        ragged.append(bad)
        return "skip"

    return set_aside


def _ragged(bad: pacsv.InvalidRow, first: int) -> BadRow:
    why = f"it has {bad.actual_columns} cells where the first row has {bad.expected_columns}"
    return BadRow(int(bad.number) - 1 + first, f"{why} ({bad.text!r:.60})", {"text": bad.text})


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_utf8(text: str) -> str:
    """The text of bytes, each of which was a character."""
    return text.encode("latin-1").decode("utf-8", "replace")


def _not_utf8(path: str) -> str:
    return f"{path!r} is not UTF-8 text: say --encoding, for instance latin-1 or utf-16."
