"""Cells to numbers: whole columns at once, or cell by cell to find the bad ones."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spclust.array_types import Booleans, Floats, Integers
from spclust.tables.chunks import BadRow
from spclust.tables.table_error import TableError

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def is_clean(table: pa.Table, features: tuple[str, ...]) -> bool:
    """True only if each cell of these columns, of type float64, holds a finite number."""
    for name in features:
        column = table[name]
        if column.null_count or not np.isfinite(_sum(column)):
            return False
    return True


def _sum(column: pa.ChunkedArray) -> float:
    """Sum of a column: finite only if each number is, but it may overflow even then."""
    total = pc.sum(column).as_py()
    return 0.0 if total is None else float(total)


def matrix(table: pa.Table, features: tuple[str, ...]) -> Floats:
    """Columns of finite numbers as an array (n, d)."""
    values = np.empty((len(table), len(features)))
    for i, name in enumerate(features):
        values[:, i] = table[name].to_numpy()
    return values


def parse_cells(
    table: pa.Table, features: tuple[str, ...], row: Integers
) -> tuple[Floats, Booleans, list[BadRow]]:
    """Numbers of the good rows (n, d), a mask of the good rows, and the bad rows.

    Columns may be of numbers or of text; `row` (n,) are the numbers of the rows in the file.
    """
    values = np.zeros((len(table), len(features)))
    for i, name in enumerate(features):
        values[:, i] = as_numbers(table[name].combine_chunks(), name)
    finite = np.isfinite(values)
    good: Booleans = np.asarray(finite.all(axis=1))
    places = np.flatnonzero(~good)
    first = finite[places].argmin(axis=1)  # the first bad cell of each bad row
    bad = []
    for place, at, cells in zip(places, first, table.take(places).to_pylist(), strict=True):
        name = features[at]
        record = {
            "column": name,
            "value": plain(cells[name]),
            "cells": {key: plain(value) for key, value in cells.items()},
        }
        bad.append(BadRow(int(row[place]), f"column {name!r} {_why(cells[name])}", record))
    return values[good], good, bad


def as_numbers(column: pa.Array, name: str) -> Floats:
    """Numbers of a column (n,); NaN for a cell that is not a number."""
    kind = column.type
    if pa.types.is_temporal(kind):
        raise TableError(
            f"Column {name!r} holds times ({kind}), not numbers: leave it out, by --columns, or "
            "say --time if influence is to fade with it."
        )
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if is_text(kind):
        return _parsed(pc.utf8_trim_whitespace(column))
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return np.full(len(column), np.nan)
    numbers = pc.cast(column, pa.float64(), safe=False)
    filled: Floats = pc.fill_null(numbers, float("nan")).to_numpy(zero_copy_only=False)
    return filled


def is_text(kind: pa.DataType) -> bool:
    """True for the type of a column of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _parsed(column: pa.Array) -> Floats:
    """Texts to numbers by PyArrow's rules; NaN for a text that is not a number."""
    try:
        return _cast(column)
    except pa.ArrowInvalid:
        # A column of words: trying each cell in turn would be slow.
        likely = pc.fill_null(pc.match_substring_regex(column, _NUMBER), False)
        numbers = np.full(len(column), np.nan)
        numbers[likely.to_numpy(zero_copy_only=False)] = _bisected(column.filter(likely))
        return numbers


def _cast(column: pa.Array) -> Floats:
    numbers = pc.fill_null(pc.cast(column, pa.float64()), float("nan"))
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _bisected(column: pa.Array) -> Floats:
    """Texts to numbers, bisected until each text that PyArrow refuses is alone."""
    try:
        return _cast(column)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return np.array([np.nan])
        half = len(column) // 2
        return np.concatenate([_bisected(column[:half]), _bisected(column[half:])])


def _why(value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        return "is empty"
    if isinstance(value, float) or is_number(value):
        return f"holds {value}, which is not finite"
    return f"holds {plain(value)!r:.60}, which is not a number"


def is_number(value: Any) -> bool:
    """True if a cell is a number, or a text that stands for one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def plain(value: Any) -> Any:
    """A cell as a value that JSON can hold."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return str(value)


def is_numeric(column: pa.ChunkedArray) -> bool:
    """True if more than half of the non-empty cells of a text column are numbers."""
    texts = pc.utf8_trim_whitespace(column).to_pylist()
    filled = [text for text in texts if text]
    return 2 * sum(map(is_number, filled)) > len(filled)
