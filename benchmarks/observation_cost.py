"""Cost of cluster ids and events: `python -m benchmarks.observation_cost`.

Compares learning with observations of the clusters, learning without, and the kernel alone, on the
same points, in turn, best of several turns. Each turn has a new model, because the position of a
model in memory changes its speed by a tenth.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import machine, stored
from spclust import SPC
from spclust.stream.stream import Stream

POINTS, FIRST, REPEATS = 100_000, 50_000, 45  # turns are short, so that some are undisturbed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.observation_cost", description=__doc__
    )
    stored.add_option(parser)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    centres = rng.uniform(-20.0, 20.0, size=(7, 2))
    X = centres[rng.integers(7, size=POINTS)] + rng.normal(size=(POINTS, 2))

    def tracked(every: int | None, beta: float) -> Callable[[Any], object]:
        model = SPC(50, scale=1.0, eps=0.95, beta=beta, track_every=every)
        return model.partial_fit(X[:FIRST]).partial_fit

    def kernel_alone() -> Callable[[Any], object]:
        stream = Stream(SPC(50, scale=1.0, eps=0.95)._online_params(2), 2)
        stream.learn(X[:FIRST])
        return stream.learn

    ways: dict[str, Callable[[], Callable[[Any], object]]] = {"kernel alone": kernel_alone}
    for beta in (0.0, 0.001):
        for every in (None, 10_000, 3_000, 1_000):
            name = "not tracked" if every is None else f"observed every {every:,}"
            ways[f"beta={beta:g}, {name}"] = partial(tracked, every, beta)
    best = dict.fromkeys(ways, np.inf)
    for _ in range(REPEATS):
        for name, start_model in ways.items():
            learn = start_model()
            start = time.perf_counter()
            learn(X)
            best[name] = min(best[name], time.perf_counter() - start)
    figures = dict[str, float]()
    table = Table("2-D, N = 50", "us a point", "throughput", title=machine.cpu_model())
    for name, seconds in best.items():
        base = best[name.split(",")[0] + ", not tracked"] if "," in name else seconds
        if name.endswith("not tracked"):
            base = best["kernel alone"] if name.startswith("beta=0,") else seconds
        table.add_row(name, f"{1e6 * seconds / POINTS:.3f}", f"{base / seconds:.3f}")
        figures |= {f"{name}/us": 1e6 * seconds / POINTS, f"{name}/throughput": base / seconds}
    Console().print(table)
    if options.store:
        stored.store("observation_cost", figures, options)


if __name__ == "__main__":
    main()
