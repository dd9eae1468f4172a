"""`spclust info`, `spclust plot` and `spclust merge`: what can be done with saved models."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from spclust.cli.exit_codes import CommandError, guarded
from spclust.cli.grouping import grouped
from spclust.cli.options import Reading

INFO_EPILOG = """
**Examples**

`spclust info model.spc --structures`

`spclust info model.spc --json | jq .clusters`
"""
PLOT_EPILOG = """
**Examples**

`spclust plot model.spc --points points.csv --out model.png`
"""
MERGE_EPILOG = """
**Examples**

`spclust merge monday.spc tuesday.spc wednesday.spc --when later --out week.spc`
"""

_Model = Annotated[str, typer.Argument(metavar="MODEL", help="A saved model.")]


@guarded
def info(
    model: _Model,
    structures: Annotated[
        bool, typer.Option("--structures", help="Show the structures too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
) -> None:
    """Show the clusters of a saved model, its parameters, and what looks wrong."""
    from spclust.cli.models import load_model
    from spclust.cli.summary import clusters_of, print_json, print_table, structures_of, table_of

    spc, preparation = load_model(model)
    clusters, parts = clusters_of(spc, preparation), structures_of(spc, preparation)
    findings = spc.diagnose()
    parameters = spc.get_params()
    if as_json:
        record: dict[str, Any] = {
            "rows": spc.n_samples_seen_,
            **preparation.as_plain(),
            "parameters": {
                name: str(value) if value in (float("inf"), float("-inf")) else value
                for name, value in parameters.items()
            },
            "clusters": clusters,
            "structures": parts,
            "diagnosis": [str(finding) for finding in findings],
        }
        print_json(record)
        return
    count = f"{len(clusters)} clusters of {len(parts)} structures"
    typer.echo(f"{spc.n_samples_seen_:,} rows: {count}")
    print_table(table_of(clusters))
    if structures:
        print_table(table_of(parts))
    shown = ", ".join(f"{name}={value}" for name, value in parameters.items() if value is not None)
    typer.echo(f"parameters: {shown}")
    if preparation.centre is not None:
        typer.echo("columns were standardised; what is shown is in the units of the data")
    for finding in findings:
        typer.echo(f"note: {finding}")


@grouped
@guarded
def plot(
    model: _Model,
    reading: Reading,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The figure: .png, .svg or .pdf.")
    ] = Path("model.png"),
    points: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Rows to draw below the structures.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Rows to draw at the most.")] = 10_000,
) -> None:
    """Draw the structures and clusters of a saved model of two columns."""
    from spclust.cli.model_figure import draw, refuse_undrawable
    from spclust.cli.models import load_model

    spc, preparation = load_model(model)
    refuse_undrawable(spc.n_features_in_)
    rows = None if points is None else _first_rows(points, reading, preparation, most)
    draw(spc, preparation, out, rows)
    typer.echo(str(out))


def _first_rows(name: str, reading: Reading, preparation: Any, most: int) -> Any:
    """Up to so many rows of an input, as the model sees them."""
    from spclust.tables.batches import Tables, in_batches
    from spclust.tables.chunks import Position, Wanted
    from spclust.tables.inputs import expanded
    from spclust.tables.readers import chosen_features

    with Tables(expanded([name]), reading, follow=False, stopped=lambda: False) as tables:
        path, source = tables.first()
        features = preparation.columns or tuple(chosen_features(source, path, reading, ()))
        batches = in_batches(tables, Wanted(features), Position(), size=most)
        first = next(batches, None)
    if first is None:
        raise CommandError(f"{path!r} has columns, but no rows.")
    return preparation.applied(first.values)


@guarded
def merge(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL", help="Saved models of the same parameters and columns."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the merged model goes.")],
    when: Annotated[
        Literal["concurrent", "later"],
        typer.Option(
            help="Whether the models learnt at the same time, or each what came after the one "
            "before it."
        ),
    ] = "concurrent",
) -> None:
    """Make one model of several, shards of one stream or parts of it."""
    from spclust.cli.models import load_model, save_model
    from spclust.estimators.model_merge import merge_all

    loaded = [load_model(path) for path in models]
    first = loaded[0][1]
    for path, (_, other) in zip(models, loaded, strict=True):
        if other.columns != first.columns:
            raise CommandError(
                f"{path!r} has the columns {', '.join(other.columns)}, but {models[0]!r} has "
                f"{', '.join(first.columns)}: models that are merged must have the same."
            )
        if other.as_plain() != first.as_plain():
            raise CommandError(
                f"{path!r} and {models[0]!r} are standardised in different ways, so that their "
                "structures cannot be compared: cluster without --standardise to merge."
            )
    merged = merge_all([spc for spc, _ in loaded], when=when)
    save_model(out, merged, first)
    typer.echo(
        f"{merged.n_samples_seen_:,} rows, {merged.n_clusters_} clusters of "
        f"{len(merged.clustering())} structures: {out}"
    )
