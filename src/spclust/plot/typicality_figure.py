"""Typicality of places, or of points."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from spclust.array_types import Floats
from spclust.estimators.input_checks import checked_rows
from spclust.estimators.queries import labels_of_rows, typicality_of_rows
from spclust.estimators.spc import SPC
from spclust.plot.drawn_plane import Extent, Plane, drawn_plane, extent_of, grid_of, scatter
from spclust.plot.palette import NOISE_COLOUR, lasting_colours
from spclust.plot.structure_figure import finish_axes

LEVELS = (0.1, 0.5, 0.9)  # typicality at the lines of a map
_TINTS = (0.12, 0.22, 0.34)  # opacity of the bands above each level: points remain visible
_OUTLIER = "#B2182B"


def typicality_map(
    model: SPC,
    X: Any = None,
    ax: Axes | None = None,
    *,
    features: Any = None,
    projection: Any = None,
) -> Axes:
    """Draw how typical places are: bands of typicality, light enough to see the points on them.

    Lines are drawn where the typicality in a cluster is 0.1, 0.5 and 0.9. Points that `predict`
    gives to no cluster are red crosses. In a projection of more than two features, a place is not a
    point and has no typicality: there are no bands, and each point of X has the colour of its own.

    Parameters
    ----------
    model : SPC
        A fitted model of two features or more.
    X : array-like of shape (n, d), optional
        Points to draw. Needed if there are more than two features.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default.
    features, projection : optional
        What to show of more than two features, as in `structures`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from spclust import SPC, datasets, plot
    >>> X, _ = datasets.make_circles_touching()
    >>> ax = plot.typicality_map(SPC().fit(X), X)
    """
    d = model.structures_.mean.shape[1]
    if d == 1:
        raise ValueError(
            "typicality_map draws models of 2 features or more: plot.structures draws the "
            "typicality along one."
        )
    if d > 2 and X is None:
        raise ValueError(f"typicality_map needs points X to draw a model of {d} features.")
    plane = drawn_plane(model, features, projection)
    points = None if X is None else checked_rows(model, X, reset=False)
    ax = plt.gca() if ax is None else ax
    dots = None if points is None else plane.places(points)
    extent = extent_of(plane.places(model.structures_.mean), plane.outlines(model), dots)
    if plane.has_all:
        _bands(model, plane, extent, ax)
    if points is not None and dots is not None:
        outlying = labels_of_rows(model, points) < 0
        if plane.has_all:
            scatter(ax, dots[~outlying], s=5, color="0.2", alpha=0.7, linewidths=0, zorder=2)
        else:
            u = typicality_of_rows(model, points).max(axis=1, initial=0.0)
            _coloured(ax, dots[~outlying], u[~outlying])
        scatter(ax, dots[outlying], s=28, marker="x", color=_OUTLIER, linewidths=1.2, zorder=3)
    finish_axes(ax, plane, extent)
    return ax


def _bands(model: SPC, plane: Plane, extent: Extent, ax: Axes) -> None:
    """Bands of typicality in the colour of each cluster, and lines between them."""
    rows, shape = grid_of(extent, plane)
    u = typicality_of_rows(model, rows)
    places = plane.places(rows).reshape(*shape, 2)
    x, y = places[0, :, 0], places[:, 0, 1]
    best = u.argmax(axis=1) if u.shape[1] else np.zeros(len(rows), dtype=np.int64)
    for k, cluster in enumerate(model.cluster_labels_):
        colour = tuple(lasting_colours(model, np.array([cluster]))[0])
        height = np.where(best == k, u[:, k], 0.0).reshape(shape)
        tints = [(*colour, tint) for tint in _TINTS]
        ax.contourf(x, y, height, levels=[*LEVELS, 1.01], colors=tints, zorder=0)
        lines = ax.contour(x, y, u[:, k].reshape(shape), LEVELS, colors=[colour], zorder=1)
        lines.set_linewidth([0.5, 1.1, 0.5])


def _coloured(ax: Axes, places: Floats, u: Floats) -> None:
    """Draw points at places (n, 2) with typicality (n,), the least typical ones on top."""
    order = np.argsort(-u)
    drawn = scatter(
        ax,
        places[order],
        c=u[order],
        s=12,
        cmap="cividis",
        vmin=0.0,
        vmax=1.0,
        edgecolors="0.4",
        linewidths=0.2,
    )
    figure = ax.get_figure(root=True)
    if figure is not None:
        figure.colorbar(drawn, ax=ax, label="typicality", shrink=0.8).outline.set_color(
            NOISE_COLOUR
        )
