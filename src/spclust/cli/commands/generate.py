"""`spclust generate`: write a table to try the other commands on."""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from spclust.cli.exit_codes import guarded

if TYPE_CHECKING:
    from spclust.array_types import Floats, Integers

EPILOG = """
**Examples**

`spclust generate drifting --out stream.csv`

`spclust generate blobs --rows 1000000 --columns 5 --out points.parquet`
"""
_AT_A_TIME = 100_000  # rows of blobs, which limits the memory


class Kind(StrEnum):
    """Streams that can be generated."""

    BLOBS = "blobs"
    DRIFTING = "drifting"
    SINE = "sine"


@guarded
def generate(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="blobs: fixed Gaussians; drifting: clusters that are born, die, merge, split and "
            "move; sine: three waves that move."
        ),
    ] = Kind.DRIFTING,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="CSV, NDJSON, Parquet ... by the ending; - for standard output."
        ),
    ] = "-",
    rows: Annotated[int, typer.Option(min=1, help="Number of rows.")] = 20_000,
    columns: Annotated[int, typer.Option(min=1, help="Columns of numbers, of blobs only.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
) -> None:
    """Write an example table: columns x0, x1, ... of numbers, and the class of each row."""
    import pyarrow as pa

    from spclust.tables.writers import open_writer

    writer = open_writer(out, option="")
    for X, y in _parts(kind, rows, columns, seed):
        features = {f"x{i}": X[:, i].round(4) for i in range(X.shape[1])}
        writer.add(pa.table({**features, "class": y}))
    writer.close()


def _parts(kind: Kind, rows: int, columns: int, seed: int) -> Iterator[tuple["Floats", "Integers"]]:
    """The stream in parts of limited size."""
    import numpy as np

    from spclust.datasets import make_drifting, make_sine

    if kind is Kind.DRIFTING:
        X, y, _ = make_drifting(rows, seed=seed)
        yield X, y
    elif kind is Kind.SINE:
        yield make_sine(rows, seed=seed)
    else:
        rng = np.random.default_rng(seed)
        centres = rng.uniform(0.0, 40.0, (7, columns))
        for start in range(0, rows, _AT_A_TIME):
            y = rng.integers(0, len(centres), min(_AT_A_TIME, rows - start))
            yield centres[y] + rng.normal(size=(len(y), columns)), y
