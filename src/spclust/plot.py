"""Figures of a fitted model in the style of the paper. Needs matplotlib.

Colours: cluster k has colour k of `CLUSTER_COLOURS`, modulo their number; noise is grey. The live
page has palettes of its own, for light and dark: live/page/colours.js.
"""

from typing import Any

import numpy as np

from spclust.array_types import Floats, Integers, Rows
from spclust.estimators.input_checks import checked_rows
from spclust.estimators.queries import labels_of_rows, typicality_of_rows
from spclust.estimators.spc import SPC

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Ellipse
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError(
        "spclust.plot needs matplotlib: install it with pip install 'spclust[plot]'."
    ) from error

# Okabe and Ito's palette, which is distinguishable with any colour vision, and in print.
CLUSTER_COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000",
)  # fmt: skip
NOISE_COLOUR = "#999999"
_DEVIATIONS = 2.0  # standard deviations from mean to outline, if the scale is automatic
_GRID = 300  # cells along each axis of a figure


def structures(model: SPC, X: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the structures of a model of two features: means, typicality, clusters.

    Filled circles are means, larger for more points. An outline is drawn where typicality is 1/2,
    or, if the scale is automatic, at two standard deviations of the points. The shade of a
    location is its typicality in the best structure; the colour is the cluster.

    Parameters
    ----------
    model : SPC
        A fitted model of two features.
    X : array-like of shape (n, 2), optional
        Points to draw below the structures.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default.

    Returns
    -------
    matplotlib Axes
    """
    ax = _axes(model, ax)
    points = None if X is None else checked_rows(model, X, reset=False)
    table = model.structures_
    left, right, bottom, top = extent = _extent(model, points)
    grid = _grid(extent)
    u = typicality_of_rows(model, grid)
    picture = np.ones((len(grid), 4))
    if u.shape[1]:
        picture[:, :3] = cluster_colours(np.unique(table.label[table.label >= 0])[u.argmax(axis=1)])
    picture[:, 3] = 0.6 * u.max(axis=1, initial=0.0)
    ax.imshow(
        picture.reshape(_GRID, _GRID, 4), extent=extent, origin="lower", aspect="auto", zorder=0
    )
    if points is not None:
        ax.scatter(points[:, 0], points[:, 1], s=2, color="0.6", alpha=0.5, linewidths=0, zorder=1)
    for mean, outline, label in zip(table.mean, _outlines(model), table.label, strict=True):
        variances, directions = np.linalg.eigh(outline)
        if variances[-1] == 0.0:
            continue  # a single point, or copies of one: the mean is drawn alone
        ax.add_patch(
            Ellipse(
                (mean[0], mean[1]),
                *(2.0 * np.sqrt(np.maximum(variances, 0.0))),  # below 0 by rounding
                angle=float(np.degrees(np.arctan2(directions[1, 0], directions[0, 0]))),
                fill=False,
                color=cluster_colours(np.array([label]))[0],
                linewidth=0.8,
                zorder=2,
            )
        )
    means(ax, table.mean, table.label, table.count)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    _name_axes(model, ax)
    return ax


def _outlines(model: SPC) -> Floats:
    """Matrices (k, 2, 2) whose ellipses are the outlines of the structures.

    In the paper's mode these are the covariances, which contain the scale. In the automatic mode,
    where they are those of the points alone, they are enlarged.
    """
    if not model._stream.automatic:
        return model.structures_.covariance
    return _DEVIATIONS**2 * model.structures_.covariance


def means(ax: Axes, places: Floats, labels: Integers, counts: Integers) -> None:
    """Draw means at places (k, 2): circles, larger for more points, coloured by cluster."""
    area = 15.0 + 85.0 * counts / counts.max()
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=area,
        c=cluster_colours(labels),
        edgecolors="white",
        linewidths=0.8,
        zorder=3,
    )


def decision_regions(model: SPC, ax: Axes | None = None) -> Axes:
    """Colour the plane by the cluster that `predict` gives each location (Eq. 17).

    Parameters
    ----------
    model : SPC
        A fitted model of two features.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default. If they contain data, their limits are
        kept.

    Returns
    -------
    matplotlib Axes
    """
    ax = _axes(model, ax)
    extent = (*ax.get_xlim(), *ax.get_ylim()) if ax.has_data() else _extent(model, None)
    labels = labels_of_rows(model, _grid(extent))
    picture = 0.5 + 0.5 * cluster_colours(labels).reshape(_GRID, _GRID, 3)
    ax.imshow(picture, extent=extent, origin="lower", aspect="auto", zorder=0)
    table = model.structures_
    x, y = table.mean.T
    ax.scatter(x, y, s=12, c=cluster_colours(table.label), edgecolors="black", linewidths=0.5)
    ax.set(xlim=extent[:2], ylim=extent[2:])
    _name_axes(model, ax)
    return ax


def cluster_colours(labels: Integers) -> Floats:
    """Colours (n, 3), red, green and blue from 0 to 1, of clusters (n,); noise is grey."""
    palette = np.array([to_rgb(colour) for colour in (*CLUSTER_COLOURS, NOISE_COLOUR)])
    return palette[np.where(labels >= 0, labels % len(CLUSTER_COLOURS), len(CLUSTER_COLOURS))]


def _axes(model: SPC, ax: Axes | None) -> Axes:
    d = model.structures_.mean.shape[1]
    if d != 2:
        raise ValueError(
            f"spclust.plot draws models of 2 features, but this one has {d}: fit a model to two "
            "columns, or to two components of a projection."
        )
    return plt.gca() if ax is None else ax


@np.errstate(over="ignore", invalid="ignore")  # Matplotlib refuses limits that are infinite
def _extent(model: SPC, points: Rows | None) -> tuple[float, float, float, float]:
    """Left, right, bottom, top of a figure with room for all outlines and points."""
    table = model.structures_
    reach = np.sqrt(np.diagonal(_outlines(model), axis1=1, axis2=2))
    low, high = (table.mean - reach).min(axis=0), (table.mean + reach).max(axis=0)
    if points is not None:
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    size = high - low
    margin = np.where(size > 0.0, 0.03 * size, 1.0)  # the size is 0 if there is a single point
    low, high = low - margin, high + margin
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _grid(extent: tuple[float, ...]) -> Floats:
    """Centres of the cells of a figure (cells, 2), row by row from the bottom."""
    left, right, bottom, top = extent
    steps = (np.arange(_GRID) + 0.5) / _GRID
    x, y = np.meshgrid(left + (right - left) * steps, bottom + (top - bottom) * steps)
    return np.column_stack([x.ravel(), y.ravel()])


def _name_axes(model: SPC, ax: Axes) -> None:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
