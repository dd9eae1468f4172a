"""Run the benchmark: tables on the terminal, `bench.json` and `bench.png` in the output folder."""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from benchmarks import machine, plot, report, schedule, startup, stored
from benchmarks.competitor import Competitor
from benchmarks.competitors import PEERS
from benchmarks.pool import Pool, environment
from benchmarks.results import Key, Results, label
from benchmarks.schedule import Group
from benchmarks.targets import judge_all


@dataclass
class Display:
    """Progress: a bar on a terminal, a line for each step elsewhere."""

    console: Console
    bar: Progress
    started: float = field(default_factory=time.perf_counter)

    def step(self, title: str, steps: int) -> TaskID:
        """Announce a phase with its number of steps; return the handle for `advance`."""
        if not self.console.is_terminal:
            self.console.print(f"{time.perf_counter() - self.started:5.0f} s  {title}")
        return self.bar.add_task(title, total=steps)

    def advance(self, task: TaskID, what: str) -> None:
        """Count a step, and show the name of the next."""
        self.bar.update(task, advance=1, what=what)


@contextmanager
def display(console: Console) -> Iterator[Display]:
    """A display that is removed at the end."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns,
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        yield Display(console, bar)


def run_groups(groups: Sequence[Group], results: Results, log: Path, shown: Display) -> None:
    """Run all jobs; within a group in rounds, so that noise affects all competitors alike."""
    competitors = {job.competitor.name: job.competitor for group in groups for job in group.jobs}
    with log.open("w") as stderr, Pool(competitors.values(), stderr) as pool:
        task = shown.step("starting all competitors", len(competitors))
        for competitor in competitors.values():
            pool.greet(competitor)
            shown.advance(task, competitor.name)
        results.missing.update(pool.missing)
        for group in groups:
            run_group(group, pool, results, shown)


def run_group(group: Group, pool: Pool, results: Results, shown: Display) -> None:
    """Run every job once in each round; a job that failed is not repeated."""
    plans: dict[Key, tuple[int, int]] = {}
    for number in range(1, group.rounds + 1):
        task = shown.step(f"{group.title}: round {number} of {group.rounds}", len(group.jobs))
        for job in group.jobs:
            shown.advance(task, label(job.key))
            if job.competitor.name in results.missing or label(job.key) in results.missing:
                continue
            answer = pool.ask(
                job.competitor.name,
                {
                    "stream": job.stream,
                    "n": job.n,
                    "measure": job.measure,
                    "budget": job.budget,
                    "points": job.points,
                    "plan": plans.get(job.key),
                },
            )
            if "error" in answer:
                results.missing[label(job.key)] = answer["error"]
            else:
                plans[job.key] = answer["plan"]
                results.add(job.key, answer)


def run_startup(results: Results, rounds: dict[str, int], shown: Display) -> None:
    """Time the start of new processes."""
    for what, times in rounds.items():
        task = shown.step(f"SPC: {what}", times)
        for _ in range(times):
            shown.advance(task, what)
            seconds = startup.measure(what, environment())
            results.startup.setdefault(what, []).append(seconds)


def chosen(only: Sequence[str]) -> list[Competitor]:
    """Peers whose names contain one of the words; all peers if there are no words."""
    return [
        peer
        for peer in PEERS
        if not only or any(word.lower() in peer.name.lower() for word in only)
    ]


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first impression in 90 seconds")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="SPC and these peers only"
    )
    parser.add_argument("--out", type=Path, default=Path("output/bench"), metavar="DIR")
    stored.add_option(parser)
    parser.add_argument("--check", action="store_true", help="fail if a target is not met")
    return parser.parse_args()


def main() -> int:
    """Measure, show and store; return 1 if `--check` is given and a target is not met."""
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    results = Results(machine=machine.describe())
    groups = list((schedule.quick if options.quick else schedule.full)(chosen(options.only)))
    starts = {"import": 3, "import and first fit": 5}
    with display(console) as shown:
        run_startup(results, starts if options.quick else {**starts, "cold compile": 2}, shown)
        run_groups(groups, results, options.out / "workers.log", shown)
    verdicts = judge_all(results)
    content = {**results.as_json(), "targets": [one.as_json() for one in verdicts]}
    (options.out / "bench.json").write_text(json.dumps(content, indent=1) + "\n")
    plot.draw(results, options.out / "bench.png")
    report.show(console, results, verdicts)
    console.print(f"Written to {options.out}: bench.json, bench.png")
    if options.store:
        stored.store("bench", results.figures(), options)
    return int(options.check and any(one.verdict == "NOT met" for one in verdicts))


if __name__ == "__main__":
    sys.exit(main())
