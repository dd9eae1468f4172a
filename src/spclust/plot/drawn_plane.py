"""The plane that a figure shows: two features, or a projection of all of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from spclust.array_types import Floats, Rows
from spclust.estimators.queries import feature_names
from spclust.estimators.spc import SPC
from spclust.inspection.principal_axes import principal_axes, standardised_means, upright

_DEVIATIONS = 2.0  # standard deviations from mean to outline, if the scale is automatic
_GRID = 300  # cells along each axis of a figure
_MARGIN = 0.03  # of the size of a figure

Extent = tuple[float, float, float, float]  # left, right, bottom, top


class Plane(NamedTuple):
    """Two axes in the space of the features."""

    axes: Floats  # (2, d)
    origin: Floats  # (d,) the point at (0, 0)
    names: tuple[str, str]
    has_all: bool  # True if there are no other features: a place in the plane is a point

    def places(self, rows: Rows) -> Floats:
        """Places (n, 2) of rows (n, d)."""
        places: Floats = (rows - self.origin) @ self.axes.T
        return places

    def outlines(self, model: SPC) -> Floats:
        """Matrices (k, 2, 2) whose ellipses are the outlines of the structures.

        In the paper's mode these are the covariances, which contain the scale. In the automatic
        mode, where they are those of the points alone, they are enlarged.
        """
        table = model.structures_
        if self.has_all:  # these are limited to finite numbers
            covariance = self.axes @ table.covariance @ self.axes.T
        else:
            covariance = table.projected(self.axes)[1]
        enlarged = _DEVIATIONS**2 if model._stream.automatic else 1.0
        outlines: Floats = enlarged * covariance
        return outlines


def drawn_plane(model: SPC, features: Any = None, projection: Any = None) -> Plane:
    """The plane that a reader asks for: see `spclust.plot.structures`."""
    names = feature_names(model)
    d = len(names)
    if features is not None and projection is not None:
        raise ValueError("A figure shows features or a projection: give one of them.")
    if features is None and projection is None:
        if d > 2:
            return _principal_plane(model, names)
        features = (0, d - 1)
    if features is not None:
        return _feature_plane(_places_of(features, names), names)
    if isinstance(projection, str):
        if projection != "pca":
            raise ValueError(f'projection must be "pca" or a matrix, but is {projection!r}.')
        return _principal_plane(model, names)
    matrix = np.asarray(projection, dtype=np.float64)
    if matrix.shape != (d, 2) or not np.isfinite(matrix).all():
        raise ValueError(
            f"projection must be a matrix of shape ({d}, 2), a row for each feature, of finite "
            f"numbers, but has shape {matrix.shape}."
        )
    return Plane(matrix.T, np.zeros(d), ("projection 1", "projection 2"), has_all=False)


def _places_of(features: Any, names: Sequence[str]) -> list[int]:
    """Positions of two features, which are given by name or by position."""
    chosen = [features] if isinstance(features, str | int) else list(features)
    if len(chosen) != 2:
        raise ValueError(f"features must be two names or positions, but is {features!r}.")
    places = []
    for feature in chosen:
        if isinstance(feature, str) and feature in names:
            places.append(names.index(feature))
        elif isinstance(feature, int | np.integer) and -len(names) <= feature < len(names):
            places.append(int(feature) % len(names))
        else:
            raise ValueError(
                f"There is no feature {feature!r}: there are {len(names)}, "
                f"{', '.join(names[:10])}{', ...' if len(names) > 10 else ''}."
            )
    return places


def _feature_plane(places: Sequence[int], names: Sequence[str]) -> Plane:
    d = len(names)
    has_all = d == 2 and places[0] != places[1]
    x, y = (names[place] for place in places)
    return Plane(np.eye(d)[list(places)], np.zeros(d), (x, y), has_all)


def _principal_plane(model: SPC, names: Sequence[str]) -> Plane:
    """The two directions in which the means differ most, each feature in its own unit.

    Where the means differ in fewer directions, the feature in which the structures are widest,
    beside their distance, is the other axis.
    """
    table = model.structures_
    weight = table.weight if table.weight.sum() > 0.0 else table.count.astype(np.float64)
    weighted, unit = standardised_means(table.mean, weight)
    axes = upright(principal_axes(weighted))
    shown = np.sum((weighted @ axes.T) ** 2, axis=0)
    total = max(float(np.sum(weighted**2)), np.finfo(float).tiny)
    width = (model.describe("structures")["spread"] / unit).mean(axis=0)
    titles = []
    for row, share in enumerate(shown / total):
        if share > 1e-12:
            titles.append(f"component {row + 1} ({share:.0%})")
            continue
        width = width * (1.0 - np.abs(axes[0]) if row else 1.0)
        widest = int(np.argmax(width))
        axes[row], width[widest] = np.eye(len(names))[widest], -1.0
        titles.append(names[widest])
    origin = weight @ table.mean / weight.sum()
    return Plane(axes / unit, origin, (titles[0], titles[1]), has_all=False)


@np.errstate(over="ignore", invalid="ignore")  # Matplotlib refuses limits that are infinite
def extent_of(means: Floats, outlines: Floats, points: Floats | None) -> Extent:
    """Left, right, bottom, top of a figure with room for all outlines and points."""
    reach = np.sqrt(np.maximum(np.diagonal(outlines, axis1=1, axis2=2), 0.0))
    low, high = (means - reach).min(axis=0), (means + reach).max(axis=0)
    if points is not None:
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    size = high - low
    margin = np.where(size > 0.0, _MARGIN * size, 1.0)  # the size is 0 if there is a single point
    low, high = low - margin, high + margin
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def scatter(ax: Axes, places: Floats, **style: Any) -> PathCollection:
    """Draw dots at places (n, 2)."""
    return ax.scatter(places[:, 0], places[:, 1], **style)


def grid_of(extent: Extent, plane: Plane) -> tuple[Floats, tuple[int, int]]:
    """Rows (cells, 2) at the centres of the cells of a figure, from the bottom, and its shape."""
    left, right, bottom, top = extent
    steps = (np.arange(_GRID) + 0.5) / _GRID
    x, y = np.meshgrid(left + (right - left) * steps, bottom + (top - bottom) * steps)
    return np.column_stack([x.ravel(), y.ravel()]) @ plane.axes, (_GRID, _GRID)
