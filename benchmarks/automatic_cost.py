"""Cost of a point in the automatic mode: `python -m benchmarks.automatic_cost`.

Microseconds a point, best of several batches of 10,000 rows after 20,000, without and with a
half-life, beside the mode of the paper with the same N; the clusters are read after each batch.
"""

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.streams import STREAMS
from spclust import SPC

SIZES = (30, 100, 300)
ENTRIES: dict[str, dict[str, Any]] = {
    "scale=1.0, eps=0.95": {"scale": 1.0, "eps": 0.95},
    "nothing set": {},
    "half_life=1000": {"half_life": 1000.0},
    "half_life=10000": {"half_life": 10_000.0},
}
BATCHES = 6


def cost(stream: str, n: int, parameters: dict[str, Any]) -> float:
    """Microseconds a point."""
    model = SPC(n, **parameters)
    for index in range(2):
        model.partial_fit(STREAMS[stream].block(index))
    best = float("inf")
    for index in range(2, 2 + BATCHES):
        rows = STREAMS[stream].block(index)
        started = time.perf_counter()
        model.partial_fit(rows).n_clusters_  # noqa: B018 - a look at the clusters
        best = min(best, 1e6 * (time.perf_counter() - started) / len(rows))
    return best


def main() -> None:
    """Measure everything and print a table."""
    table = Table("stream", "SPC(N, ...)", *(f"N = {n}" for n in SIZES))
    for stream in STREAMS:
        for entry, parameters in ENTRIES.items():
            table.add_row(stream, entry, *(f"{cost(stream, n, parameters):.2f}" for n in SIZES))
    Console().print(table)


if __name__ == "__main__":
    main()
