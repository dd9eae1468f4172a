"""Shards: `python -m benchmarks.shards [FOLDER]`, quality and cost of 1 to 1,024 models merged.

One process simulates all shards, one after the other. The points of a stream are assigned to them
at random, or sorted by cluster, so that each shard sees other clusters; the models are merged 32 at
a time, as on Spark and Dask, and all at once. FOLDER holds aggregation.csv; without it a generated
set like it is used. Writes a table, JSON and a plot. Times are processor times, not elapsed times.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from benchmarks import stored
from benchmarks.automatic import gaussians
from benchmarks.machine import describe
from spclust import SPC, datasets, merge_all
from spclust.partitions import MODELS_PER_MERGE

OUT = Path("output/bench/shards.json")
SHARDS = (1, 4, 16, 64, 256, 1024)
FEWER = (1, 64)  # for all seeds but the first, and for other numbers of structures
STRUCTURES, OTHERS = 100, (50, 200)
SCORED = 20_000  # rows that are scored
SIZES = [(2, 50), (2, 100), (2, 200), (10, 50), (10, 100), (10, 200), (50, 50), (50, 100)]
Data = tuple[Any, Any]
Row = dict[str, Any]


def aggregation(folder: Path | None, n: int, seed: int) -> Data:
    """Points of Aggregation, drawn with replacement, with a little noise."""
    X, y = datasets.make_aggregation_like(seed=0)
    if folder:
        table = np.loadtxt(folder / "aggregation.csv", delimiter=",", skiprows=1)
        X, y = table[:, :2], table[:, 2].astype(int)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(X), size=n)
    return X[drawn] + rng.normal(0.0, 0.15, size=(n, 2)), y[drawn]


def streams(folder: Path | None, n: int) -> dict[str, Callable[[int], Data]]:
    """Points and clusters of each stream, by a seed."""
    return {
        "aggregation": lambda seed: aggregation(folder, n, seed),
        "sine": lambda seed: datasets.make_sine(n, seed=seed),
        "15 Gaussians, 2-D": lambda seed: gaussians(15, 2, 6, seed=seed, n=n),
        "20 Gaussians, 10-D": lambda seed: gaussians(20, 10, 6, seed=seed, n=n),
    }


def orders(data: Data, seed: int) -> Iterator[tuple[str, Data]]:
    """The points shuffled, and sorted by cluster, before they are cut into shards."""
    order = np.random.default_rng(seed).permutation(len(data[1]))
    X, y = data[0][order], data[1][order]
    yield "dealt", (X, y)
    by_cluster = np.argsort(y, kind="stable")
    yield "sorted", (X[by_cluster], y[by_cluster])


def merged_as_tree(models: list[SPC]) -> tuple[SPC, int]:
    """One model, merged as on Spark, and the number of bytes transferred."""
    data, moved = [model.to_bytes() for model in models], 0
    while len(data) > 1:
        moved += sum(map(len, data))
        groups = [data[k : k + MODELS_PER_MERGE] for k in range(0, len(data), MODELS_PER_MERGE)]
        data = [merge_all([SPC.from_bytes(one) for one in group]).to_bytes() for group in groups]
    return SPC.from_bytes(data[0]), moved


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result of a call, and its processor time in milliseconds."""
    start = time.process_time()
    result = call()
    return result, 1e3 * (time.process_time() - start)


def simulated(data: Data, shards: int, n_structures: int, at_once: bool) -> Row:
    """Quality and cost for one number of shards."""
    X, y = data
    models = [SPC(n_structures).partial_fit(part) for part in np.array_split(X, shards)]
    (tree, moved), ms = timed(lambda: merged_as_tree(models))
    if tree.n_samples_seen_ != len(X):
        raise AssertionError(f"{tree.n_samples_seen_} of {len(X)} points were counted.")
    some = np.random.default_rng(0).choice(len(X), min(SCORED, len(X)), replace=False)
    row = {"shards": shards, "N": n_structures, "bytes": moved, "ms": ms}
    row |= {"NMI": _score(tree, X[some], y[some]), "clusters": tree.n_clusters_}
    if at_once:
        whole, row["ms at once"] = timed(lambda: merge_all(models))
        row["NMI at once"] = _score(whole, X[some], y[some])
    return row


def _score(model: SPC, X: Any, y: Any) -> float:
    return float(normalized_mutual_info_score(y, model.predict(X)))


def measured(name: str, make: Callable[[int], Data], seeds: int, most: int) -> Iterator[Row]:
    """All rows of one stream: every number of shards, some of them with more seeds or N."""
    for seed in range(seeds):
        for order, data in orders(make(seed), seed):
            plan = [(STRUCTURES, SHARDS if seed == 0 else FEWER)]
            plan += [(n, FEWER) for n in OTHERS] if seed == 0 else []
            for n_structures, numbers in plan:
                for shards in (number for number in numbers if number <= most):
                    at_once = (seed, order, n_structures) == (0, "dealt", STRUCTURES)
                    row = simulated(data, shards, n_structures, at_once)
                    yield {"stream": name, "order": order, "seed": seed, **row}


