"""Classes of real tables without being told their number: `python -m benchmarks.tables [FOLDER]`.

NMI of SPC() and of k-means told k, on tables that scikit-learn and River bring, and on
FOLDER/keystroke.npz, if there is one; four orders of the rows. The features of k-means are
standardised, except for digits, which have one unit.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from benchmarks import stored
from spclust import SPC
from spclust.array_types import Floats, Integers

ORDERS = 4


def tables(folder: Path | None) -> Iterator[tuple[str, Floats, Integers]]:
    """Name, rows and classes of each table."""
    from river.datasets import ImageSegments, Phishing

    for name in ("digits", "iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name.replace("_", " "), X, y
    for stream in (ImageSegments(), Phishing()):
        rows, classes = zip(*stream, strict=True)
        X = np.array([[float(value) for value in row.values()] for row in rows])
        yield type(stream).__name__, X, np.unique(classes, return_inverse=True)[1]
    if folder is not None:
        with np.load(folder / "keystroke.npz") as arrays:
            yield "keystroke", arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)


def measured(X: Floats, y: Integers) -> tuple[float, list[int]]:
    """Mean NMI of SPC() over orders, and the number of clusters in each."""
    scores, clusters = [], []
    for order in range(ORDERS):
        rows = np.random.default_rng(order).permutation(len(X))
        model = SPC().fit(X[rows])
        scores.append(normalized_mutual_info_score(y[rows], model.labels_))
        clusters.append(model.n_clusters_)
    return float(np.mean(scores)), clusters


def by_k_means(X: Floats, y: Integers) -> float:
    """NMI of k-means told k."""
    labels = KMeans(len(np.unique(y)), n_init=10, random_state=0).fit_predict(X)
    return float(normalized_mutual_info_score(y, labels))


def main() -> None:
    """Measure all tables, and print one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    stored.add_option(parser)
    options, figures = parser.parse_args(), dict[str, float]()
    table = Table("table", "rows", "features", "classes", "SPC()", "clusters", "k-means told k")
    pairs = []
    for name, X, y in tables(options.folder):
        deviation = X.std(axis=0)
        one_unit = name == "digits"
        scaled = X if one_unit else X / np.where(deviation > 0.0, deviation, 1.0)
        (score, clusters), other = measured(X, y), by_k_means(scaled, y)
        pairs.append((score, other))
        about = (len(X), X.shape[1], len(np.unique(y)))
        figures |= dict(
            zip((f"{name}/{what}" for what in ("rows", "features", "classes")), about, strict=True)
        )
        figures |= {f"{name}/clusters {i}": found for i, found in enumerate(clusters, 1)}
        figures |= {f"{name}/SPC()": score, f"{name}/k-means told k": other}
        found = ", ".join(map(str, clusters))
        table.add_row(name, *map(str, about), f"{score:.2f}", found, f"{other:.2f}")
    ours, theirs = np.mean(pairs, axis=0)
    table.add_row("mean", "", "", "", f"{ours:.2f}", "", f"{theirs:.2f}")
    Console().print(table)
    if options.store:
        figures |= {"mean/SPC()": float(ours), "mean/k-means told k": float(theirs)}
        stored.store("tables", figures, options)


if __name__ == "__main__":
    main()
