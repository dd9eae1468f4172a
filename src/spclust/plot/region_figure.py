"""Decision regions: the cluster of every place of a plane."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from spclust.estimators.queries import labels_of_rows
from spclust.estimators.spc import SPC
from spclust.plot.drawn_plane import drawn_plane, extent_of, grid_of, scatter
from spclust.plot.palette import lasting_colours
from spclust.plot.structure_figure import finish_axes


def decision_regions(model: SPC, ax: Axes | None = None) -> Axes:
    """Colour the plane by the cluster that `predict` gives each location (Eq. 17).

    Parameters
    ----------
    model : SPC
        A fitted model of two features: in a projection of more a place is not a point, and has no
        cluster.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default. If they contain data, their limits are
        kept.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from spclust import SPC, datasets, plot
    >>> model = SPC(half_life=500).fit(datasets.make_sine()[0])
    >>> ax = plot.decision_regions(model)
    """
    table = model.structures_
    d = table.mean.shape[1]
    if d != 2:
        raise ValueError(
            f"decision_regions draws models of 2 features, but this one has {d}: use "
            "plot.structures, which projects them."
        )
    ax = plt.gca() if ax is None else ax
    plane = drawn_plane(model)
    extent = (
        (*ax.get_xlim(), *ax.get_ylim())
        if ax.has_data()
        else extent_of(table.mean, plane.outlines(model), None)
    )
    rows, shape = grid_of(extent, plane)
    picture = 0.5 + 0.5 * lasting_colours(model, labels_of_rows(model, rows)).reshape(*shape, 3)
    ax.imshow(picture, extent=extent, origin="lower", aspect="auto", zorder=0)
    colours = lasting_colours(model, table.label)
    scatter(ax, table.mean, s=12, c=colours, edgecolors="black", linewidths=0.5)
    finish_axes(ax, plane, extent)
    return ax
