"""A model of one feature: typicality along a line."""

import numpy as np
from matplotlib.axes import Axes

from spclust.array_types import Rows
from spclust.estimators.queries import feature_names, typicality_of_rows
from spclust.estimators.spc import SPC
from spclust.plot.drawn_plane import drawn_plane, extent_of
from spclust.plot.palette import lasting_colours

_STEPS = 1000  # places along the line
_BELOW = 0.06  # height of the strip of means, below the curves


def draw_line(model: SPC, points: Rows | None, ax: Axes) -> Axes:
    """Draw typicality in each cluster along the feature; below, means, and points as ticks."""
    table = model.structures_
    plane = drawn_plane(model)
    rows = None if points is None else plane.places(points)
    left, right, _, _ = extent_of(plane.places(table.mean), plane.outlines(model), rows)
    x = np.linspace(left, right, _STEPS)
    u = typicality_of_rows(model, x[:, np.newaxis])
    for height, colour in zip(u.T, lasting_colours(model, model.cluster_labels_), strict=True):
        ax.fill_between(x, height, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, height, color=colour, linewidth=1.2)
    if points is not None:
        ticks = points[:, 0]
        ax.plot(ticks, np.full(len(ticks), -2.0 * _BELOW), "|", color="0.25", alpha=0.4)
    ax.scatter(
        table.mean[:, 0],
        np.full(len(table), -_BELOW),
        s=15.0 + 85.0 * table.count / table.count.max(),
        c=lasting_colours(model, table.label),
        edgecolors="white",
        linewidths=0.8,
        zorder=3,
    )
    ax.set(xlim=(left, right), ylim=(-3.0 * _BELOW, 1.03), ylabel="typicality")
    ax.set_yticks([0.0, 0.5, 1.0])
    ax.set_xlabel(feature_names(model)[0], parse_math=False)
    return ax
