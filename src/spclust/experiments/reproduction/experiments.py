"""The paper's four experiments: streams, Table I, and what stands in for what it does not tell."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from spclust import datasets
from spclust.arrays import Floats, Integers

Stream = tuple[Floats, Integers]

# What Table I says for all four experiments.
_COMMON = {"eps": 0.95, "w_min": 0.01, "nlt_max": 3.0}


@dataclass(frozen=True)
class Experiment:
    """One of the paper's experiments."""

    key: str
    title: str
    clusters: int  # classes there are: what those are told that must be told
    table_1: dict[str, Any]  # parameters of SPC in the paper
    scale: float  # the one parameter that the paper lacks
    stream: Callable[[int], Stream]  # by seed; published sets: 0 is the order of the file
    data: str  # what the stream is
    orders: str  # what the seeds change
    published: bool = False  # whether the data is the paper's own
    in_turn: bool = False  # whether the classes arrive in turn, so that any window has them all

    @property
    def paper_parameters(self) -> dict[str, Any]:
        """All parameters of SPC: those of Table I, and scale."""
        return {**self.table_1, **_COMMON, "scale": self.scale}


def make_experiment(key: str, published: bool | None = None) -> Experiment:
    """One of the four. A published set that cannot be had is replaced, and marked as such.

    `published` tells whether it can be had, if that is known.
    """
    return _MAKERS[key](published)


def _aggregation(published: bool | None) -> Experiment:
    load, data, published = _had(
        published,
        datasets.load_aggregation,
        datasets.make_aggregation_like,
        "Aggregation (Gionis et al.), 788 points in the plane, as published",
        "a set made to look like Aggregation: seven clusters of the same sizes and kinds of shape",
    )
    return Experiment(
        "aggregation",
        "Aggregation",
        7,
        {"n_structures": 30, "gamma": 0.0, "beta": 0.0, "m": 1.5},
        3.5 if published else 2.7,
        lambda seed: _reordered(*load(), seed),
        data,
        "the points of each cluster arrive in another order",
        published,
    )


def _sine(_: bool | None) -> Experiment:
    return Experiment(
        "sine",
        "Sine",
        3,
        {"n_structures": 30, "gamma": 0.1, "beta": 0.05, "m": 1.4},
        1.0,
        lambda seed: datasets.make_sine(seed=seed),
        "three sine waves of different frequency and amplitude, moving along +x, 3,000 points from "
        "each in turn; the paper does not give their equations",
        "other noise",
        in_turn=True,
    )


def _highdim(published: bool | None) -> Experiment:
    load, data, published = _had(
        published,
        datasets.load_dim1024,
        datasets.make_highdim,
        "dim1024 (Fränti et al.), 1,024 points of 16 clusters in 1,024 dimensions, as published",
        "a set made to look like dim1024: 16 clusters with the same radii and distances",
    )
    return Experiment(
        "highdim",
        "1,024 dimensions",
        16,
        {"n_structures": 50, "gamma": 0.0, "beta": 0.0, "m": 1.5},
        1.0,
        lambda seed: _reordered(*load(), seed),
        data,
        "the points of each cluster arrive in another order",
        published,
    )


def _overlapping(_: bool | None) -> Experiment:
    return Experiment(
        "overlapping",
        "Overlapping",
        3,
        {"n_structures": 30, "gamma": 0.0, "beta": 0.0, "m": 1.5},
        1.0,
        lambda seed: datasets.make_overlapping(seed=seed),
        "three thin Gaussians, the sides of a triangle, one after the other, 600 points; the paper "
        "does not give their parameters. The sides are of three lengths: an equilateral triangle "
        "is cut right through its corners by k-means, if told that there are three clusters, and "
        "CluStream is nearly perfect",
        "other points",
    )


def _had(
    published: bool | None,
    load: Callable[[], Stream],
    make: Callable[[], Stream],
    data: str,
    instead: str,
) -> tuple[Callable[[], Stream], str, bool]:
    """How to get a published set, what it is, and whether it is the published one."""
    if published is None:
        try:
            load()
        except datasets.DatasetUnavailableError:
            published = False
    return (cache(make), instead, False) if published is False else (cache(load), data, True)


def _reordered(X: Floats, y: Integers, seed: int) -> Stream:
    """Clusters one after the other as they are, their points in the order that the seed gives."""
    if seed == 0:
        return X, y
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == k)) for k in dict.fromkeys(y)])
    return X[order], y[order]


_MAKERS: dict[str, Callable[[bool | None], Experiment]] = {
    "aggregation": _aggregation,
    "sine": _sine,
    "highdim": _highdim,
    "overlapping": _overlapping,
}
KEYS = tuple(_MAKERS)
