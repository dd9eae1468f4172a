"""Colours of clusters, in all figures; the live page has its own, in `live/page/colours.js`.

Outliers and maps of typicality are coloured in `typicality_figure`.
"""

import numpy as np
from matplotlib.colors import to_rgb

from spclust.array_types import Floats, Integers
from spclust.estimators.queries import lasting_ids
from spclust.estimators.spc import SPC

# Okabe and Ito's palette, which is distinguishable with any colour vision, and in print.
CLUSTER_COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000",
)  # fmt: skip
NOISE_COLOUR = "#999999"


def cluster_colours(labels: Integers) -> Floats:
    """Colours (n, 3), red, green and blue from 0 to 1, of clusters (n,); noise is grey."""
    palette = np.array([to_rgb(colour) for colour in (*CLUSTER_COLOURS, NOISE_COLOUR)])
    return palette[np.where(labels >= 0, labels % len(CLUSTER_COLOURS), len(CLUSTER_COLOURS))]


def lasting_colours(model: SPC, labels: Integers) -> Floats:
    """Colours (n, 3) of clusters (n,) of a model, by their lasting ids if it has some."""
    return cluster_colours(lasting_ids(model, labels))
