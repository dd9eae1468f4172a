"""Lines of JSON that are all good, as numbers: msgspec decodes each of them to the cells wanted."""

from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from spclust.array_types import Floats
from spclust.tables.chunks import Columns

_NARROW = 256  # columns: of more, msgspec is no faster, and slow if lines differ in their order
_EXACT = 2.0**53  # larger integers are rounded when they become floats


def features_and_times(data: bytes, columns: Columns) -> tuple[Floats, pa.Table] | None:
    """The features of lines, and a table of their times; None if a line may be bad."""
    d, names = len(columns.features), columns.read
    if d > _NARROW:
        return None
    try:
        if not data.isascii():
            data.decode()  # texts that nobody asked for are not checked below
        rows = map(_decoder(columns).decode, filter(None, lines_of(data)))
        cells = list(chain.from_iterable(map(msgspec.structs.astuple, rows)))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if columns.time is None:
        return np.array(cells, dtype=np.float64).reshape(-1, d), pa.table({})
    table = np.array(cells, dtype=object).reshape(-1, len(names))
    values, times = table[:, :d].astype(np.float64), table[:, names.index(columns.time)]
    if columns.dated:
        return values, pa.table({columns.time: pa.array(times, pa.string())})
    if np.any(np.abs(times) > _EXACT):
        return None  # integers that were rounded
    return values, pa.table({columns.time: pa.array(times, pa.float64())})


@lru_cache(maxsize=16)
def _decoder(columns: Columns) -> Any:
    """Decodes a line to its features and its time; MsgspecError if it has not all of them."""
    cells = []
    for i, name in enumerate(columns.read):
        kind = str if columns.dated and name == columns.time else float
        cells.append((f"cell_{i}", kind, msgspec.field(name=name)))
    return msgspec.json.Decoder(msgspec.defstruct("Row", cells, gc=False))


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a text, without a mark at its beginning."""
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
