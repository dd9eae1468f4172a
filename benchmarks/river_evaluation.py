"""Clusterers in River's own evaluation: `python -m benchmarks.river_evaluation [--seed S]`.

River's progressive validation labels each point of a stream before it is learnt. The score is
River's adjusted Rand index (ARI): the mean over windows of 1,000 points, and that of the whole
stream, for which labels have to last. Streams are those of `benchmarks.quality.streams`; rows that
belong to no cluster are learnt but not scored. CluStream is told the number of clusters. DBSTREAM
and CluStream, which need a unit, get features that were standardised by the whole stream; SPC does
not. The table goes to the terminal, all numbers and parameters to `output/bench/`.
"""

import argparse
import json
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from river import cluster, evaluate, metrics, utils

import spclust.river
from benchmarks import stored
from benchmarks.quality.streams import KINDS, Stream, generated
from spclust.array_types import Floats

OUTPUT = Path("output/bench/river_evaluation.json")
DIMENSIONS = (2, 5)
WINDOW, POINTS = 1_000, 8_000
MICRO_CLUSTERS = 100  # as many as SPC has structures


class ScoredRand(metrics.AdjustedRand):
    """River's adjusted Rand index of rows that belong to a cluster; others have -1."""

    def update(self, y_true: int, y_pred: int, w: float = 1.0) -> None:
        """Add a label, if the row is scored."""
        if y_true >= 0:
            super().update(y_true, y_pred, w)

    def revert(self, y_true: int, y_pred: int, w: float = 1.0) -> None:
        """Take a label back."""
        if y_true >= 0:
            super().revert(y_true, y_pred, w)


class Entry(NamedTuple):
    """A clusterer: how it is built, told k, and whether it needs standardised features."""

    name: str
    build: Callable[[int], Any]
    standardised: bool


ENTRIES = (
    Entry("SPC", lambda k: spclust.river.SPC(half_life=500), standardised=False),
    Entry("DBSTREAM", lambda k: cluster.DBSTREAM(), standardised=True),
    Entry(
        "CluStream",
        lambda k: cluster.CluStream(max_micro_clusters=MICRO_CLUSTERS, n_macro_clusters=k, seed=0),
        standardised=True,
    ),
)


def rows_of(X: Floats, y: Sequence[int]) -> Iterator[tuple[dict[Hashable, Any], Any]]:
    """Points as River takes them, with their clusters."""
    names = [f"x{i}" for i in range(X.shape[1])]
    for row, label in zip(X.tolist(), y, strict=True):
        yield dict(zip(names, row, strict=True)), label


def evaluated(entry: Entry, stream: Stream, window: int = WINDOW) -> dict[str, Any]:
    """ARI of a clusterer on a stream, by River, and what it took."""
    X = stream.X
    if entry.standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = entry.build(len(np.unique(stream.y[stream.y >= 0])))
    rolling: Any = utils.Rolling(ScoredRand, window_size=window)
    whole = ScoredRand()
    started, windows = time.perf_counter(), []
    steps = evaluate.iter_progressive_val_score(
        rows_of(X, stream.y.tolist()), model, metrics.base.Metrics([rolling, whole]), step=window
    )
    for step in steps:
        if step["Step"] % window == 0:
            windows.append(float(rolling.get()))
    return {
        "window": float(np.mean(windows)),
        "whole": float(whole.get()),
        "windows": windows,
        "seconds": time.perf_counter() - started,
        "parameters": {name: repr(value) for name, value in model._get_params().items()},
    }


def measured(
    kinds: Sequence[str], dimensions: Sequence[int], points: int, seed: int
) -> list[dict[str, Any]]:
    """A record for each kind of stream, number of features and clusterer."""
    records = []
    for kind in kinds:
        for d in dimensions:
            stream = generated(kind, d, points, seed)
            for entry in ENTRIES:
                record = evaluated(entry, stream, min(WINDOW, points))
                records.append({"kind": kind, "d": d, "clusterer": entry.name, **record})
    return records


def table_of(records: Sequence[dict[str, Any]]) -> Table:
    """Mean ARI by kind of stream, over dimensions: windows, and whole streams."""
    names = list(dict.fromkeys(record["clusterer"] for record in records))
    title = "ARI by River, over windows of 1,000 points and over whole streams"
    table = Table(title=title, box=box.SIMPLE)
    table.add_column("kind", no_wrap=True)
    for what in ("window", "whole"):
        for name in names:
            table.add_column(f"{name}\n{what}", justify="right")
    for kind in [*dict.fromkeys(record["kind"] for record in records), "all"]:
        cells = []
        for what in ("window", "whole"):
            for name in names:
                chosen = [
                    record[what]
                    for record in records
                    if record["clusterer"] == name and kind in (record["kind"], "all")
                ]
                cells.append(f"{np.mean(chosen):.3f}")
        table.add_row(kind.replace("_", " "), *cells)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and the parameters, and write JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.river_evaluation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--dimensions", nargs="+", type=int, default=list(DIMENSIONS))
    parser.add_argument("--points", type=int, default=POINTS, help="of each stream")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    stored.add_option(parser)
    options = parser.parse_args(arguments)
    records = measured(options.kinds, options.dimensions, options.points, options.seed)
    Console().print(table_of(records))
    for entry in ENTRIES:
        own = [record for record in records if record["clusterer"] == entry.name]
        seconds = sum(record["seconds"] for record in own)
        print(f"{entry.name}: {seconds:.0f} s, the last one with {own[-1]['parameters']}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    content = {"seed": options.seed, "points": options.points, "records": records}
    options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if options.store:
        figures = {
            f"{one['kind']}/{one['d']}-D/{one['clusterer']}/{measure}": one[measure]
            for one in records
            for measure in ("window", "whole")
        }
        stored.store("river_evaluation", figures, options)


if __name__ == "__main__":
    main()
