"""Overhead of Spark per point, and speed-up by a second worker: `python -m benchmarks.spark`.

The same points, as Parquet files, are learnt by the library alone and by Spark on clusters of one
and of two executors, each a JVM of its own with one core and its own Python workers. Every method
also learns a table of a few points in as many files: this is its fixed cost, of starting jobs and
of merging; the remaining time, divided by the number of points, is the cost of a point. Methods run
in turn, best of several rounds.

Executors have a core each, as if they were machines: an executor that may use all cores reads on a
second core while Python learns on the first. The speed-up is reported for both cases.
"""

import argparse
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.command import stream
from benchmarks.spark_cluster import bind_executors, cluster
from spclust import SPC
from spclust.spark import fit, fit_stream, predict

FILES = 8
FEW = 4_000  # points of the table that shows the fixed cost
AT_A_TIME = 10_000  # rows of a batch, as in Spark
SPEEDUP = 1.6  # minimum speed-up of two workers over one
PARAMETERS: dict[str, dict[str, Any]] = {
    "scale=1.0, eps=0.95": {"scale": 1.0, "eps": 0.95},
    "defaults": {},
}
SETTINGS = {"spark.sql.files.minPartitionNum": str(FILES)}

Learn = Callable[[Path], object]  # from a folder of files


class Cost(NamedTuple):
    """Cost of one method."""

    us: float  # microseconds a point
    fixed: float  # seconds
    whole: float  # seconds for all points


