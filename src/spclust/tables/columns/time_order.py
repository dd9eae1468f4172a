"""Rows in order of time: those whose time goes backwards are bad rows."""

from typing import TYPE_CHECKING

import numpy as np

from spclust.array_types import Booleans
from spclust.tables.cells import plain
from spclust.tables.chunks import BadRow, Columns
from spclust.time_units import date_text

if TYPE_CHECKING:
    from spclust.tables.batches import Batch


def ordered(batch: "Batch", columns: Columns, last: float | None) -> tuple["Batch", float | None]:
    """A batch whose times never go backwards, and the last time; `last` is the one before it.

    Rows that are earlier than one before them become bad rows.
    """
    if batch.time is None or not len(batch.time):
        return batch, last
    before = np.concatenate([batch.time[:1] if last is None else [last], batch.time[:-1]])
    latest = np.maximum.accumulate(before)
    late: Booleans = batch.time < latest
    if late.any():
        late_rows = [
            _bad_row(batch, columns, int(at), float(latest[at])) for at in np.flatnonzero(late)
        ]
        bad = [*batch.bad, *late_rows]
        if len(batch.files) < 2:  # rows are numbered in each file
            bad.sort(key=lambda each: each[1].row)
        batch = batch.kept(~late)._replace(bad=bad)
    assert batch.time is not None
    return batch, float(batch.time[-1]) if len(batch.time) else last


def shown_time(seconds: float, *, dated: bool) -> str | float:
    """A time as people and JSON have it."""
    return date_text(seconds) if dated else seconds


def _bad_row(batch: "Batch", columns: Columns, at: int, latest: float) -> tuple[str, BadRow]:
    """What is wrong with a row, by its place in the batch, and the file that it is in."""
    assert batch.time is not None
    number = int(batch.row[at])
    files = batch.files or (("the input", 0),)
    path, before = [each for each in files if each[1] < number][-1]
    now, then = (shown_time(float(t), dated=columns.dated) for t in (batch.time[at], latest))
    cells = dict(zip(columns.features, batch.values[at].tolist(), strict=True))
    cells |= batch.extra.slice(at, 1).to_pylist()[0] if columns.extra else {}
    record = {
        "column": columns.time,
        "value": now,
        "cells": {k: plain(v) for k, v in cells.items()},
    }
    why = f"column {columns.time!r}, of times, goes back from {then} to {now}"
    return path, BadRow(number - 1 - before, why, record)
