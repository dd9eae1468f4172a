"""The six algorithms, and what a search may choose for each: data, apart from what tries it out.

Ranges are in units of the data where they are lengths, so that they are the same for all streams.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spclust import SPC, baselines
from spclust.arrays import Floats


@dataclass(frozen=True)
class Axis:
    """Where a search looks for one parameter: a place from 0 to 1 stands for a value."""

    low: float
    high: float
    unit: Literal["1", "data", "feature"] = "1"  # or the size of all data, or of a feature of it
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
                "gamma": Axis(0.001, 0.3, off=0.5),
                "beta": Axis(0.001, 0.3, off=0.5),
            },
            _eps,
        ),
        Contestant(
            "CluStream",
            baselines.CluStream,
            {
                "n_micro_clusters": Axis(20, 200, whole=True),
                "time_window": Axis(50, 5000, whole=True),
                "micro_cluster_r_factor": Axis(0.5, 5.0),
            },
            _told_the_clusters,
        ),
        Contestant(
            "DenStream",
            baselines.DenStream,
            {
                "eps": Axis(0.005, 0.5, "data"),
                "beta": Axis(0.1, 0.95, plain=True),
                "beta_mu": Axis(1.05, 8.0),
                "decay": Axis(1e-5, 0.05, off=0.2),
                "link": Choice(("centres", "touching")),
            },
            _weights,
        ),
        Contestant(
            "D-Stream",
            baselines.DStream,
            {
                "side": Axis(0.02, 5.0, "feature"),
                "decay": Axis(0.98, 0.99999),
                "dense": Axis(1.01, 10.0),
                "sparse": Axis(0.05, 0.95, plain=True),
                "link": Choice(("all", "dense")),
            },
        ),
        Contestant(
            "DBSTREAM",
            baselines.DBSTREAM,
            {
                "clustering_threshold": Axis(0.01, 0.5, "data"),
                "fading_factor": Axis(1e-5, 0.05),
                "cleanup_interval": Axis(2, 2000, whole=True),
                "intersection_factor": Axis(0.01, 0.5),
                "minimum_weight": Axis(1.0, 8.0),
            },
        ),
        Contestant(
            "StreamSoNG",
            baselines.StreamSoNG,
            {
                "bandwidth": Axis(0.005, 0.5, "data"),
                "n_prototypes": Axis(2, 40, whole=True),
                "m": Axis(1.1, 2.5),
                "outlier": Axis(1e-4, 0.5),
                "n_open": Axis(3, 40, whole=True),
                "rate": Axis(0.01, 0.5),
            },
        ),
    )
}
