"""The two motivation figures of the paper, typicality and covariance union, and their chapter."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from spclust import covariance_union, datasets, plot, typicality
from spclust.array_types import Floats
from spclust.experiments.reproduction.figures import STYLE
from spclust.experiments.reproduction.report_text import paragraph

_LEFT, _RIGHT = plot.CLUSTER_COLOURS[0], plot.CLUSTER_COLOURS[5]
_LEVELS = np.linspace(0.0, 1.0, 11)


def touching_circles() -> Figure:
    """A Gaussian and a possibilistic model of the left of two circles that nearly touch.

    Both models are 1 at the centre of the circle and 1/2 at its rim. The Gaussian is still high
    inside the right circle; typicality with m = 1.1 falls to almost 0 there.
    """
    X, y = datasets.make_circles_touching()
    mu, radius = np.array([-1.025, 0.0]), 1.0
    x, z = np.meshgrid(np.linspace(-2.6, 2.6, 301), np.linspace(-1.6, 1.6, 201))
    places = np.column_stack([x.ravel(), z.ravel()])
    squares = np.sum((places - mu) ** 2, axis=1) / radius**2
    gaussian = 0.5**squares  # its variance is such that it is 1/2 at the rim
    possibilistic = typicality(places, mu, radius**2 * np.eye(2), m=1.1)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharex=True, sharey=True)
        for ax, values, title in (
            (axes[0], gaussian, "(a) Gaussian, density relative to its peak"),
            (axes[1], np.asarray(possibilistic), "(b) Typicality, m = 1.1"),
        ):
            shade = ax.contourf(x, z, values.reshape(x.shape), _LEVELS, cmap="Greys", alpha=0.55)
            for circle, colour, marker in ((0, _LEFT, "o"), (1, _RIGHT, "^")):
                own = X[y == circle]
                ax.scatter(*own.T, s=8, color=colour, marker=marker, linewidths=0)
            ax.set(title=title, aspect="equal")
        figure.colorbar(shade, ax=axes, label="relative density, typicality")
    return figure


def two_ways_to_merge() -> Figure:
    """Two structures, merged by the mean of their covariances (Eq. 11) and by covariance union."""
    means = np.array([[-2.0, -1.0], [2.0, 1.0]])
    covariances = np.array([[[0.5, 0.2], [0.2, 0.3]], [[0.4, -0.15], [-0.15, 0.6]]])
    mu = means.mean(axis=0)
    union = covariance_union(covariances[0], means[0], covariances[1], means[1], mu)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharex=True, sharey=True)
        for ax, title in zip(
            axes,
            ("(a) Two structures", "(b) Merged by Eq. 11", "(c) Merged by covariance union"),
            strict=True,
        ):
            for mean, covariance in zip(means, covariances, strict=True):
                _draw(ax, mean, covariance, _LEFT, "--" if ax is not axes[0] else "-")
            ax.set(title=title, aspect="equal", xlim=(-4.8, 4.8), ylim=(-3.4, 3.4))
        _draw(axes[1], mu, covariances.mean(axis=0), _RIGHT, "-")
        _draw(axes[2], mu, union, _RIGHT, "-")
    return figure


def _draw(ax: Axes, mean: Floats, covariance: Floats, colour: str, line: str) -> None:
    """Draw a mean, and outlines at one and two standard deviations."""
    variances, directions = np.linalg.eigh(covariance)
    angle = float(np.degrees(np.arctan2(directions[1, 0], directions[0, 0])))
    ax.plot(*mean, "o", color=colour, markersize=5)
    for reach in (1.0, 2.0):
        width, height = 2.0 * reach * np.sqrt(variances)
        ax.add_patch(
            Ellipse(
                (float(mean[0]), float(mean[1])),
                float(width),
                float(height),
                angle=angle,
                fill=False,
                color=colour,
                linestyle=line,
                linewidth=1.4 if reach == 1.0 else 0.8,
            )
        )


def motivation_chapter(figures: str) -> list[str]:
    """The chapter of the report with both figures, which are in the folder `figures`."""
    return [
        "## Why typicality, and why covariance union",
        f"![Two circles that nearly touch]({figures}/circles.png)",
        paragraph(
            "Both models are 1 at the centre of the left circle and 1/2 at its rim. The Gaussian "
            "is still high inside the right circle; typicality with m = 1.1 falls to almost 0 "
            "there."
        ),
        f"![Two structures and two ways to merge them]({figures}/merging.png)",
        paragraph(
            "Eq. 11 averages the covariances and ignores that the means differ; covariance union "
            "covers both structures. Outlines are at one and two standard deviations."
        ),
    ]
