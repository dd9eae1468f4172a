"""`spclust reproduce`: run the paper's experiments again."""

import logging
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from spclust.cli.exit_codes import FAILED, CommandError, guarded, say

_NEEDED = ("matplotlib", "river", "markdown_it")  # by the extra `reproduce`


@guarded
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the report, figures and scores.")] = Path(
        "reproduction"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(help="aggregation, sine, highdim or overlapping; may be given repeatedly."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Search for all parameters again, 30 streams: slow.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Streams of each experiment.")] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=2, help="Trials of each search, with --full, --contestant or --data."),
    ] = None,
    contestant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:CLASS",
            help="An algorithm of yours: module:Class, file.py:Class, 'module:Class(eps=0.5)'; may "
            "be given repeatedly.",
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Run all algorithms on the rows of a table, or of an .npz, instead; may be given "
            "repeatedly.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of --data with the known classes; label, class, target or y by default.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = min(os.cpu_count() or 1, 8),
) -> None:
    """Run the paper's four experiments with all six algorithms, and write a report."""
    for name in _NEEDED:
        if find_spec(name) is None:
            raise CommandError(
                f"spclust reproduce needs {name}: install it with pip install 'spclust[reproduce]'."
            )

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from spclust.cli.sources.labelled_table import labelled_rows
    from spclust.experiments.reproduction import reproduce as run

    if label is not None and not data:
        raise CommandError("--label names a column of --data: name the file by --data, too.")
    own = [labelled_rows(path, label) for path in data or ()]
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting", total=1)

        def notify(what: str, done: int, steps: int) -> None:
            progress.update(task, description=what, completed=done, total=steps)
            if not console.is_terminal and done in (0, steps):
                print(f"{what}: {done} of {steps}", file=sys.stderr, flush=True)

        outcome = run(
            out,
            only=only or (),
            full=full,
            seeds=seeds,
            trials=trials,
            jobs=jobs,
            contestants=contestant or (),
            data=own,
            notify=notify,
            warn=lambda sentence: say(sentence, logging.ERROR),
        )
    print(out / "report.html")
    if outcome.contest.failures:
        raise typer.Exit(FAILED)
