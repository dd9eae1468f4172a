"""Time to read the clusters of a model: `python -m benchmarks.reading`.

Milliseconds, best of several readings, of six kinds of data in 2 to 50 features: clusters are found
anew each time. With a half-life masses fade, and nothing is divided at gaps or into parts.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from spclust import SPC
from spclust.auto.clusters.evidence import clusters_of
from spclust.stream.automatic_stream import AutomaticStream

FEATURES, SIZES, ROWS, READINGS = (2, 3, 10, 20, 50), (100, 300), 20_000, 7


def gaussians(rng: np.random.Generator, d: int, clusters: int, spread: float) -> Any:
    """Rows of unit Gaussians around random centres."""
    centres = rng.normal(scale=spread, size=(clusters, d))
    return centres[rng.integers(clusters, size=ROWS)] + rng.normal(size=(ROWS, d))


KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "one Gaussian": lambda rng, d: rng.normal(size=(ROWS, d)),
    "uniform": lambda rng, d: rng.random((ROWS, d)),
    "five clusters": lambda rng, d: gaussians(rng, d, 5, 10.0),
    "thirty clusters": lambda rng, d: gaussians(rng, d, 30, 10.0),
    "twenty that overlap": lambda rng, d: gaussians(rng, d, 20, 2.0),
    "integers": lambda rng, d: rng.integers(6, size=(ROWS, d)).astype(float),
}


def reading(X: Any, n: int, half_life: float | None) -> float:
    """Milliseconds."""
    stream = SPC(n, half_life=half_life).fit(X)._stream
    assert isinstance(stream, AutomaticStream)
    best = float("inf")
    for _ in range(READINGS):
        started = time.perf_counter()
        clusters_of(stream.structures)
        best = min(best, 1e3 * (time.perf_counter() - started))
    return best


def main() -> None:
    """Measure everything and print a table."""
    table = Table("rows", "SPC(N, ...)", *(f"{d} features" for d in FEATURES))
    for kind, rows in KINDS.items():
        for n in SIZES:
            for half_life in (None, 2000.0):
                named = f"N = {n}" if half_life is None else f"N = {n}, half_life=2000"
                times = [reading(rows(np.random.default_rng(0), d), n, half_life) for d in FEATURES]
                table.add_row(kind, named, *(f"{milliseconds:.1f}" for milliseconds in times))
    Console().print(table)


if __name__ == "__main__":
    main()
