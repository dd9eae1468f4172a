"""`spclust compare`: what has changed between two saved models."""

from typing import Annotated

import typer

from spclust.cli.exit_codes import guarded, say

EPILOG = """
**Examples**

`spclust compare monday.spc tuesday.spc`

`spclust compare models/ --since 1d --json | jq '.changes[] | select(.change == "born")'`
"""


@guarded
def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD NEW | DIR",
            help="Two saved models, or a directory of models, *.spc: the newest and the one "
            "before it.",
            show_default=False,
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Of a directory: the newest model, and the newest from before that time, such as "
            "6h or 7d ago, or a date.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Tell which clusters were born, are gone, merged, split, moved, have grown or shrunk."""
    from spclust.cli.comparison.comparison_report import (
        NOT_RECORDED,
        headline,
        record_of,
        table_of_changes,
    )
    from spclust.cli.comparison.model_choice import chosen_models
    from spclust.cli.summary import print_json, print_table
    from spclust.model_comparison import compare as compared
    from spclust.prepared_model import PreparedModel

    paths = chosen_models(models, since)
    old, new = (PreparedModel.load(path) for path in paths)
    found = compared(old, new)
    if not found.recorded:
        say(NOT_RECORDED)
    if as_json:
        print_json(record_of(found, old, new, paths))
        return
    typer.echo(headline(found, paths))
    print_table(table_of_changes(found, new.names()))
