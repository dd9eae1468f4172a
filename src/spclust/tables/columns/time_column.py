"""The column of times: numbers as they are, or dates as seconds since 1970.

A column is one or the other, for the whole stream. Each cell is converted once, by rules that do
not depend on the cells around it, so that results do not depend on how a file is cut.
"""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spclust.array_types import Floats
from spclust.tables.cells import as_numbers, is_text, plain
from spclust.tables.chunks import BadRow, Chunk, Columns, filtered
from spclust.tables.table_error import TableError
from spclust.time_units import seconds_of_dates

_EXACT = 2.0**53  # larger integers would be rounded
_WHOLE = r"^\s*[+-]?\d+\s*$"


def with_times(chunk: Chunk, table: pa.Table, columns: Columns) -> Chunk:
    """A chunk with the times of its good rows; those whose time cannot be read become bad ones.

    `table` has the cells of these rows.
    """
    if columns.time is None:
        return chunk
    column = table[columns.time].combine_chunks()
    times = _dates(column, columns.time) if columns.dated else _numbers(column, columns.time)
    known = np.isfinite(times)
    if known.all():
        return chunk._replace(time=times)
    places = np.flatnonzero(~known)
    bad = [
        BadRow(int(row), _why(cells[columns.time], columns), _record(cells, columns.time))
        for row, cells in zip(chunk.row[places], table.take(places).to_pylist(), strict=True)
    ]
    return chunk._replace(
        values=chunk.values[known],
        row=chunk.row[known],
        extra=filtered(chunk.extra, known),
        time=times[known],
        bad=sorted([*chunk.bad, *bad], key=lambda each: each.row),
    )


def _record(cells: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        "column": name,
        "value": plain(cells[name]),
        "cells": {key: plain(value) for key, value in cells.items()},
    }


def _numbers(column: pa.Array, name: str) -> Floats:
    """Numbers (n,) of a column; NaN for a cell that is none, or an integer that is too large."""
    numbers = as_numbers(column, name)
    large = np.abs(numbers) > _EXACT
    if large.any():
        whole = pa.types.is_integer(column.type)
        if is_text(column.type):
            texts = column.filter(pa.array(large))
            whole = pc.match_substring_regex(texts, _WHOLE).to_numpy(zero_copy_only=False)
        numbers = numbers.copy()
        numbers[large] = np.where(whole, np.nan, numbers[large])
    return numbers


def _dates(column: pa.Array, name: str) -> Floats:
    """Dates (n,) of a column as seconds since 1970; NaN for a cell that is none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return seconds_of_dates(column.to_numpy(zero_copy_only=False))
    if not is_text(kind):
        raise TableError(
            f"Column {name!r} ({kind}) holds no times: name one of numbers, or of dates, by --time."
        )
    return _parsed(pc.utf8_trim_whitespace(column))


def _parsed(column: pa.Array) -> Floats:
    """Texts to seconds, bisected until those that PyArrow refuses are alone; NaN for no date."""
    for zone in (None, "UTC"):  # without a time zone, which then is UTC, or with one each
        try:
            dates = pc.cast(column, pa.timestamp("ns", zone))
        except pa.ArrowInvalid:
            continue
        return seconds_of_dates(dates.to_numpy(zero_copy_only=False))
    if len(column) > 1:
        half = len(column) // 2
        return np.concatenate([_parsed(column[:half]), _parsed(column[half:])])
    return np.array([_single(str(column[0].as_py()))])


def _single(text: str) -> float:
    """A date in one of the rarer forms of ISO 8601."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _why(value: Any, columns: Columns) -> str:
    name = columns.time
    if value is None or (isinstance(value, str) and not value.strip()):
        return f"column {name!r}, of times, is empty"
    shown = f"column {name!r}, of times, holds {plain(value)!r:.60}"
    if columns.dated:
        return f"{shown}, which is no date such as 2024-05-01T12:30:00Z"
    text = str(value).strip().lstrip("+-")
    if text.isdecimal():
        return f"{shown}, an integer above 2**53, which would be rounded: give dates, or seconds"
    return f"{shown}, which is no finite number, as the first rows have them"


def is_date(value: Any) -> bool:
    """True if a cell is a date, or a text that stands for one."""
    if isinstance(value, str):
        return not np.isnan(_single(value.strip()))
    return isinstance(value, date)
