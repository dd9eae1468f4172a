"""Quality of the defaults: `python -m benchmarks.quality [FOLDER]`, beside other algorithms.

Jobs: static (clusters of sets without time, NMI), stream (clusters of streams, each batch labelled
before it is learnt, NMI), outlier (each batch scored before it is learnt, ROC-AUC), robustness
(streams with outliers, with a glitch, in other units), typicality (of points outside and inside;
false alarms). FOLDER has the folders static, stream and outlier with files NAME.npz of X and y; it
is $SPCLUST_DATA/quality if it is not given, or shared/data/quality beside the checkout. Generated
sets are always included; --only generated has no others.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks import machine, stored
from benchmarks.quality.sources import FULL, QUICK, folder_of
from benchmarks.quality.summary import Grid, grids, markdown, parameter_grid, reasons
from benchmarks.quality.tasks import JOBS, Record, known, run, tasks

OUT = Path("output/bench")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="few sets, one order: two minutes")
    parser.add_argument("--jobs", default=",".join(JOBS), help="default: %(default)s")
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="regular expression in job/group/set/name"
    )
    parser.add_argument("--seed", type=int, default=0, help="of generated sets and orders")
    parser.add_argument("--seeds", type=int, default=1, help="generated sets of each kind")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--limit", type=float, help="processor seconds of a contestant on a set")
    parser.add_argument(
        "--contestant",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="a clusterer of yours, for the jobs static, stream and robustness; repeatable",
    )
    stored.add_option(parser)
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR")
    options = parser.parse_args(arguments)
    options.jobs = [job for job in options.jobs.split(",") if job]
    if unknown := set(options.jobs) - set(JOBS):
        parser.error(f"no job is called {', '.join(sorted(unknown))}: there are {', '.join(JOBS)}")
    return options


def rich_table(grid: Grid) -> Table:
    """A grid for the terminal; SPC in bold."""
    table = Table(title=grid.title, title_justify="left")
    texts = grid.title == "Parameters"
    for number, name in enumerate(grid.head):
        justify: Literal["left", "right"] = "left" if texts or not number else "right"
        table.add_column(name, justify=justify, no_wrap=not number, overflow="fold")
    for row in grid.rows:
        bold = row[0].startswith("SPC")
        table.add_row(*row, style="bold" if bold else None)
    return table


def write(records: list[Record], about: dict[str, Any], out: Path) -> list[Path]:
    """Write JSON, Markdown and, if there is a number, the figure."""
    from benchmarks.quality.figure import draw

    out.mkdir(parents=True, exist_ok=True)
    data, text, image = (out / f"quality.{end}" for end in ("json", "md", "png"))
    data.write_text(json.dumps({**about, "records": records}, indent=1) + "\n")
    text.write_text(markdown(records))
    return [data, text, *([image] if draw(records, image) else [])]


def figures(records: list[Record]) -> dict[str, float]:
    """The numbers of all grids, by grid, row and column."""
    return {
        f"{grid.key}/{row[0]}/{head}": stored.number(cell)
        for grid in grids(records)
        for row in grid.rows
        for head, cell in zip(grid.head[1:], row[1:], strict=True)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, show and store."""
    options = parsed(arguments)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    size = QUICK if options.quick else FULL
    if options.limit is not None:
        size = size._replace(limit=options.limit)
    try:
        folder = folder_of(options.folder)
    except FileNotFoundError as error:
        console.print(error, markup=False)
        return 2
    seeds = range(options.seed, options.seed + options.seeds)
    texts = known(options.contestant, lambda sentence: console.print(sentence, markup=False))
    todo = tasks(options.jobs, folder, size, seeds, options.only, texts)
    start = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task("measuring", total=len(todo))

        def done(one: Record) -> None:
            text = f"{one['job']}: {one['set']}, {one['contestant']}"
            progress.update(bar, advance=1, description=f"{text:60.60}")

        records = run(todo, options.processes, done)
    about = {
        "machine": machine.describe(),
        "seed": options.seed,
        "seeds": options.seeds,
        "size": size._asdict(),
        "folder": folder is not None,
        "seconds": time.perf_counter() - start,
    }
    for grid in (*grids(records), parameter_grid(records)):
        console.print(rich_table(grid))
    for line in reasons(records):
        console.print(line, markup=False)
    if options.store:
        for job in options.jobs:
            if own := [one for one in records if one["job"] in JOBS[job]]:
                stored.store(f"quality_{job}", figures(own), options)
    files = write(records, about, options.out)
    console.print(f"{about['seconds']:.0f} s. Written: {', '.join(map(str, files))}")
    return 0 if len(texts) == len(options.contestant) else 1


if __name__ == "__main__":
    sys.exit(main())
