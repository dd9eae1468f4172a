"""Three sine waves that move on and on, clustered in a single pass; the paper's four panels.

Run it with `make demo`. It prints the clusters with their scores and writes `output/sine.png`.
"""

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from sklearn.cluster import Birch, MiniBatchKMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from spclust import SPC, datasets, plot

BATCH = 30
console = Console()


def purity(truth, labels):
    """Share of the points that belong to the most frequent class of their cluster."""
    return contingency_matrix(truth, labels).max(axis=0).sum() / len(truth)


def scores(truth, labels):
    return purity(truth, labels), normalized_mutual_info_score(truth, labels)


def stream_through(model, X):
    """Hand the stream to the model batch by batch, as it would arrive."""
    with console.status("compiling the kernels: half a minute, the first time only"):
        _ = SPC(2, w_min=0.9).fit(X[:9]).labels_  # nine points touch every kernel
    started = time.perf_counter()
    bar = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*bar, TextColumn("{task.fields[state]}"), console=console) as progress:
        task = progress.add_task("points", total=len(X), state="")
        for start in range(0, len(X), BATCH):
            batch = X[start : start + BATCH]
            model.partial_fit(batch)
            state = f"{len(model.structures_)} structures, {model.n_clusters_} clusters"
            progress.update(task, advance=len(batch), state=state)
    return time.perf_counter() - started


def peers(X):
    """Two of scikit-learn's incremental clusterers, which are told the number of clusters."""
    learners = {
        "MiniBatchKMeans,\ntold k = 3": MiniBatchKMeans(3, random_state=0, n_init=3),
        "Birch,\ntold k = 3": Birch(n_clusters=3),
    }
    for name, learner in learners.items():
        for start in range(0, len(X), BATCH):
            learner.partial_fit(X[start : start + BATCH])
        yield name, learner.predict(X)


def print_clusters(model, X, y, labels):
    table = Table(title="What SPC found, having seen each point once")
    for column in ("cluster", "structures", "points nearest to it", "of them in wave 0, 1, 2"):
        table.add_column(column, justify="right")
    owners = model.structures_.label
    for cluster in range(model.n_clusters_):
        waves = np.bincount(y[labels == cluster], minlength=3)
        row = cluster, (owners == cluster).sum(), waves.sum(), ", ".join(map(str, waves))
        table.add_row(*map(str, row))
    console.print(table)


def draw(model, X, results, path):
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
    arrival, learnt, regions, bars = axes.flat
    points = arrival.scatter(*X.T, c=np.arange(len(X)), s=3, cmap="viridis", linewidths=0)
    figure.colorbar(points, ax=arrival, label="order of arrival")
    arrival.set_title("(a) the stream")
    plot.structures(model, X, ax=learnt)
    learnt.set_title("(b) structures, their typicality and clusters")
    regions.set(xlim=learnt.get_xlim(), ylim=learnt.get_ylim())
    regions.scatter(*X.T, s=1, color="black", alpha=0.15, linewidths=0, zorder=1)
    plot.decision_regions(model, ax=regions)
    regions.set_title("(c) decision regions")
    place = np.arange(len(results))
    for shift, k, measure, colour in ((-0.2, 0, "purity", "#0072B2"), (0.2, 1, "NMI", "#E69F00")):
        heights = [result[k] for result in results.values()]
        drawn = bars.bar(place + shift, heights, 0.38, label=measure, color=colour)
        bars.bar_label(drawn, fmt="%.2f", padding=2)
    bars.set(xticks=place, xticklabels=results, ylim=(0, 1.19))
    bars.legend(loc="upper center", ncols=2, frameon=False)
    bars.set_title("(d) agreement with the three waves")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    X, y = datasets.make_sine()
    # The paper's parameters for its sine stream (Table I).
    model = SPC(n_structures=30, m=1.4, gamma=0.1, beta=0.05)
    seconds = stream_through(model, X)
    labels = model.predict(X)
    print_clusters(model, X, y, labels)
    results = {"SPC": scores(y, labels)}
    results.update((name, scores(y, found)) for name, found in peers(X))
    for name, (share, nmi) in results.items():
        console.print(f"{name.replace(chr(10), ' '):>28}: purity {share:.3f}, NMI {nmi:.3f}")
    path = Path("output/sine.png")
    draw(model, X, results, path)
    console.print(f"{len(X)} points in {seconds:.2f} s in batches of {BATCH}; figure: {path}")


if __name__ == "__main__":
    main()
