"""Cells to numbers: all at once where that works, else cell by cell, to name the bad ones."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spclust.arrays import Booleans, Floats, Integers
from spclust.cli.exit_codes import CommandError
from spclust.tables.chunks import BadRow

_LIKE_A_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_HINT = "--on-bad-row skip, or collect FILE, goes on without such rows."


def sentence_about(bad: BadRow, path: str) -> str:
    """What is wrong with a row of a file, and what can be done."""
    return f"{path!r}, row {bad.row + 1}: {bad.why}. {_HINT}"


def is_clean(table: pa.Table, features: tuple[str, ...]) -> bool:
    """Whether each cell of these columns, of type float64, holds a finite number."""
    for name in features:
        column = table[name]
        if column.null_count or not np.isfinite(_sum(column)):
            return False
    return True


def _sum(column: pa.ChunkedArray) -> float:
    """The sum of a column, which is finite only if all of it is; it may overflow otherwise."""
    total = pc.sum(column).as_py()
    return 0.0 if total is None else float(total)


def matrix(table: pa.Table, features: tuple[str, ...]) -> Floats:
    """Clean columns side by side (n, d)."""
    values = np.empty((len(table), len(features)))
    for i, name in enumerate(features):
        values[:, i] = table[name].to_numpy()
    return values


def examined(
    table: pa.Table, features: tuple[str, ...], row: Integers
) -> tuple[Floats, Booleans, list[BadRow]]:
    """Numbers of the good rows (n, d), which rows are good, and what is wrong with the others.

    Columns may be of numbers or of text; `row` are the numbers of the rows.
    """
    values = np.zeros((len(table), len(features)))
    for i, name in enumerate(features):
        values[:, i] = _as_numbers(table[name].combine_chunks(), name)
    finite = np.isfinite(values)
    good: Booleans = np.asarray(finite.all(axis=1))
    places = np.flatnonzero(~good)
    first = finite[places].argmin(axis=1)  # the first bad cell of each bad row
    bad = []
    for place, at, cells in zip(places, first, table.take(places).to_pylist(), strict=True):
        name = features[at]
        record = {
            "column": name,
            "value": _plain(cells[name]),
            "cells": {key: _plain(value) for key, value in cells.items()},
        }
        bad.append(BadRow(int(row[place]), f"column {name!r} {_why(cells[name])}", record))
    return values[good], good, bad


def _as_numbers(column: pa.Array, name: str) -> Floats:
    """Numbers (n,), NaN for what is none."""
    kind = column.type
    if pa.types.is_temporal(kind):
        raise CommandError(
            f"Column {name!r} holds times ({kind}), not numbers: leave it out, by --columns, or "
            "turn it into a number of seconds or days first."
        )
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _parsed(pc.utf8_trim_whitespace(column))
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return np.full(len(column), np.nan)
    numbers = pc.cast(column, pa.float64(), safe=False)
    filled: Floats = pc.fill_null(numbers, float("nan")).to_numpy(zero_copy_only=False)
    return filled


def _parsed(column: pa.Array) -> Floats:
    """Texts to numbers by PyArrow's rules, NaN for what is none."""
    try:
        return _cast(column)
    except pa.ArrowInvalid:
        # Where all cells are words, to try each of them would take long.
        likely = pc.fill_null(pc.match_substring_regex(column, _LIKE_A_NUMBER), False)
        numbers = np.full(len(column), np.nan)
        numbers[likely.to_numpy(zero_copy_only=False)] = _halved(column.filter(likely))
        return numbers


def _cast(column: pa.Array) -> Floats:
    numbers = pc.fill_null(pc.cast(column, pa.float64()), float("nan"))
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _halved(column: pa.Array) -> Floats:
    """The same, in halves of halves until what PyArrow refuses is one cell."""
    try:
        return _cast(column)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return np.array([np.nan])
        half = len(column) // 2
        return np.concatenate([_halved(column[:half]), _halved(column[half:])])


def _why(value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        return "is empty"
    if isinstance(value, float) or _is_number(value):
        return f"holds {value}, which is not finite"
    return f"holds {_plain(value)!r:.60}, which is not a number"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _plain(value: Any) -> Any:
    """A cell as what JSON has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return str(value)


def looks_numeric(column: pa.ChunkedArray) -> bool:
    """Whether more than half of the cells of a text column that are not empty are numbers."""
    texts = pc.utf8_trim_whitespace(column).to_pylist()
    filled = [text for text in texts if text]
    return 2 * sum(map(_is_number, filled)) > len(filled)
