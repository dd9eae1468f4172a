"""Structures: means, outlines and the typicality around them."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from spclust.array_types import Floats, Integers
from spclust.estimators.input_checks import checked_rows
from spclust.estimators.queries import typicality_of_rows
from spclust.estimators.spc import SPC
from spclust.plot.drawn_plane import Extent, Plane, drawn_plane, extent_of, grid_of, scatter
from spclust.plot.one_feature import draw_line
from spclust.plot.palette import cluster_colours, lasting_colours

_FEWEST = 3  # points of a structure that has an outline, if the scale is automatic
_SHADE = 0.4  # opacity where typicality is 1: points remain visible on it


def structures(
    model: SPC,
    X: Any = None,
    ax: Axes | None = None,
    *,
    features: Any = None,
    projection: Any = None,
) -> Axes:
    """Draw the structures of a model: means, outlines, typicality, clusters.

    Filled circles are means, larger for more points. An outline is drawn where typicality is 1/2,
    or, if the scale is automatic, at two standard deviations of the points, if there are three or
    more. The colour is the cluster.

    A model of two features is drawn as it is: the shade of a place is its typicality in the best
    structure. In a projection, and where two of more features are chosen, a place is not a point,
    and has no typicality: there is no shade, and outlines are those of projected covariances,
    `structures_.projected`. A model of one feature is drawn along a line: its height is the
    typicality in each cluster.

    Parameters
    ----------
    model : SPC
        A fitted model.
    X : array-like of shape (n, d), optional
        Points to draw below the structures.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default.
    features : pair of str or int, optional
        Two features, by name or position. By default those of a model of two.
    projection : "pca" or array-like of shape (d, 2), optional
        Two directions, as the columns of a matrix. "pca", the default for more than two features,
        are the principal components of the means of the structures, weighted by their masses, with
        each feature in units of its standard deviation. Axes have their share of the variance.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spclust import SPC, plot
    >>> iris = load_iris(as_frame=True).data
    >>> model = SPC().fit(iris)
    >>> ax = plot.structures(model, iris)  # a projection of four features
    >>> ax = plot.structures(model, iris, features=("petal length (cm)", "petal width (cm)"))
    >>> ax.get_xlabel()
    'petal length (cm)'
    """
    table = model.structures_
    points = None if X is None else checked_rows(model, X, reset=False)
    ax = plt.gca() if ax is None else ax
    if table.mean.shape[1] == 1 and features is None and projection is None:
        return draw_line(model, points, ax)
    plane = drawn_plane(model, features, projection)
    places, outlines = plane.places(table.mean), plane.outlines(model)
    dots = None if points is None else plane.places(points)
    extent = extent_of(places, outlines, dots)
    if plane.has_all:
        _shade(model, plane, extent, ax)
    if dots is not None:
        scatter(ax, dots, s=4, color="0.25", alpha=0.55, linewidths=0, zorder=1)
    colours = lasting_colours(model, table.label)
    # The covariance of two points is a line.
    wide = (table.count >= _FEWEST) | (not model._stream.automatic)
    for place, outline, colour in zip(places[wide], outlines[wide], colours[wide], strict=True):
        _draw_outline(ax, place, outline, colour)
    _draw_means(ax, places, colours, table.count)
    finish_axes(ax, plane, extent)
    return ax


def means(ax: Axes, places: Floats, labels: Integers, counts: Integers) -> None:
    """Draw means at places (k, 2): circles, larger for more points, coloured by cluster."""
    _draw_means(ax, places, cluster_colours(labels), counts)


def _draw_means(ax: Axes, places: Floats, colours: Floats, counts: Integers) -> None:
    area = 15.0 + 85.0 * counts / counts.max()
    scatter(ax, places, s=area, c=colours, edgecolors="white", linewidths=0.8, zorder=3)


def finish_axes(ax: Axes, plane: Plane, extent: Extent) -> None:
    """Set limits and names of axes."""
    ax.set(xlim=extent[:2], ylim=extent[2:])
    ax.set_xlabel(plane.names[0], parse_math=False)  # a $ in a name is no formula
    ax.set_ylabel(plane.names[1], parse_math=False)


def _shade(model: SPC, plane: Plane, extent: Extent, ax: Axes) -> None:
    rows, shape = grid_of(extent, plane)
    u = typicality_of_rows(model, rows)
    picture = np.ones((len(rows), 4))
    if u.shape[1]:
        picture[:, :3] = lasting_colours(model, model.cluster_labels_[u.argmax(axis=1)])
    picture[:, 3] = _SHADE * u.max(axis=1, initial=0.0)
    ax.imshow(picture.reshape(*shape, 4), extent=extent, origin="lower", aspect="auto", zorder=0)


def _draw_outline(ax: Axes, place: Floats, outline: Floats, colour: Floats) -> None:
    variances, directions = np.linalg.eigh(outline)
    if variances[-1] <= 0.0:
        return  # a single point, or copies of one: the mean is drawn alone
    ax.add_patch(
        Ellipse(
            (place[0], place[1]),
            *(2.0 * np.sqrt(np.maximum(variances, 0.0))),  # below 0 by rounding
            angle=float(np.degrees(np.arctan2(directions[1, 0], directions[0, 0]))),
            fill=False,
            color=colour,
            linewidth=0.8,
            zorder=2,
        )
    )
