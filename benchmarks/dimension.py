"""Many features: `python -m benchmarks.dimension`, tables on the terminal and a figure.

Low rank against dense matrices on 1,024 points of 1,024 features; a long stream of 768 features
whose clusters drift; and the growth of time and memory with the number of features.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.linalg import eigh
from sklearn.metrics import normalized_mutual_info_score

from benchmarks import growth, stored
from spclust import SPC
from spclust.datasets import make_highdim
from spclust.stream.stream import Stream

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

COLOURS = {"full": "#D55E00", "lowrank": "#0072B2", "diag": "#009E73", "spherical": "#CC79A7"}


class Finding(NamedTuple):
    """A number, and its bound, if there is one."""

    text: str
    value: float
    unit: str = ""
    bound: float | None = None
    at_least: bool = True

    @property
    def verdict(self) -> str:
        """The verdict on the bound; empty if there is none."""
        if self.bound is None:
            return ""
        kept = self.value >= self.bound if self.at_least else self.value <= self.bound
        sign = ">=" if self.at_least else "<="
        return f"{'met' if kept else 'NOT met'} ({sign} {self.bound:g})"


def published_set() -> tuple[Rows, Labels]:
    """The 1,024 points of 1,024 features from the folder SPCLUST_DATA, or a generated set."""
    default = Path(__file__).parents[2] / "shared" / "data"
    file = Path(os.environ.get("SPCLUST_DATA", default)) / "dim1024.npz"
    if file.is_file():
        with np.load(file) as content:
            return content["X"].astype(float), content["y"].astype(np.int64)
    print(f"{file.name} is missing: a generated set is used", file=sys.stderr)
    return make_highdim()


def lapack_seconds(spc: SPC, X: Rows) -> float:
    """Lower bound of the seconds a point that dense matrices take with LAPACK.

    Starting from the structures of a model, each row of X is merged into the nearest one: distances
    to all, one union, its factor, and distances of the union, both ways. Weights and the search for
    the closest pair are not included.
    """
    table = spc.structures_
    means, covariances = table.mean.copy(), table.covariance.copy()
    factors = np.linalg.inv(np.linalg.cholesky(covariances))
    started = time.perf_counter()
    for x in X:
        distances = [np.sum((W @ (x - mu)) ** 2) for W, mu in zip(factors, means, strict=True)]
        i = int(np.argmin(distances))
        mean = means[i] + (x - means[i]) / 20.0
        U1 = covariances[i] + np.outer(mean - means[i], mean - means[i])
        U2 = np.eye(len(x)) + np.outer(mean - x, mean - x)
        values, vectors = eigh(U1, U2)
        added = U2 @ vectors * np.sqrt(np.maximum(values - 1.0, 0.0))
        covariances[i] = U2 + added @ added.T
        means[i], factors[i] = mean, np.linalg.inv(np.linalg.cholesky(covariances[i]))
        for W, mu in zip(factors, means, strict=True):
            np.sum((W @ (mean - mu)) ** 2)
            np.sum((factors[i] @ (mean - mu)) ** 2)
    return (time.perf_counter() - started) / len(X)


def megabytes(spc: SPC) -> float:
    """Size of the state of a model in the mode of the paper."""
    stream = spc._stream
    assert isinstance(stream, Stream)
    return (stream.structures.memory.nbytes + stream.scratch.memory.nbytes) / 1e6


def against_dense() -> Iterator[Finding]:
    """Low rank (all points) against dense matrices (a few points)."""
    X, y = published_set()
    spc = SPC(50, scale=1.0, eps=0.95, covariance_type="lowrank")
    spc.partial_fit(X[:60])  # compiles
    best = np.inf
    for _ in range(3):
        started = time.perf_counter()
        spc = SPC(50, scale=1.0, eps=0.95, covariance_type="lowrank").partial_fit(X)
        best = min(best, time.perf_counter() - started)
    labels = spc.labels_
    cut = spc.clustering(n_clusters=16)[spc._fitted.last_batch.nearest]
    half = SPC(50, scale=1.0, eps=0.95, covariance_type="lowrank").partial_fit(X[:512])
    lapack = lapack_seconds(half, X[512:516])
    full = SPC(50, scale=1.0, eps=0.95, covariance_type="full").partial_fit(X[:80])
    started = time.perf_counter()
    full.partial_fit(X[80:90])
    kernel = (time.perf_counter() - started) / 10
    yield Finding("1,024 features, low rank: all points", best, " s")
    yield Finding("1,024 features, LAPACK: a point", 1e3 * lapack, " ms")
    yield Finding('1,024 features, "full": a point', 1e3 * kernel, " ms")
    yield Finding("low rank faster than LAPACK", lapack / best * len(X), "x", 200)
    yield Finding('low rank faster than "full"', kernel / best * len(X), "x")
    yield Finding("state of low rank", megabytes(spc), " MB", 20, at_least=False)
    yield Finding('state of "full"', megabytes(full), " MB")
    purity = sum(np.bincount(y[labels == k]).max() for k in np.unique(labels)) / len(y)
    yield Finding("purity at eps=0.95", purity, "", 1.0)
    yield Finding("NMI at eps=0.95", normalized_mutual_info_score(y, labels), "", 0.97)
    nmi = normalized_mutual_info_score(y, cut)
    yield Finding("NMI of the cut with 16 clusters", round(nmi, 12), "", 1.0)


def drift_rows(start: int, n: int, points: int, d: int = 768, k: int = 50) -> tuple[Rows, Labels]:
    """Rows of 50 Gaussians of standard deviation 0.3 whose centres, N(0, I), move by 0.3 each."""
    fixed = np.random.default_rng(d)
    centres, paths = fixed.normal(size=(k, d)), 0.3 * fixed.normal(size=(k, d))
    rng = np.random.default_rng([d, start])
    y = rng.integers(k, size=n)
    moved = (start + np.arange(n))[:, np.newaxis] / points
    return centres[y] + moved * paths[y] + 0.3 * rng.normal(size=(n, d)), y


def long_stream(points: int) -> Iterator[Finding]:
    """Low rank with a maximum rank on a stream that drifts: quality, speed, memory."""
    params: dict[str, Any] = {
        "n_structures": 100,
        "scale": 8.0,
        "eps": 0.95,
        "gamma": 1e-3,
        "beta": 1e-4,
    }
    spc = SPC(**params, covariance_type="lowrank", max_rank=16)
    block, quality, sizes, best = 2000, [], [], np.inf
    for start in range(0, points, block):
        X, y = drift_rows(start, block, points)
        started = time.perf_counter()
        spc.partial_fit(X)
        best = min(best, (time.perf_counter() - started) / block)
        quality.append(normalized_mutual_info_score(y, spc.labels_))
        sizes.append(spc._stream.structures.memory.nbytes / 1e6)
    full = SPC(**params, covariance_type="full").partial_fit(drift_rows(0, 110, points)[0])
    X, _ = drift_rows(0, 10, points)
    started = time.perf_counter()
    full.partial_fit(X)
    dense = (time.perf_counter() - started) / len(X)
    yield Finding("768 features, max_rank=16: a point", 1e6 * best, " us")
    yield Finding('768 features, "full": a point', 1e6 * dense, " us")
    yield Finding("faster by", dense / best, "x", 10)
    yield Finding("least NMI of a block of 2,000", min(quality[1:]), "", 0.95)
    yield Finding("state at the end", sizes[-1], " MB")
    grown = sizes[-1] / sizes[len(sizes) // 10]
    yield Finding("against that after a tenth", grown, "x", 1.0, at_least=False)


def draw(found: list[growth.Cost], file: Path) -> None:
    """Plot time and memory against d."""
    figure, (times, sizes) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for kind in growth.TYPES:
        here = [one for one in found if one.kind == kind]
        d = [one.d for one in here]
        name = f"{kind} (rank {growth.RANK})" if kind == "lowrank" else kind
        grows = f"{name}: d^{growth.exponent(found, kind, growth.MANY):.2f}"
        style = {"marker": "o", "markersize": 4, "color": COLOURS[kind]}
        times.plot(d, [one.us for one in here], label=grows, **style)
        sizes.plot(d, [one.bytes / 1e6 for one in here], label=name, **style)
    for axes, what in ((times, "microseconds a point"), (sizes, "megabytes of state")):
        axes.set(xscale="log", yscale="log", xlabel="features d", ylabel=what)
        axes.set_xticks([2, 8, 32, 128, 512, 2048], [2, 8, 32, 128, 512, 2048])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.suptitle(
        f"Cost of features with {growth.STRUCTURES} structures (exponents from 64 features on)"
    )
    figure.savefig(file, dpi=150)
    plt.close(figure)


def growth_of_cost(out: Path) -> Iterator[Finding]:
    """Growth of the cost of each covariance type with d, and a figure."""
    found = list(growth.costs())
    draw(found, out / "dimension.png")
    for kind in growth.TYPES:
        bound = None if kind == "full" else 1.15
        k, late = growth.exponent(found, kind), growth.exponent(found, kind, growth.MANY)
        yield Finding(f"{kind}: time grows as d^k, k", k, "", bound, at_least=False)
        yield Finding(f"{kind}: from {growth.MANY} features on", late, "", bound, at_least=False)


def limit_of_auto() -> Iterator[Finding]:
    """Cost of the first and of the last points, around the number of features that "auto" uses."""
    for d in (54, 96, 128, 192, 384):
        for kind in ("full", "lowrank"):
            for part, us in zip(("first", "last"), growth.first_and_last(kind, d), strict=True):
                yield Finding(f"{d}/{kind}/{part}", us, " us")


def main() -> int:
    """Measure, show and store; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dimension", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("output/bench"), metavar="DIR")
    parser.add_argument("--points", type=int, default=100_000, help="of the stream that drifts")
    stored.add_option(parser)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    findings: list[Finding] = []
    parts = (
        against_dense(),
        limit_of_auto(),
        long_stream(options.points),
        growth_of_cost(options.out),
    )
    with console.status("measuring"):
        for part in parts:
            table = Table("measured", "value", "", show_header=False)
            for one in part:
                findings.append(one)
                table.add_row(one.text, f"{one.value:.4g}{one.unit}", one.verdict)
            console.print(table)
    content = [{**one._asdict(), "verdict": one.verdict} for one in findings]
    (options.out / "dimension.json").write_text(json.dumps(content, indent=1) + "\n")
    console.print(f"Written to {options.out}: dimension.json, dimension.png")
    if options.store:
        stored.store("dimension", {one.text: one.value for one in findings}, options)
    return int(any("NOT" in one.verdict for one in findings))


if __name__ == "__main__":
    sys.exit(main())
