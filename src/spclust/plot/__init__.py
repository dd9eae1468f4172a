"""Figures of a fitted model. Needs matplotlib.

Functions draw into Matplotlib axes and return them; `plot_all` returns a figure. Cluster k has
colour k of `CLUSTER_COLOURS`, modulo their number, for as long as it lives; noise is grey. The live
page has palettes of its own, for light and dark: live/page/colours.js.
"""

try:
    import matplotlib.patches
    import matplotlib.pyplot  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError(
        "spclust.plot needs matplotlib: install it with pip install 'spclust[plot]'."
    ) from error

from spclust.plot.overview import plot_all
from spclust.plot.palette import CLUSTER_COLOURS, NOISE_COLOUR, cluster_colours
from spclust.plot.region_figure import decision_regions
from spclust.plot.structure_figure import means, structures
from spclust.plot.timeline import events
from spclust.plot.typicality_figure import typicality_map

__all__ = [
    "CLUSTER_COLOURS",
    "NOISE_COLOUR",
    "cluster_colours",
    "decision_regions",
    "events",
    "means",
    "plot_all",
    "structures",
    "typicality_map",
]
