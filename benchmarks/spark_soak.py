"""Soak test of a stream on Spark: `python -m benchmarks.spark_soak` checks that nothing grows.

Points are generated as fast as they are learnt, on a cluster of two executors. Sampled every few
seconds: memory of all processes, heaps of the JVMs after a collection, size of the checkpoint with
the state store, points a second and the duration of a trigger. A quantity is not flat if its median
has grown by more than a tenth from the second third of the run to the last. A table goes to the
terminal, a figure to output/bench/spark_soak.png.

Spark removes old versions of the state once a minute. Until then they add up, and fast triggers
leave more of them: so the size of the checkpoint after cleaning, its minimum of each two minutes,
must be flat. Its medians are shown without a verdict.

The engine keeps the history of a thousand jobs for its web pages, and the driver's memory grows
until there are that many; here it keeps fifty, so that minutes suffice.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.spark_cluster import cluster, roles
from spclust import SPC
from spclust.spark import fit_stream

MOST_GROWTH = 1.10
_MB = 1e6
_SHORT_HISTORY = {
    f"spark.{name}": "50"
    for name in (
        "ui.retainedJobs",
        "ui.retainedStages",
        "ui.retainedTasks",
        "sql.ui.retainedExecutions",
        "sql.streaming.ui.retainedQueries",
    )
}
_CHECKPOINT = "checkpoint with state, MB"
_CLEANED = 120.0  # seconds in which the checkpoint is cleaned at least once
# Quantities that may grow: more is better.
_GOOD = ("points a second",)

Samples = dict[str, list[tuple[float, float]]]  # seconds since the start, value


def generated(spark: Any, rows: int) -> Any:
    """A stream of 20 clusters in the plane, with `rows` rows in each trigger."""
    from pyspark.sql import functions as sql

    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)

    def uniform(salt: int) -> Any:
        return sql.pmod(sql.xxhash64("value", sql.lit(salt)), sql.lit(1 << 20)) / float(1 << 20)

    stream = source.option("numPartitions", 2).load()
    x = sql.floor(5 * uniform(1)) * 8 + uniform(2) + uniform(3)
    y = sql.floor(4 * uniform(4)) * 8 + uniform(5) + uniform(6)
    return stream.select(x.alias("x"), y.alias("y"))


def size_of(folder: Path) -> int:
    """Bytes of all files; files that are removed meanwhile are ignored."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name)).st_size
            except FileNotFoundError:
                continue
    return total


def heap_in_use(pid: int) -> float | None:
    """Bytes of a JVM's heap after a collection; None if this Java has no jcmd."""
    tool = Path(os.environ["JAVA_HOME"]) / "bin" / "jcmd"
    if not tool.exists():
        return None
    subprocess.run([tool, str(pid), "GC.run"], capture_output=True, check=False)
    info = subprocess.run([tool, str(pid), "GC.heap_info"], capture_output=True, text=True)
    used = re.search(r"heap.*used (\d+)K", info.stdout)
    return 1024.0 * int(used.group(1)) if used else None


class Sampler:
    """Samples of all quantities so far."""

    def __init__(self, checkpoint: Path) -> None:
        self.samples: Samples = {}
        self._checkpoint, self._began = checkpoint, time.monotonic()
        self._points, self._at = 0, 0.0

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def sample(self, query: Any, *, heaps: bool) -> None:
        """Take one sample of all quantities; of heaps, which is slow, only if asked."""
        here = roles(os.getpid())
        for role, processes in here.items():
            self._note(f"{role}, MB", sum(one.resident for one in processes) / _MB)
        if heaps:
            for role in ("driver JVM", "executor JVMs"):
                used = [heap_in_use(one.pid) for one in here[role]]
                known = [value for value in used if value is not None]
                if known:
                    self._note(f"heap after GC, {role}, MB", sum(known) / _MB)
        models = size_of(self._checkpoint / "models")
        self._note(_CHECKPOINT, (size_of(self._checkpoint) - models) / _MB)
        self._note("published models, MB", models / _MB)
        if query.exception() is not None:
            raise SystemExit(f"the stream failed: {query.exception()}")
        if query.lastProgress is not None:
            self._note("trigger, ms", query.lastProgress.durationMs["triggerExecution"])
        self._note_points()

    def _note_points(self) -> None:
        try:
            status = json.loads((self._checkpoint / "models" / "newest.json").read_bytes())
        except FileNotFoundError:
            return
        now, points = self.seconds(), int(status["points"])
        if self._points and points > self._points:
            self._note("points a second", (points - self._points) / (now - self._at))
        if points > self._points:
            self._points, self._at = points, now
        self._note("points, millions", points / 1e6)
        self._note("triggers", status["trigger"] + 1)

    def _note(self, what: str, value: float) -> None:
        self.samples.setdefault(what, []).append((self.seconds(), float(value)))