def sizes() -> Iterator[Row]:
    """Bytes of a model, and milliseconds to write, read and merge one, by d and N."""
    for d, n_structures in SIZES:
        X, _ = gaussians(20, d, 6, n=24 * n_structures * 8)
        models = [SPC(n_structures).fit(part) for part in np.array_split(X, 8)]
        data = [model.to_bytes() for model in models]
        costs = {
            "write": lambda models=models: [model.to_bytes() for model in models],
            "read": lambda data=data: [SPC.from_bytes(one) for one in data],
            "merge": lambda models=models: merge_all(models),
        }
        ms = {name: min(timed(call)[1] for _ in range(5)) / 8 for name, call in costs.items()}
        yield {"d": d, "N": n_structures, "bytes": max(map(len, data)), **ms}


def mean_of(rows: list[Row], key: str, **where: Any) -> float:
    """Mean of a column over the rows with the given values; NaN if there is none."""
    found = [row[key] for row in rows if key in row and all(row[k] == v for k, v in where.items())]
    return float(np.mean(found)) if found else float("nan")


def draw(rows: list[Row], names: list[str], path: Path) -> None:
    """Plot NMI against shards, a panel for each stream, and the cost of merging."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(names) + 1, figsize=(15, 3.4), layout="constrained")
    styles = {"dealt": ("#0072B2", "o"), "sorted": ("#D55E00", "s")}
    for axes, name in zip(panels, names, strict=False):
        for order, (colour, marker) in styles.items():
            for n_structures, line in ((STRUCTURES, "-"), (OTHERS[0], ":"), (OTHERS[1], "--")):
                where = {"stream": name, "order": order, "N": n_structures}
                numbers = SHARDS if n_structures == STRUCTURES else FEWER
                quality = [mean_of(rows, "NMI", shards=k, **where) for k in numbers]
                style = {"color": colour, "marker": marker, "ls": line, "ms": 3}
                axes.plot(numbers, quality, label=f"{order}, N = {n_structures}", **style)
        axes.set(title=name, xscale="log", ylim=(0.0, 1.03), xlabel="shards")
    panels[0].set_ylabel("NMI of the merged model")
    panels[0].legend(fontsize=7, loc="lower left", handlelength=4)
    for name, marker in zip(names, "osv^", strict=True):
        for key, line in (("ms", "-"), ("ms at once", ":")):
            where = {"stream": name, "order": "dealt", "N": STRUCTURES, "seed": 0}
            cost = [mean_of(rows, key, shards=k, **where) / 1e3 for k in SHARDS[2:]]
            label = name if key == "ms" else None
            panels[-1].plot(
                SHARDS[2:], cost, color="0.3", marker=marker, ls=line, ms=3, label=label
            )
    panels[-1].set(
        title=f"to merge, N = {STRUCTURES}", xscale="log", yscale="log",
        xlabel="shards", ylabel="seconds of one core (dotted: at once)",
    )  # fmt: skip
    panels[-1].legend(fontsize=7, loc="upper left")
    for axes in panels:
        axes.set_xticks(SHARDS, labels=[f"{k}" for k in SHARDS])
        axes.minorticks_off()
    figure.savefig(path, dpi=120)


def figures_of(rows: list[dict[str, Any]], models: list[dict[str, Any]]) -> dict[str, float]:
    """NMI by stream, order, N and shards; bytes and milliseconds by features and N."""
    places = {(row["stream"], row["order"], row["N"], row["shards"]) for row in rows}
    found = {
        f"{stream}/{order}/N={n}/{k} shards": mean_of(
            rows, "NMI", stream=stream, order=order, N=n, shards=k
        )
        for stream, order, n, k in sorted(places)
    }
    for row in models:
        for what in ("bytes", "write", "read", "merge"):
            found[f"model/{row['d']}-D/N={row['N']}/{what}"] = float(row[what])
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=SHARDS[-1], help="shards: fewer take less time")
    stored.add_option(parser)
    given = parser.parse_args()
    made, rows, console = streams(given.folder, given.points), [], Console(width=110)
    threadpool_limits(1)  # processor time is then the time of one core
    for n_structures in (STRUCTURES, 3):  # compiles kernels before anything is timed
        for d in (2, 10):
            simulated(gaussians(3, d, 6, n=2000), 4, n_structures, at_once=True)
    for name, make in made.items():
        start = time.perf_counter()
        rows += list(measured(name, make, given.seeds, given.most))
        console.print(f"{name} ({time.perf_counter() - start:.0f} s)")
    table = Table("stream", "points", "N", *(f"{k}" for k in SHARDS))
    for name in made:
        for order in ("dealt", "sorted"):
            for n_structures in sorted((STRUCTURES, *OTHERS)):
                where = {"stream": name, "order": order, "N": n_structures}
                quality = [mean_of(rows, "NMI", shards=k, **where) for k in SHARDS]
                table.add_row(
                    name,
                    order,
                    f"{n_structures}",
                    *("" if np.isnan(q) else f"{q:.3f}" for q in quality),
                )
    console.print(table)
    models = list(sizes())
    bytes_table = Table("d", "N", "kB", "write, ms", "read, ms", "merge, ms")
    for row in models:
        costs = (row["bytes"] / 1e3, row["write"], row["read"], row["merge"])
        bytes_table.add_row(f"{row['d']}", f"{row['N']}", *(f"{cost:.1f}" for cost in costs))
    console.print(bytes_table)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    written = {"machine": describe(), "points": given.points, "shards": rows, "models": models}
    OUT.write_text(json.dumps(written, indent=1))
    draw(rows, list(made), OUT.with_suffix(".png"))
    if given.store:
        stored.store("shards", figures_of(rows, models), given)


if __name__ == "__main__":
    main()
