"""`spclust plot`: draw a saved model."""

from collections import deque
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spclust.cli.exit_codes import CommandError, guarded
from spclust.cli.options import InputOptions, grouped
from spclust.tables.table_error import printable

if TYPE_CHECKING:
    from spclust.array_types import Floats
    from spclust.prepared_model import PreparedModel

EPILOG = """
**Examples**

`spclust plot model.spc --points points.csv --out model.png`

`spclust plot model.spc --features speed,load`
"""


@grouped
@guarded
def plot(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A saved model.")],
    input_options: InputOptions,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The figure: .png, .svg or .pdf.")
    ] = Path("model.png"),
    points: Annotated[
        str | None,
        typer.Option(
            metavar="INPUT", help="Rows to draw below the structures: the last ones of it."
        ),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Two columns to show. If not given: both of two columns, one along a line, a "
            "projection of more.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of rows to draw.")] = 10_000,
) -> None:
    """Draw the structures and clusters of a saved model."""
    from spclust.cli.model_figure import draw, places_of, require_drawable
    from spclust.prepared_model import PreparedModel

    prepared = PreparedModel.load(model)
    require_drawable()
    places = None if features is None else places_of(features, prepared.names())
    rows = None if points is None else _last_rows(points, input_options, prepared, most)
    draw(prepared, out, rows, places)
    typer.echo(printable(str(out)))


def _last_rows(name: str, options: InputOptions, prepared: "PreparedModel", most: int) -> "Floats":
    """The last rows of an input, `most` at most, in the units of the model."""
    import numpy as np

    from spclust.tables.batches import read_batches

    batches = read_batches(
        [name],
        prepared.preparation.columns or options.columns,
        on_bad_row=options.on_bad_row,
        options=options.read_options(),
    )
    last: deque[Floats] = deque()
    with closing(batches):
        for batch in batches:
            last.append(batch.values)
            while sum(map(len, last)) - len(last[0]) >= most:
                last.popleft()
    if not last:
        raise CommandError(f"{name!r} has columns, but no rows that are good.")
    return prepared.prepare(np.concatenate(last)[-most:])