def soaked(seconds: float, every: float, rows: int, folder: Path) -> Samples:
    """Run the stream, and return the samples."""
    checkpoint = folder / "checkpoint"
    with cluster("local-cluster[2,1,1024]", folder, _SHORT_HISTORY) as spark:
        query = fit_stream(generated(spark, rows), ["x", "y"], SPC(50), checkpoint, shards=2)
        while query.lastProgress is None and query.exception() is None:
            time.sleep(0.1)  # compilation and start are not sampled
        sampler, number = Sampler(checkpoint), 0
        while sampler.seconds() < seconds:
            sampler.sample(query, heaps=number % 2 == 0)
            number += 1
            time.sleep(max(0.0, number * every - sampler.seconds()))
        query.stop()
    return sampler.samples


def thirds(samples: list[tuple[float, float]], seconds: float) -> list[float]:
    """Median of each third of the time."""
    parts: list[list[float]] = [[], [], []]
    for at, value in samples:
        parts[min(2, int(3 * at / seconds))].append(value)
    return [statistics.median(part) if part else float("nan") for part in parts]


def after_cleaning(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The smallest sample of each two minutes."""
    parts: dict[int, list[tuple[float, float]]] = {}
    for at, value in samples:
        parts.setdefault(int(at / _CLEANED), []).append((at, value))
    return [min(part, key=lambda sample: sample[1]) for part in parts.values()]


def report(samples: Samples, seconds: float) -> bool:
    """Print a table; return True if everything is flat."""
    samples = {**samples, "checkpoint after cleaning, MB": after_cleaning(samples[_CHECKPOINT])}
    title = f"{seconds:.0f} s, 2-D, N = 50, two executors, {machine.cpu_model()}"
    table = Table("medians", "first third", "second", "last", "growth", "", title=title)
    flat = True
    for what, values in samples.items():
        if what in ("points, millions", "triggers"):
            table.add_row(what, "", "", f"{values[-1][1]:,.0f}", "", "at the end")
            continue
        first, second, last = thirds(values, seconds)
        growth = last / second
        kept = (1 / growth if what in _GOOD else growth) <= MOST_GROWTH
        verdict = "flat" if kept else "NOT flat"
        if what == _CHECKPOINT:
            verdict = "between cleanings"
        else:
            flat = flat and kept
        numbers = [
            f"{value:,.1f}" if value < 10 else f"{value:,.0f}" for value in (first, second, last)
        ]
        table.add_row(what, *numbers, f"{growth:.2f}", verdict)
    Console(width=110).print(table)
    return flat


def draw(samples: Samples, path: Path) -> None:
    """Plot one panel for each quantity."""
    shown = [what for what in samples if what not in ("triggers", "points, millions")]
    rows = -(-len(shown) // 2)
    figure, panels = plt.subplots(rows, 2, figsize=(10, 1.9 * rows), sharex=True, squeeze=False)
    for axes, what in zip(panels.flat, shown, strict=False):
        axes.plot(*zip(*samples[what], strict=True), color="#0072B2", linewidth=1.2)
        axes.set_ylim(bottom=0)
        axes.set_title(what, fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.flat[len(shown) :]:
        axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("seconds")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples")
    parser.add_argument("--rows", type=int, default=400_000, help="points in a trigger")
    parser.add_argument("--out", type=Path, default=Path("output/bench"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        samples = soaked(options.seconds, options.every, options.rows, Path(folder))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "spark_soak.json").write_text(json.dumps(samples))
    draw(samples, options.out / "spark_soak.png")
    sys.exit(0 if report(samples, options.seconds) else 1)


if __name__ == "__main__":
    main()
