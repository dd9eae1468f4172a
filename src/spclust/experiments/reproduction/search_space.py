"""The six algorithms, and the parameters and ranges that the search varies for each.

Lengths are relative to the size of the data, so that ranges are the same for all streams.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spclust import SPC, baselines
from spclust.array_types import Floats
from spclust.experiments.contestants.parameter_range import Axis, Choice


def _unchanged(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    return drawn


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and the parameters that the search varies."""

    name: str
    make: Callable[..., Any]  # returns a model with partial_fit and predict
    axes: dict[str, Axis | Choice]
    complete: Callable[[dict[str, Any], int], dict[str, Any]] = _unchanged

    def parameters(self, coordinates: Floats, X: Floats, clusters: int) -> dict[str, Any]:
        """Parameters at coordinates (axes,) from 0 to 1, for a stream X of `clusters` clusters."""
        size = {
            "1": 1.0,
            "data": float(np.sqrt(np.sum(X.var(axis=0)))),
            "feature": float(np.sqrt(np.mean(X.var(axis=0)))),
            "points": float(len(X)),
            "1 / points": 1.0 / len(X),
        }
        drawn = zip(self.axes.items(), coordinates, strict=True)
        values = {name: axis.value(float(at), size) for (name, axis), at in drawn}
        return self.complete(values, clusters)


def _with_n_clusters(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """CluStream's n_clusters: k-means needs the right number, which the others have to find."""
    return {**drawn, "n_clusters": clusters}


def _eps(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """SPC's eps from its difference to 1, which is searched on a logarithmic scale."""
    rest = drawn.pop("1 - eps")
    return {**drawn, "eps": 1.0 - rest}


def _m(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """StreamSoNG's m from m - 1, which is above 0."""
    above = drawn.pop("m - 1")
    return {**drawn, "m": 1.0 + above}


def _decay(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """D-Stream's decay, which is just below 1, and its `dense`, which is above 1."""
    lost, above = drawn.pop("1 - decay"), drawn.pop("dense - 1")
    return {**drawn, "decay": 1.0 - min(lost, 0.5), "dense": 1.0 + above}


def _weights(drawn: dict[str, Any], clusters: int) -> dict[str, Any]:
    """DenStream's mu from beta mu, which must be above 1."""
    least = drawn.pop("beta_mu")
    return {**drawn, "mu": float(f"{least / drawn['beta']:.4g}")}


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
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
        Algorithm(
            "CluStream",
            baselines.CluStream,
            {
                "n_micro_clusters": Axis(20, 200, whole=True),
                "time_window": Axis(0.1, 3.0, "points", whole=True),
                "micro_cluster_r_factor": Axis(0.5, 6.0),
                "deviation": Choice(("mean", "rms")),
            },
            _with_n_clusters,
        ),
        Algorithm(
            "DenStream",
            baselines.DenStream,
            {
                "eps": Axis(0.01, 0.8, "data"),
                "beta": Axis(0.1, 1.0, linear=True),
                "beta_mu": Axis(1.05, 15.0),
                "decay": Axis(0.02, 20.0, "1 / points"),
                "link": Choice(("centres", "touching")),
            },
            _weights,
        ),
        Algorithm(
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
        Algorithm(
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
        Algorithm(
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
