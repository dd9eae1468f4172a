"""`spclust reproduce`: run the paper's experiments again."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from spclust.cli.exit_codes import CommandError, guarded

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
        int | None, typer.Option(min=2, help="Trials of each search, with --full.")
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

    from spclust.experiments.reproduction import reproduce as run

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting", total=1)

        def notify(what: str, done: int, steps: int) -> None:
            progress.update(task, description=what, completed=done, total=steps)
            if not console.is_terminal and done in (0, steps):
                print(f"{what}: {done} of {steps}", file=sys.stderr, flush=True)

        run(
            out,
            only=only or (),
            full=full,
            seeds=seeds,
            trials=trials,
            jobs=jobs,
            notify=notify,
        )
    print(out / "report.html")
