"""List of all competitors: SPC, its variants and the peers.

To add a peer, write a class like those in `peers_river.py` and append it to `PEERS`. Radii that
determine the number of micro-clusters are found by `python -m benchmarks.radius_search`, which
stores them in `radii.json`; no competitor is tuned by hand. Optional packages are imported only in
the competitor's own process.
"""
# ruff: noqa: D102 - members are documented in Competitor

import os
from collections.abc import Callable
from typing import Any

from benchmarks.competitor import Competitor
from benchmarks.peers_arrays import ClusoptClustream, SklearnBirch, SklearnMiniBatchKmeans
from benchmarks.peers_moa import MoaClustream, MoaClustree, MoaDenstream
from benchmarks.peers_river import (
    RiverClustream,
    RiverDbstream,
    RiverDenstream,
    RiverStreamkmeans,
)
from benchmarks.streams import Stream


class Spc(Competitor):
    """SPC of this repository."""

    package = "spclust"
    batches = (10_000,)

    def __init__(
        self, name: str = "SPC", m: float = 1.5, threads: int = 1, covariance: str = "full"
    ) -> None:
        self.name, self.m, self.threads, self.covariance = name, m, threads, covariance

    def available(self) -> str | None:
        reason = super().available()
        if reason is None and (os.cpu_count() or 1) < self.threads:
            return f"there are fewer than {self.threads} cores"
        return reason

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from spclust import SPC

        self.parameters = {
            "n_structures": n,
            "m": self.m,
            "scale": 1.0,
            "eps": 0.95,
            "covariance_type": self.covariance,
            "n_jobs": self.threads,
        }
        self.model = SPC(**self.parameters)

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        return self.model.learn_one  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        return len(self.model.structures_.mean)


class AutomaticSpc(Spc):
    """SPC in the automatic mode; each batch ends with a look at the clusters."""

    def __init__(self, name: str, half_life: float | None = None) -> None:
        super().__init__(name)
        self.half_life = half_life

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from spclust import SPC

        self.parameters = {"n_structures": n, "half_life": self.half_life}
        self.model = SPC(**self.parameters)

    @property
    def learn_batch(self) -> Callable[[Any], Any]:
        def learn_and_look(rows: Any) -> int:
            clusters: int = self.model.partial_fit(rows).n_clusters_
            return clusters

        return learn_and_look


SPC = Spc()
AUTOMATIC = (AutomaticSpc("SPC()"), AutomaticSpc("SPC(half_life=10000)", 10_000.0))
PEERS: tuple[Competitor, ...] = (
    RiverDbstream(),
    RiverDenstream(),
    RiverClustream(),
    RiverStreamkmeans(),
    ClusoptClustream(),
    MoaClustream(),
    MoaClustree(),
    MoaDenstream(),
    SklearnBirch(),
    SklearnMiniBatchKmeans(),
)
VARIANTS = (Spc("SPC m=1.4", m=1.4), Spc("SPC m=1.37", m=1.37))
TWO_THREADS = Spc("SPC two threads", threads=2)
RESTRICTED = (Spc("SPC diag", covariance="diag"), Spc("SPC spherical", covariance="spherical"))
COMPETITORS = {
    one.name: one for one in (SPC, *AUTOMATIC, *VARIANTS, TWO_THREADS, *RESTRICTED, *PEERS)
}
