"""`spclust info`: show a saved model."""

from typing import Annotated, Any

import typer

from spclust.cli.exit_codes import guarded
from spclust.tables.table_error import printable

EPILOG = """
**Examples**

`spclust info model.spc --structures`

`spclust info model.spc --json | jq .clusters`
"""


@guarded
def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A saved model.")],
    structures: Annotated[
        bool, typer.Option("--structures", help="Show the structures too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Show the clusters of a saved model, its parameters, and possible problems."""
    from spclust.cli.summary import plain_parameter, print_json, print_table, table_of
    from spclust.prepared_model import PreparedModel

    prepared = PreparedModel.load(model)
    spc, preparation = prepared.model, prepared.preparation
    clusters, parts = prepared.records("clusters"), prepared.records("structures")
    findings = spc.diagnose()
    parameters = spc.get_params()
    if as_json:
        record: dict[str, Any] = {
            "rows": spc.n_samples_seen_,
            **preparation.as_plain(),
            "parameters": {name: plain_parameter(value) for name, value in parameters.items()},
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
    given = {name: plain_parameter(value) for name, value in parameters.items()}
    shown = ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)
    typer.echo(printable(f"parameters: {shown}"))
    if preparation.centre is not None:
        typer.echo("columns were standardised; what is shown is in the units of the data")
    for finding in findings:
        typer.echo(printable(f"note: {finding}"))
