"""NDJSON, one JSON object per line: good ones are read at once, bad ones are found one by one."""

import json
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from spclust.array_types import Floats
from spclust.tables.chunks import BadRow, Chunk, Columns, Position, without_columns
from spclust.tables.columns.json_cells import as_text, json_field
from spclust.tables.columns.time_column import with_times
from spclust.tables.text.good_lines import features_and_times, lines_of
from spclust.tables.text_file import Block, TextFile, chunks_of, whole_lines

_SAMPLE = 1000  # lines by which columns of numbers are recognised


class NdjsonReader:
    """Reader of an NDJSON file."""

    def __init__(self, text: TextFile, size: int) -> None:
        self._text, self._size = text, size
        self._head = text.peek(size)

    @cached_property
    def _found(self) -> dict[str, list[Any]]:
        """Values of the first lines, by column."""
        found: dict[str, list[Any]] = {}
        for line in [line for line in lines_of(self._head) if line.strip()][:_SAMPLE]:
            row = _object(line)
            for name, value in row.items() if isinstance(row, dict) else ():
                found.setdefault(name, []).append(value)
        return found

    @cached_property
    def names(self) -> list[str]:
        """Names of all columns of the first lines."""
        return list(self._found)

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers, judged by the first lines."""
        return [
            name
            for name, values in self._found.items()
            if 2 * sum(_number(value) is not None for value in values) > len(values)
        ]

    def chunks(self, columns: Columns, since: Position) -> Iterator[Chunk | None]:
        """Chunks of rows from the offset of a position on; None when a growing file pauses."""
        return chunks_of(
            self._text,
            self._size,
            since,
            0,
            whole_lines,
            lambda block, row: self._chunk(block, row, columns),
        )

    def close(self) -> None:
        """Close the file."""
        self._text.close()

    def _chunk(self, block: Block, row: int, columns: Columns) -> Chunk:
        found = None if columns.extra else features_and_times(block.data, columns)
        if found is not None:
            values, table = found
            rows, bad = len(values), list[BadRow]()
            good, extra = np.arange(rows), without_columns(rows)
        else:
            values, good, table, bad, rows = line_by_line(block.data, columns)
            extra, table = table.select(list(columns.extra)), as_text(table)
        chunk = Chunk(
            values,
            good + row,
            extra,
            [each._replace(row=each.row + row) for each in bad],
            block.offset,
            row,
            row + rows,
            block.consumed,
            self._text.identity(),
        )
        return with_times(chunk, table, columns)


def line_by_line(data: bytes, columns: Columns) -> tuple[Floats, Any, pa.Table, list[BadRow], int]:
    """Values, their rows, extra columns and times as text, bad rows, and the number of rows."""
    values, good, bad, rows = [], [], [], 0
    names = (*columns.extra, *(() if columns.time is None else (columns.time,)))
    extra: dict[str, list[str | None]] = {name: [] for name in names}
    for line in lines_of(data):
        if not line.strip():
            continue
        found = _object(line)
        problem = _problem(found, columns.features)
        if problem is None:
            values.append([float(found[name]) for name in columns.features])
            good.append(rows)
            for name, cells in extra.items():
                cells.append(None if found.get(name) is None else json.dumps(found[name]))
        else:
            text = line.decode("utf-8", "replace")
            column, why = problem
            record = {"column": column} if column is not None else {}
            bad.append(BadRow(rows, why, {**record, "text": text}))
        rows += 1
    texts = [pa.array(cells, pa.string()) for cells in extra.values()]
    fields = [json_field(name) for name in extra]
    table = pa.table([*texts, pa.nulls(len(values))], pa.schema([*fields, ("", pa.null())]))
    table = table.select(list(extra))
    numbers = np.array(values, dtype=np.float64).reshape(len(values), len(columns.features))
    return numbers, np.array(good, dtype=np.int64), table, bad, rows


def _problem(found: Any, features: tuple[str, ...]) -> tuple[str | None, str] | None:
    """Column, None for the whole line, and problem of a row; None if the row is good."""
    if not isinstance(found, dict):
        return None, "it is no JSON object"
    for name in features:
        value = found.get(name)
        if value is None:
            return name, f"column {name!r} is empty"
        if _number(value) is None:
            return name, f"column {name!r} holds {value!r:.60}, which is not a number"
        if not math.isfinite(value):
            return name, f"column {name!r} holds {value}, which is not finite"
    return None


def _number(value: Any) -> float | None:
    """The value as a float; None if it is not a number, or is a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _object(line: bytes) -> Any:
    try:
        found = json.loads(line)
        if b"\\u" in line:  # half of a pair of surrogates is no character
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except (ValueError, RecursionError):
        return None
