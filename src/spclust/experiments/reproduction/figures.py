"""Figures of the experiments: order of arrival, structures, decision regions, scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.sparse.linalg import svds

from spclust import SPC, plot
from spclust.array_types import Floats
from spclust.experiments.reproduction.runs import BATCH, Scored
from spclust.experiments.reproduction.setups import Experiment

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "pdf.fonttype": 42,  # embeds fonts, so that text remains text
}
_ON_A_BAR: dict[str, Any] = {
    "ha": "center",
    "fontsize": 8,
    "fontweight": "bold",
    "bbox": {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
}
_MANY = 8  # entries without contestants
_LONGEST = 22  # characters of a name below bars
_PURITY, _NMI = plot.CLUSTER_COLOURS[:2]


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and as PDF; return the paths."""
    paths = [path.with_suffix(".png"), path.with_suffix(".pdf")]
    for each in paths:
        figure.savefig(each, metadata={"CreationDate": None} if each.suffix == ".pdf" else None)
    plt.close(figure)
    return paths


def experiment_figure(experiment: Experiment, results: Mapping[str, Sequence[Scored]]) -> Figure:
    """Figure of one experiment; `results` has a list for each entry, one item for each seed."""
    X, _ = experiment.stream(0)
    model = SPC() if experiment.own else SPC(**experiment.paper_parameters)
    for start in range(0, len(X), BATCH):
        model.partial_fit(X[start : start + BATCH])
    with plt.rc_context(STYLE):
        if X.shape[1] == 2:
            return _four_panels(experiment, model, X, results)
        return _projected(experiment, model, X, results)


def _four_panels(
    experiment: Experiment, model: SPC, X: Floats, results: Mapping[str, Sequence[Scored]]
) -> Figure:
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.6))
    _arrival(axes[0, 0], figure, X)
    plot.structures(model, X, ax=axes[0, 1])
    axes[0, 1].set_title(f"(b) {len(model.structures_)} structures, {model.n_clusters_} clusters")
    axes[1, 0].scatter(*X.T, s=2, color="0.35", linewidths=0, zorder=2)
    axes[1, 0].set(xlim=axes[0, 1].get_xlim(), ylim=axes[0, 1].get_ylim())
    plot.decision_regions(model, ax=axes[1, 0])
    axes[1, 0].set_title("(c) Decision regions" + ("" if experiment.own else " by Eq. 17"))
    _bars(axes[1, 1], results, "(d)")
    axes[0, 0].set(xlim=axes[0, 1].get_xlim(), ylim=axes[0, 1].get_ylim())
    return figure


def _projected(
    experiment: Experiment, model: SPC, X: Floats, results: Mapping[str, Sequence[Scored]]
) -> Figure:
    """Figure for other than two features: two principal components, no decision regions."""
    table = model.structures_
    if X.shape[1] == 1:  # over the number of the point; structures are those after the last one
        points = np.column_stack([np.arange(len(X)), X])
        means = np.column_stack([np.full(len(table), len(X)), table.mean])
        names = {"xlabel": "point", "ylabel": "value"}
    else:
        centre = X.mean(axis=0)
        directions = svds(X - centre, k=2, v0=np.ones(min(X.shape)))[2][::-1].T
        points, means = (X - centre) @ directions, (table.mean - centre) @ directions
        names = {"xlabel": "first principal component", "ylabel": "second"}
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
    _arrival(axes[0], figure, points)
    axes[1].scatter(*points.T, s=2, color="0.6", linewidths=0)
    plot.means(axes[1], means, table.label, table.count)
    axes[1].set_title(f"(b) {len(table)} structures, {model.n_clusters_} clusters")
    for ax in axes[:2]:
        ax.set(**names)
    _bars(axes[2], results, "(c)")
    return figure


def _arrival(ax: Axes, figure: Figure, X: Floats) -> None:
    drawn = ax.scatter(X[:, 0], X[:, 1], c=np.arange(len(X)), s=5, cmap="viridis", linewidths=0)
    figure.colorbar(drawn, ax=ax, label="point")
    ax.set_title("(a) In order of arrival")


def _tick(name: str) -> str:
    """The name of an entry below its bars."""
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 3]}..."
    return name.replace(", ", ",\n")


def _bars(ax: Axes, results: Mapping[str, Sequence[Scored]], letter: str) -> None:
    """Mean purity and NMI of each entry; whiskers show the worst and the best seed."""
    names = list(results)
    for offset, score, colour, hatch in ((-0.2, "purity", _PURITY, ""), (0.2, "nmi", _NMI, "//")):
        values = [np.array([r.scores[score] for r in results[name]]) for name in names]
        means = np.array([v.mean() for v in values])
        reach = np.array([[m - v.min(), v.max() - m] for m, v in zip(means, values, strict=True)])
        ax.bar(
            np.arange(len(names)) + offset,
            means,
            0.38,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label="purity" if score == "purity" else "NMI",
            yerr=np.abs(reach.T),
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
        for at, mean in enumerate(means):
            ax.text(at + offset, 0.02, f"{mean:.2f}", rotation=90, **_ON_A_BAR)
    ax.set_xticks(np.arange(len(names)), [_tick(name) for name in names], fontsize=7.5)
    ax.tick_params(axis="x", labelrotation=25)
    if len(names) > _MANY:  # of contestants: names that end at their bars do not overlap
        plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    ax.set(ylim=(0, 1.17))
    ax.legend(loc="upper right", frameon=False, ncols=2, fontsize=7.5)
    seeds = len(next(iter(results.values())))
    several = f"Means over {seeds} streams, worst and best"
    ax.set_title(f"{letter} {several if seeds > 1 else 'Scores on one stream'}")
