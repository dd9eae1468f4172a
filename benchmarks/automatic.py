"""Defaults: `python -m benchmarks.automatic FOLDER`, NMI of SPC(n_structures=100).

Every set is learnt in file order and in shuffled orders. SPC is compared with the best fixed scale
and eps that a search with known labels finds for each set; with stream clusterers of River, with
their defaults; and with Birch and HDBSCAN of scikit-learn, which see all the data. FOLDER holds
aggregation.csv, shapes/*.csv and dim*.npz; without it only generated sets are used. Writes a table,
JSON and a plot.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import HDBSCAN, Birch
from sklearn.metrics import normalized_mutual_info_score

from benchmarks import stored
from spclust import SPC, datasets

OUT = Path("output/bench/automatic.json")
N = 100
SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0, 2.0)  # of the mean standard deviation of a feature
EPS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
# Clusters, features, and the minimum distance of two clusters in standard deviations.
GAUSSIANS = [
    (5, 2, 6), (12, 2, 4), (30, 2, 6), (50, 2, 6), (6, 5, 5), (50, 5, 6),
    (20, 10, 6), (2, 10, 5), (10, 20, 6), (30, 50, 6), (50, 50, 6),
]  # fmt: skip
Data = tuple[Any, Any]


def gaussians(k: int, d: int, apart: float, seed: int = 0, n: int = 4000) -> Data:
    """Gaussians of unequal weights, sizes and shapes; centres uniform in a box that fits them."""
    rng = np.random.default_rng([seed, k, d])
    shares, size = rng.dirichlet(np.full(k, 3.0)), 10.0 ** rng.uniform(-0.3, 0.3, size=k)
    box, centres = apart * k ** (1.0 / min(d, 3)), np.empty((0, d))
    while len(centres) < k:
        box *= 1.001
        new, i = rng.uniform(0.0, box, size=d), len(centres)
        far = np.linalg.norm(centres - new, axis=1) > 0.5 * apart * (size[:i] + size[i]) * 1.8
        if far.all():
            centres = np.vstack([centres, new])
    y = rng.choice(k, size=n, p=shares)
    shapes = [np.linalg.qr(rng.normal(size=(d, d)))[0] * 10.0 ** rng.uniform(-0.2, 0.2, size=d)
              for _ in range(k)]  # fmt: skip
    noise = rng.normal(size=(n, d))
    X = [centres[c] + size[c] * (shapes[c] @ e) for c, e in zip(y, noise, strict=True)]
    return np.array(X), y


def sets(folder: Path | None) -> Iterator[tuple[str, Data]]:
    """Names and data of all sets, those of the folder first."""
    for path in sorted(
        [*folder.glob("aggregation.csv"), *folder.glob("shapes/*.csv")] if folder else []
    ):
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        yield path.stem, (rows[:, :-1], rows[:, -1].astype(int))
    for name in ("dim032", "dim064", "dim1024") if folder else ():
        arrays = np.load(folder / f"{name}.npz") if folder else {}
        yield name, (arrays["X"].astype(float), arrays["y"])
    yield "sine", datasets.make_sine(seed=0)[:2]
    yield "overlapping", datasets.make_overlapping(seed=0)[:2]
    for k, d, apart in GAUSSIANS:
        yield f"{k} Gaussians, {d}-D", gaussians(k, d, apart)


def orders(data: Data, shuffles: int) -> Iterator[Data]:
    """The set in file order, and shuffled."""
    X, y = data
    yield X, y
    for seed in range(shuffles):
        order = np.random.default_rng(seed).permutation(len(X))
        yield X[order], y[order]


def score(y: Any, labels: Any) -> float:
    """NMI; noise is one more cluster."""
    return float(normalized_mutual_info_score(y, labels))


def river_labels(name: str, X: Any) -> list[int]:
    """Labels of a clusterer of River with its defaults, after the stream."""
    from river import cluster

    model = getattr(cluster, name)()
    points = [dict(enumerate(map(float, x))) for x in X]
    for point in points:
        model.learn_one(point)
    return [model.predict_one(point) for point in points]


OTHERS: dict[str, Callable[[Any], Any]] = {
    "DBSTREAM": lambda X: river_labels("DBSTREAM", X),
    "DenStream": lambda X: river_labels("DenStream", X),
    "CluStream": lambda X: river_labels("CluStream", X),
    "Birch": lambda X: Birch().fit_predict(X),
    "HDBSCAN": lambda X: HDBSCAN(copy=True).fit_predict(X),
}


def best_fixed(data: Data, shuffles: int) -> tuple[float, float, float]:
    """Mean NMI of the best scale and eps, and their values; scale is relative to the data."""
    found = np.zeros((len(SCALES), len(EPS)))
    unit = float(np.mean(np.std(data[0], axis=0)))
    for X, y in orders(data, shuffles):
        for i, scale in enumerate(SCALES):
            model = SPC(N, scale=scale * unit, eps=0.95).fit(X)
            for j, eps in enumerate(EPS):
                model.set_params(eps=eps)
                found[i, j] += score(y, model.labels_) / (shuffles + 1)
    place = int(np.argmax(found))
    return float(found.max()), SCALES[place // len(EPS)], EPS[place % len(EPS)]


def measured(data: Data, shuffles: int, fewer: int, others: bool) -> dict[str, Any]:
    """NMI of all methods on one set, of slow ones in fewer orders; 0 if a method fails."""
    ours = [score(y, SPC(N).fit(X).labels_) for X, y in orders(data, shuffles)]
    fixed, scale, eps = best_fixed(data, fewer)
    row: dict[str, Any] = {
        "SPC()": float(np.mean(ours)),
        "worst order": min(ours),
        "best fixed": fixed,
    }
    row |= {"scale": scale, "eps": eps}
    for name, labels in OTHERS.items() if others else ():
        few = 0 if name in ("Birch", "HDBSCAN") or data[0].shape[1] > 100 else fewer
        try:
            row[name] = float(np.mean([score(y, labels(X)) for X, y in orders(data, few)]))
        except Exception as error:  # a failure is a result too
            row[name], row[f"{name} failed"] = 0.0, f"{type(error).__name__}: {error}"
    return row


def unit_curve(data: Data) -> dict[str, Any]:
    """NMI against a factor on the unit of the data, fixed and automatic."""
    X, y = data[0] / np.std(data[0]), data[1]
    factors = [10.0**k for k in np.linspace(-3.0, 3.0, 25)]
    fixed = [score(y, SPC(N, scale=0.3, eps=0.95).fit(X * f).labels_) for f in factors]
    auto = [score(y, SPC(N).fit(X * f).labels_) for f in factors]
    return {"factor": factors, "fixed": fixed, "auto": auto}


def draw(curves: dict[str, Any], path: Path) -> None:
    """Plot NMI against the unit of the data."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(curves), figsize=(4.0 * len(curves), 3.2), sharey=True)
    for axis, (name, curve) in zip(axes, curves.items(), strict=True):
        axis.semilogx(curve["factor"], curve["fixed"], "o-", ms=3, label="scale=0.3, eps=0.95")
        axis.semilogx(curve["factor"], curve["auto"], "s-", ms=3, label="SPC()")
        axis.set(title=name, xlabel="factor on the unit of the data", ylim=(-0.03, 1.03))
    axes[0].set_ylabel("NMI")
    axes[0].legend(loc="center left", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument(
        "--fewer", type=int, default=1, help="shuffles for the search and the others"
    )
    parser.add_argument("--alone", action="store_true", help="without the others")
    stored.add_option(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    console, rows, curves = Console(), {}, {}
    for name, data in sets(given.folder):
        start = time.perf_counter()
        rows[name] = measured(data, given.shuffles, given.fewer, not given.alone)
        took = time.perf_counter() - start
        ours, fixed = rows[name]["SPC()"], rows[name]["best fixed"]
        console.print(f"{name}: SPC() {ours:.3f}, best fixed {fixed:.3f} ({took:.0f} s)")
        if name in ("aggregation", "sine", "12 Gaussians, 2-D", "6 Gaussians, 5-D"):
            curves[name] = unit_curve(data)
    columns = ["SPC()", "worst order", "best fixed", *(() if given.alone else OTHERS)]
    table = Table("NMI", *columns)
    for name, row in rows.items():
        table.add_row(name, *(f"{row[c]:.3f}" for c in columns))
    means = {c: float(np.mean([row[c] for row in rows.values()])) for c in columns}
    table.add_row("mean", *(f"{means[c]:.3f}" for c in columns))
    console.print(table)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"sets": rows, "mean": means, "units": curves}, indent=1))
    draw(curves, OUT.with_suffix(".png"))
    if given.store:
        found = {"mean": means, **rows}
        figures = {f"{name}/{c}": row[c] for name, row in found.items() for c in columns}
        stored.store("automatic", figures, given)


if __name__ == "__main__":
    main()
