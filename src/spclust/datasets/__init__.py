"""Streams with known clusters: generated streams, and the published sets of the paper."""

from spclust.datasets.drift import Event, make_drifting
from spclust.datasets.generators import (
    make_circles_touching,
    make_highdim,
    make_overlapping,
    make_sine,
)
from spclust.datasets.lookalike import make_aggregation_like
from spclust.datasets.published import DatasetUnavailableError, load_aggregation, load_dim1024

__all__ = [
    "DatasetUnavailableError",
    "Event",
    "load_aggregation",
    "load_dim1024",
    "make_aggregation_like",
    "make_circles_touching",
    "make_drifting",
    "make_highdim",
    "make_overlapping",
    "make_sine",
]
