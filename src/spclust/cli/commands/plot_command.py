"""`spclust plot`: draw a saved model of two columns."""

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
        str | None, typer.Option(metavar="INPUT", help="Rows to draw below the structures.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of rows to draw.")] = 10_000,
) -> None:
    """Draw the structures and clusters of a saved model of two columns."""
    from spclust.cli.model_figure import draw, require_drawable
    from spclust.prepared_model import PreparedModel

    prepared = PreparedModel.load(model)
    require_drawable(prepared.model.n_features_in_)
    rows = None if points is None else _first_rows(points, input_options, prepared, most)
    draw(prepared, out, rows)
    typer.echo(printable(str(out)))


def _first_rows(name: str, options: InputOptions, prepared: "PreparedModel", most: int) -> "Floats":
    """Up to `most` rows of an input, in the units of the model."""
    from spclust.tables.batches import read_batches

    batches = read_batches(
        [name],
        prepared.preparation.columns or options.columns,
        size=most,
        on_bad_row=options.on_bad_row,
        options=options.read_options(),
    )
    with closing(batches):
        first = next(batches, None)
    if first is None:
        raise CommandError(f"{name!r} has columns, but no rows that are good.")
    return prepared.prepare(first.values)
