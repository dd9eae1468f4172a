"""The paper's four experiments: streams, Table I, and substitutes for missing data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from spclust import datasets
from spclust.array_types import Floats, Integers

Stream = tuple[Floats, Integers]

# Parameters of Table I that are the same in all four experiments.
_COMMON = {"eps": 0.95, "w_min": 0.01, "nlt_max": 3.0}


@dataclass(frozen=True)
class Experiment:
    """One of the paper's experiments, or a user's data."""

    key: str
    title: str
    clusters: int  # number of classes, given to algorithms that need it
    table_1: dict[str, Any]  # parameters of SPC in the paper
    scale: float  # a parameter that the paper does not have
    stream: Callable[[int], Stream]  # by seed; published sets: 0 is the order of the file
    data: str  # description of the stream
    orders: str  # difference between seeds
    published: bool = False  # True if the data are the paper's own
    in_turn: bool = False  # True if the classes arrive in turn, so that every window has them all
    own: bool = False  # True if the data are a user's: one stream, no parameters of the paper

    @property
    def paper_parameters(self) -> dict[str, Any]:
        """All parameters of SPC: those of Table I, and scale."""
        return {**self.table_1, **_COMMON, "scale": self.scale}


def make_experiment(key: str, published: bool | None = None) -> Experiment:
    """One of the four experiments. A missing published set is replaced, and marked as such.

    `published` is True if the set is available, False if not, None if that is not known.
    """
    return _MAKERS[key](published)


def _aggregation(published: bool | None) -> Experiment:
    load, data, published = _published_or_substitute(
        published,
        datasets.load_aggregation,
        datasets.make_aggregation_like,
        "Aggregation (Gionis et al.), 788 points in the plane, as published",
        "a generated set like Aggregation: seven clusters of the same sizes and similar shapes",
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
        "three sine waves of different frequency and amplitude, moving along +x, 3,000 points in "
        "all, from each wave in turn; the paper does not give their equations",
        "other noise",
        in_turn=True,
    )


def _highdim(published: bool | None) -> Experiment:
    load, data, published = _published_or_substitute(
        published,
        datasets.load_dim1024,
        datasets.make_highdim,
        "dim1024 (Fränti et al.), 1,024 points of 16 clusters in 1,024 dimensions, as published",
        "a generated set like dim1024: 16 clusters with the same radii and distances",
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
        "does not give their parameters. The sides have three lengths: k-means with three clusters "
        "cuts an equilateral triangle exactly through its corners, and CluStream would be nearly "
        "perfect",
        "other points",
    )


def _published_or_substitute(
    published: bool | None,
    load: Callable[[], Stream],
    make: Callable[[], Stream],
    data: str,
    instead: str,
) -> tuple[Callable[[], Stream], str, bool]:
    """Loader of a published set, its description, and True; or those of its substitute, False."""
    if published is None:
        try:
            load()
        except datasets.DatasetUnavailableError:
            published = False
    return (cache(make), instead, False) if published is False else (cache(load), data, True)


def _reordered(X: Floats, y: Integers, seed: int) -> Stream:
    """The stream with the points of each cluster permuted by seed; 0 keeps the order."""
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
