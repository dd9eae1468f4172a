"""`spclust merge`: merge saved models."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spclust.cli.exit_codes import CommandError, guarded
from spclust.tables.table_error import printable

EPILOG = """
**Examples**

`spclust merge monday.spc tuesday.spc wednesday.spc --when later --out week.spc`
"""


@guarded
def merge(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL", help="Saved models of the same parameters and columns."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the merged model.")],
    when: Annotated[
        Literal["concurrent", "later"],
        typer.Option(
            help="concurrent: the models learnt at the same time; later: each learnt what came "
            "after the model before it."
        ),
    ] = "concurrent",
) -> None:
    """Merge models of shards, or of successive parts, of one stream into one model."""
    from spclust.estimators.model_merge import merge_all
    from spclust.prepared_model import PreparedModel

    loaded = [PreparedModel.load(path) for path in models]
    first = loaded[0].preparation
    for path, prepared in zip(models, loaded, strict=True):
        other = prepared.preparation
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
    merged = merge_all([prepared.model for prepared in loaded], when=when)
    PreparedModel(merged, first).save(out)
    typer.echo(
        f"{merged.n_samples_seen_:,} rows, {merged.n_clusters_} clusters of "
        f"{len(merged.clustering())} structures: {printable(str(out))}"
    )
