"""A page about a model: structures, clusters, typicality, events, findings."""

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from spclust.estimators.queries import lasting_ids
from spclust.estimators.spc import SPC
from spclust.plot.drawn_plane import Plane, drawn_plane
from spclust.plot.palette import lasting_colours
from spclust.plot.structure_figure import structures
from spclust.plot.timeline import events

_MOST_CLUSTERS = 12  # bars
_MOST_FINDINGS = 4  # sentences
_BINS = np.linspace(0.0, 1.0, 31)
_LETTERS = 150  # in a line of text


def plot_all(model: SPC, X: Any = None, *, features: Any = None, projection: Any = None) -> Figure:
    """Draw an overview of a model on one page.

    The structures, as `structures` draws them; the largest clusters, by the points they absorbed;
    the typicality of the points of X, by cluster, or without X the age and size of the structures;
    a timeline of events, if clusters are tracked and there were some; and what `diagnose` says.

    Parameters
    ----------
    model : SPC
        A fitted model.
    X : array-like of shape (n, d), optional
        Points, for example those of the last batch.
    features, projection : optional
        What to show of more than two features, as in `structures`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from spclust import SPC, datasets, plot
    >>> X, _, _ = datasets.make_drifting(3000, n_features=5, n_events=2)
    >>> figure = plot.plot_all(SPC().fit(X), X)
    >>> figure.savefig("overview.png")  # doctest: +SKIP
    """
    plane = drawn_plane(model, features, projection)  # refuses what cannot be drawn
    told = model.events_ if model._fitted.tracker is not None else []
    findings = [
        textwrap.fill(f"• {finding}", _LETTERS, subsequent_indent="   ")
        for finding in model.diagnose()[:_MOST_FINDINGS]
    ]
    text = "\n".join(findings) or "diagnose() finds no problem."
    heights = [3.6, 1.9 if told else 0.0, 0.1 + 0.17 * (text.count("\n") + 1)]
    figure = plt.figure(figsize=(10.0, 0.9 + sum(heights)), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=[max(each, 0.01) for each in heights])
    top = grid[0].subgridspec(2, 2, width_ratios=[1.5, 1.0])
    ax = figure.add_subplot(top[:, 0])
    structures(model, X, ax, features=features, projection=projection)
    ax.set_title(_title(model), loc="left", fontsize="medium")
    if model.n_features_in_ > 1:
        _number_clusters(model, plane, ax)
    _draw_sizes(model, figure.add_subplot(top[0, 1]))
    below = figure.add_subplot(top[1, 1])
    if X is None:
        _draw_ages(model, below)
    else:
        _draw_typicality(model, X, below)
    if told:
        ax = events(model, figure.add_subplot(grid[1]))
        ax.set_title("Events", loc="left", fontsize="medium")
    notes = figure.add_subplot(grid[2])
    notes.set_axis_off()
    notes.text(0.0, 1.0, text, va="top", fontsize="small", transform=notes.transAxes)
    return figure


def _title(model: SPC) -> str:
    d = model.n_features_in_
    return (
        f"{model.n_samples_seen_:,} points of {d:,} feature{'s' if d > 1 else ''}: "
        f"{len(model.structures_)} structures, {model.n_clusters_} "
        f"cluster{'' if model.n_clusters_ == 1 else 's'}"
    )


def _number_clusters(model: SPC, plane: Plane, ax: Axes) -> None:
    """Write the number of each cluster beside its largest structure: colours may recur."""
    table = model.structures_
    labels = model.cluster_labels_
    for label, its_id in zip(labels, lasting_ids(model, labels), strict=True):
        own = np.flatnonzero(table.label == label)
        largest = own[np.argmax(table.count[own])]
        ax.annotate(
            str(its_id),
            plane.places(table.mean[[largest]])[0],
            xytext=(6, 6),
            textcoords="offset points",
            fontsize="small",
            fontweight="bold",
            zorder=4,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "alpha": 0.8, "linewidth": 0},
        )


def _draw_sizes(model: SPC, ax: Axes) -> None:
    """Bars of the largest clusters: points they absorbed, and their structures."""
    table = model.describe()
    largest = np.argsort(-table["count"], kind="stable")[:_MOST_CLUSTERS]
    count, number = table["count"][largest], table["structures"][largest]
    places, labels = np.arange(len(largest)), table["label"][largest]
    ax.barh(places, count, color=lasting_colours(model, labels))
    for place, (points, parts) in enumerate(zip(count, number, strict=True)):
        ax.text(points, place, f" {points:,} in {parts}", va="center", fontsize="x-small")
    ax.set_yticks(places, [str(each) for each in lasting_ids(model, labels)], fontsize="small")
    ax.set(ylabel="cluster", xlim=(0.0, 1.35 * count.max(initial=1)))
    ax.invert_yaxis()
    ax.set_xticks([])
    few = "" if len(largest) == len(table["label"]) else f", the largest {len(largest)}"
    ax.set_title(f"Points and structures of clusters{few}", loc="left", fontsize="medium")
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def _draw_typicality(model: SPC, X: Any, ax: Axes) -> None:
    """Histogram of the typicality of points, by cluster."""
    u, labels = np.exp(model.score_samples(X)), model.predict(X)
    found = np.unique(labels)
    ax.hist(
        [u[labels == label] for label in found],
        bins=_BINS.tolist(),
        stacked=True,
        color=lasting_colours(model, found).tolist(),
    )
    outlying = float(np.mean(labels < 0))
    ax.set(xlabel="typicality", ylabel="points", xlim=(0.0, 1.0))
    ax.set_title(f"Typicality; {outlying:.1%} in no cluster", loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_ages(model: SPC, ax: Axes) -> None:
    """Age and size of the structures."""
    table = model.structures_
    ax.scatter(table.age, table.count, s=18, c=lasting_colours(model, table.label), linewidths=0)
    ax.set(xlabel="age", ylabel="points", yscale="log")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_title("Age and size of structures", loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