def write_points(folder: Path, X: NDArray[np.float64]) -> Path:
    """Write the points into files of the same size."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(X, FILES)):
        names = [f"x{column}" for column in range(X.shape[1])]
        pq.write_table(pa.table(list(rows.T), names), folder / f"{number}.parquet")
    return folder


def batches(folder: Path) -> list[NDArray[np.float64]]:
    """The points of all files, in batches."""
    return [rows for file in sorted(folder.iterdir()) for rows in read(file)]


def read(file: Path) -> list[NDArray[np.float64]]:
    """The points of one file, read by columns as in Spark."""
    whole = pq.ParquetFile(file)
    return [
        np.column_stack([column.to_numpy() for column in batch.columns])
        for batch in whole.iter_batches(AT_A_TIME)
    ]


def learn_files(folder: Path, model: SPC) -> SPC:
    """Learn all files without Spark."""
    for file in sorted(folder.iterdir()):
        for rows in read(file):
            model.partial_fit(rows)
    return model


def alone(few: Path, many: Path, model: dict[str, Any]) -> dict[str, Learn]:
    """Methods of the library, without Spark."""
    in_memory = {folder: batches(folder) for folder in (few, many)}
    known = learn_files(few, SPC(**model))

    def from_memory(folder: Path) -> None:
        spc = SPC(**model)
        for rows in in_memory[folder]:
            spc.partial_fit(rows)

    def scored(folder: Path) -> None:
        for rows in in_memory[folder]:
            known.predict(rows)

    return {
        "library, from memory": from_memory,
        "library, from Parquet": lambda folder: learn_files(folder, SPC(**model)),
        "library, predict from memory": scored,
    }


def on_spark(spark: Any, few: Path, model: dict[str, Any], work: Path) -> dict[str, Learn]:
    """Methods of Spark."""
    from pyspark.sql import functions as sql

    known = learn_files(few, SPC(**model))
    names = pq.read_schema(few / "0.parquet").names

    def whole_table(folder: Path) -> None:
        fit(spark.read.parquet(str(folder)), names, SPC(**model))

    def endless(folder: Path) -> None:
        checkpoint = work / "checkpoint"
        shutil.rmtree(checkpoint, ignore_errors=True)
        source = spark.readStream.schema(spark.read.parquet(str(folder)).schema)
        files = source.option("maxFilesPerTrigger", FILES // 2).parquet(str(folder))
        now = {"availableNow": True}
        fit_stream(files, names, SPC(**model), checkpoint, shards=2, trigger=now).awaitTermination()

    def scored(folder: Path) -> None:
        labels = predict(spark.read.parquet(str(folder)), known, names)
        labels.agg(sql.sum("cluster")).collect()

    return {"Spark, fit": whole_table, "Spark, fit_stream": endless, "Spark, predict": scored}


def seconds(learn: Learn, folder: Path) -> float:
    """Elapsed time of learning a folder."""
    started = time.perf_counter()
    learn(folder)
    return time.perf_counter() - started


def measured(
    ways: dict[str, Learn], few: Path, many: Path, points: int, repeats: int
) -> dict[str, Cost]:
    """Cost of each method; a first round, which compiles and starts workers, is not counted."""
    best = {name: [math.inf, math.inf] for name in ways}
    for learn in ways.values():
        learn(few)
    for _ in range(repeats):
        for name, learn in ways.items():
            for place, folder in enumerate((few, many)):
                best[name][place] = min(best[name][place], seconds(learn, folder))
    return {
        name: Cost(1e6 * (whole - fixed) / (points - FEW), fixed, whole)
        for name, (fixed, whole) in best.items()
    }


def overhead(d: int, n: int, points: int, repeats: int, folder: Path) -> None:
    """Print the cost of a point with each method, on one core."""
    few, many = prepared(d, points, folder)
    columns = [text for name in PARAMETERS for text in (f"us a point, {name}", "fixed s", "added")]
    table = Table(f"{d}-D, N = {n}", *columns, title=f"one core, {points:,} points")
    found = []
    with cluster("local-cluster[1,1,1024]", folder / "cluster", SETTINGS) as spark:
        bind_executors(os.getpid(), 1)
        for more in PARAMETERS.values():
            model = {"n_structures": n, **more}
            ways = alone(few, many, model) | on_spark(spark, few, model, folder)
            found.append(measured(ways, few, many, points, repeats))
    for name in found[0]:
        cells = []
        for costs in found:
            base = "library, predict from memory" if "predict" in name else "library, from memory"
            us = costs[name].us
            cells += [f"{us:.2f}", f"{costs[name].fixed:.2f}", f"{us - costs[base].us:+.2f}"]
        table.add_row(name, *cells)
    Console(width=130).print(table)


def prepared(d: int, points: int, folder: Path) -> tuple[Path, Path]:
    """Write files of a few points, and of all points."""
    X = np.concatenate(list(stream(points, d)))
    return write_points(folder / "few", X[:FEW]), write_points(folder / "many", X)


def scaling(d: int, n: int, points: int, repeats: int, folder: Path) -> bool:
    """Print the speed-up of two workers; return True if it is enough."""
    few, many = prepared(d, points, folder)
    title = f"{points:,} points, {d}-D, N = {n}"
    table = Table("workers", "points/s, learning", "fixed s", "whole s", title=title)
    costs = {}
    for workers, bound in ((1, True), (2, True), (1, False), (2, False)):
        place = folder / f"cluster{workers}{bound}"
        with cluster(f"local-cluster[{workers},1,1024]", place, SETTINGS) as spark:
            if bound:
                bind_executors(os.getpid(), workers)
            model = {"n_structures": n, **PARAMETERS["scale=1.0, eps=0.95"]}
            ways = {"fit": on_spark(spark, few, model, folder)["Spark, fit"]}
            cost = measured(ways, few, many, points, repeats)["fit"]
        costs[workers, bound] = cost
        name = f"{workers}, {'a core each' if bound else 'on all cores'}"
        table.add_row(name, f"{1e6 / cost.us:,.0f}", f"{cost.fixed:.2f}", f"{cost.whole:.2f}")
    Console().print(table)
    for bound, where in ((True, "a core each"), (False, "on all cores")):
        one, two = costs[1, bound], costs[2, bound]
        print(
            f"two workers, {where}: {one.us / two.us:.2f} times, {one.whole / two.whole:.2f} whole"
        )
    return costs[1, True].us / costs[2, True].us >= SPEEDUP


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("overhead", "scaling"))
    options = parser.parse_args()
    print(machine.cpu_model())
    met = True
    if options.only != "scaling":
        for d, n, part in ((2, 50, 1), (10, 100, 1), (50, 100, 4)):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                overhead(d, n, options.points // part, options.repeats, Path(folder))
    if options.only != "overhead":
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            met = scaling(10, 100, options.points, options.repeats, Path(folder))
        print(f"{SPEEDUP} times, a core each: {'met' if met else 'NOT met'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
