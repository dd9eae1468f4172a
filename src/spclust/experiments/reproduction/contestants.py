"""The six algorithms, and what a search may choose for each: data, apart from what tries it out.

Ranges are in units of the data where they are lengths, so that they are the same for all streams.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spclust import SPC, baselines
from spclust.arrays import Floats

# What a range is in: nothing, the size of the data, that of a feature of it, the stream's length.
Unit = Literal["1", "data", "feature", "points", "1 / points"]


@dataclass(frozen=True)
class Axis:
    """Where a search looks for one parameter: a place from 0 to 1 stands for a value."""

    low: float
    high: float
    unit: Unit = "1"
    whole: bool = False
    plain: bool = False  # evenly spaced; logarithmically, if not
    off: float = 0.0  # share of places that stand for 0

    def value(self, place: float, size: dict[str, float]) -> float | int:
        """What a place from 0 to 1 stands for."""
        if place < self.off:
            return 0.0
        place = (place - self.off) / (1.0 - self.off)
        if self.plain:
            value = self.low + place * (self.high - self.low)
        else:
            value = self.low * (self.high / self.low) ** place
        value *= size[self.unit]
        return round(value) if self.whole else float(f"{value:.4g}")


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of a few words."""

    words: tuple[str, ...]

    def value(self, place: float, size: dict[str, float]) -> str:
        """What a place from 0 to 1 stands for."""
        return self.words[min(int(place * len(self.words)), len(self.words) - 1)]


def _as_it_is(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    return drawn


@dataclass(frozen=True)
class Contestant:
    """An algorithm and the parameters that are looked for."""

    name: str
    make: Callable[..., Any]  # a model with partial_fit and predict, from parameters
    axes: dict[str, Axis | Choice]
    complete: Callable[[dict[str, Any], int], dict[str, Any]] = _as_it_is

    def parameters(self, places: Floats, X: Floats, clusters: int) -> dict[str, Any]:
        """Parameters for a stream X of so many clusters, from places (axes,) between 0 and 1."""
        size = {
            "1": 1.0,
            "data": float(np.sqrt(np.sum(X.var(axis=0)))),
            "feature": float(np.sqrt(np.mean(X.var(axis=0)))),
            "points": float(len(X)),
            "1 / points": 1.0 / len(X),
        }
        drawn = zip(self.axes.items(), places, strict=True)
        values = {name: axis.value(float(place), size) for (name, axis), place in drawn}
        return self.complete(values, clusters)


def _told_the_clusters(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """K-means cannot do without: it is told the right number, which the others have to find."""
    return {**drawn, "n_clusters": clusters}


def _eps(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """SPC's eps, of which the distance to 1 is what counts."""
    rest = drawn.pop("1 - eps")
    return {**drawn, "eps": 1.0 - rest}


def _m(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """StreamSoNG's m, which is above 1."""
    above = drawn.pop("m - 1")
    return {**drawn, "m": 1.0 + above}


def _decay(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """D-Stream's factor of decay, which is just below 1, and what is dense, which is above it."""
    lost, above = drawn.pop("1 - decay"), drawn.pop("dense - 1")
    return {**drawn, "decay": 1.0 - min(lost, 0.5), "dense": 1.0 + above}


def _weights(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """DenStream's mu from beta mu, which has to exceed 1."""
    least = drawn.pop("beta_mu")
    return {**drawn, "mu": float(f"{least / drawn['beta']:.4g}")}


CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant(
            "SPC",
            SPC,
            {
                "n_structures": Axis(10, 300, whole=True),
                "scale": Axis(0.01, 1.0, "feature"),
                "m": Axis(1.1, 2.5),
                "1 - eps": Axis(1e-6, 0.5),
                "gamma": Axis(0.001, 1.0, off=0.5),
                "beta": Axis(0.001, 0.3, off=0.5),
            },
            _eps,
        ),
        Contestant(
            "CluStream",
            baselines.CluStream,
            {
                "n_micro_clusters": Axis(20, 200, whole=True),
                "time_window": Axis(0.1, 3.0, "points", whole=True),
                "micro_cluster_r_factor": Axis(0.5, 6.0),
                "deviation": Choice(("mean", "rms")),
            },
            _told_the_clusters,
        ),
        Contestant(
            "DenStream",
            baselines.DenStream,
            {
                "eps": Axis(0.01, 0.8, "data"),
                "beta": Axis(0.1, 1.0, plain=True),
                "beta_mu": Axis(1.05, 15.0),
                "decay": Axis(0.02, 20.0, "1 / points"),
                "link": Choice(("centres", "touching")),
            },
            _weights,
        ),
        Contestant(
            "D-Stream",
            baselines.DStream,
            {
                "side": Axis(0.03, 4.0, "feature"),
                "1 - decay": Axis(0.1, 30.0, "1 / points"),
                "dense - 1": Axis(0.05, 5.0),
                "sparse": Axis(0.1, 0.95),
                "link": Choice(("all", "dense")),
            },
            _decay,
        ),
        Contestant(
            "DBSTREAM",
            baselines.DBSTREAM,
            {
                "clustering_threshold": Axis(0.01, 1.2, "data"),
                "fading_factor": Axis(0.02, 20.0, "1 / points"),
                "cleanup_interval": Axis(2, 2000, whole=True),
                "intersection_factor": Axis(0.01, 0.6),
                "minimum_weight": Axis(0.3, 10.0),
            },
        ),
        Contestant(
            "StreamSoNG",
            baselines.StreamSoNG,
            {
                "bandwidth": Axis(0.01, 1.0, "data"),
                "n_prototypes": Axis(1, 40, whole=True),
                "n_nearest": Axis(1, 5, whole=True),
                "m - 1": Axis(0.15, 3.0),
                "outlier": Axis(0.001, 0.5),
                "n_open": Axis(5, 100, whole=True),
                "rate": Axis(0.01, 1.0),
                "reach": Axis(0.3, 10.0),
            },
            _m,
        ),
    )
}
