"""The command against the library: `python -m benchmarks.command`, a table on the terminal.

A stream is written as CSV, with all digits, and as Parquet. The library learns it from memory, the
command from these files, each in a process of its own. Two throughputs are compared: rows a second
during learning, and rows a second including the start, which is the start of the process for the
command, and the import and the first points for the library.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import stored

STRUCTURES = 50
AT_A_TIME = 100_000
MOST_MEMORY = 400.0  # MB
SHARES = {"CSV": 0.4, "Parquet": 0.7}  # minimum share of the library's throughput, without labels

LIBRARY = """
import json, sys, time
import numpy as np
from benchmarks.command import STRUCTURES, stream
rows, d = int(sys.argv[1]), int(sys.argv[2])
X = np.concatenate(list(stream(rows, d)))
started = time.perf_counter()
from spclust import SPC
SPC(STRUCTURES).partial_fit(X[:1000])
ready = time.perf_counter()
model = SPC(STRUCTURES)
for start in range(0, rows, 10_000):
    model.partial_fit(X[start : start + 10_000])
print(json.dumps([time.perf_counter() - started, time.perf_counter() - ready]))
"""


class Result(NamedTuple):
    """One run."""

    what: str
    whole: float  # rows a second, the start included
    learning: float  # rows a second, during reading and learning
    memory: float  # maximum resident MB
    target: float | None = None


def stream(rows: int, d: int) -> Iterator[NDArray[np.float64]]:
    """Gaussian clusters, some rows at a time."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (7, d))
    for start in range(0, rows, AT_A_TIME):
        size = min(AT_A_TIME, rows - start)
        yield centres[rng.integers(0, 7, size)] + rng.normal(size=(size, d))


def write_files(folder: Path, rows: int, d: int) -> None:
    """The stream as CSV and as Parquet."""
    schema = pa.schema([(f"x{i}", pa.float64()) for i in range(d)])
    with (
        pacsv.CSVWriter(folder / "stream.csv", schema) as text,
        pq.ParquetWriter(folder / "stream.parquet", schema) as columns,
    ):
        for X in stream(rows, d):
            table = pa.table(list(X.T), schema=schema)
            text.write_table(table)
            columns.write_table(table)


def library(rows: int, d: int) -> tuple[float, float]:
    """Rows a second that the library learns from memory, with and without its start."""
    command = [sys.executable, "-c", LIBRARY, str(rows), str(d)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole, learning = json.loads(done.stdout)
    return rows / float(whole), rows / float(learning)


def command(rows: int, *arguments: str) -> tuple[float, float, float]:
    """Rows a second of the command in total and during learning, and its memory in MB."""
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", "spclust.cli", "cluster", *arguments, "--json"], stdout=out
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"the command failed with exit code {child.returncode}")
        out.seek(0)
        summary: dict[str, Any] = json.loads(out.read())
    if summary["rows"] != rows:
        raise SystemExit(f"the command read {summary['rows']} rows of {rows}")
    return rows / seconds, rows / summary["seconds"], usage.ru_maxrss * 1024 / 1e6


def measured(rows: int, d: int) -> list[Result]:
    """All runs on one stream."""
    results = [Result("library", *library(rows, d), float("nan"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, rows, d)
        for kind, ending in (("CSV", "csv"), ("Parquet", "parquet")):
            given = [str(folder / f"stream.{ending}"), "--n-structures", str(STRUCTURES)]
            results.append(Result(kind, *command(rows, *given), SHARES[kind]))
            labels = str(folder / f"labels.{ending}")
            results.append(Result(f"{kind}, labels", *command(rows, *given, "--out", labels)))
    return results


def report(results: list[Result], rows: int, d: int) -> bool:
    """Print a table; return True if all targets are met."""
    table = Table(title=f"{rows:,} rows of {d} columns, {STRUCTURES} structures")
    for title in (
        "",
        "rows/s, learning",
        "share",
        "rows/s, with start",
        "share",
        "memory",
        "target",
    ):
        table.add_column(title, justify="right")
    base, met = results[0], True
    for each in results:
        shares = each.learning / base.learning, each.whole / base.whole
        verdict = ""
        if each.target is not None:
            kept = min(shares) >= each.target and each.memory < MOST_MEMORY
            met = met and kept
            verdict = f"{'met' if kept else 'NOT met'} ({each.target:.0%}, {MOST_MEMORY:.0f} MB)"
        memory = "" if np.isnan(each.memory) else f"{each.memory:.0f} MB"
        table.add_row(
            each.what,
            f"{each.learning:,.0f}",
            f"{shares[0]:.0%}",
            f"{each.whole:,.0f}",
            f"{shares[1]:.0%}",
            memory,
            verdict,
        )
    Console(width=120).print(table)
    return met


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 10])
    stored.add_option(parser)
    options = parser.parse_args()
    met, figures = [], {}
    for d in options.columns:
        results = measured(options.rows, d)
        met.append(report(results, options.rows, d))
        for each in results:
            for what in ("learning", "whole", "memory"):
                figures[f"{d}-D/{each.what}/{what}"] = float(getattr(each, what))
    if options.store:
        stored.store("command", figures, options)
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
