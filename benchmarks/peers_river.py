"""Stream clusterers of River."""
# ruff: noqa: D102 - members are documented in Competitor

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.competitor import Competitor
from benchmarks.streams import Rows, Stream


class River(Competitor):
    """Base of River's clusterers: points are dictionaries, one for each call."""

    package = "river.cluster"

    def points(self, rows: Rows) -> Sequence[Any]:
        return [dict(enumerate(row)) for row in rows.tolist()]

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        return self.model.learn_one  # type: ignore[no-any-return]

    @property
    def predict(self) -> Callable[[Any], Any]:
        return self.model.predict_one  # type: ignore[no-any-return]


class RiverDbstream(River):
    """DBSTREAM; with its default fading it would keep only a few micro-clusters."""

    name = "River DBSTREAM"
    tuned = True

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from river.cluster import DBSTREAM

        self.parameters = {
            "clustering_threshold": self.radius_for(stream, n, radius),
            "fading_factor": 1e-4,
            "cleanup_interval": 1000,
        }
        self.model = DBSTREAM(**self.parameters)

    def micro_clusters(self) -> int:
        return len(self.model.micro_clusters)


class RiverDenstream(River):
    """DenStream; it fades like DBSTREAM here, by half in 10,000 points."""

    name = "River DenStream"
    tuned = True

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from river.cluster import DenStream

        self.parameters = {
            "epsilon": self.radius_for(stream, n, radius),
            "decaying_factor": 0.01,  # for each unit of time, which is 100 points
            "beta": 0.5,
            "mu": 2.5,
        }
        self.model = DenStream(**self.parameters)

    def micro_clusters(self) -> int:
        return len(self.model.p_micro_clusters) + len(self.model.o_micro_clusters)


class RiverClustream(River):
    """CluStream with n micro-clusters."""

    name = "River CluStream"

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from river.cluster import CluStream

        self.parameters = {
            "max_micro_clusters": n,
            "n_macro_clusters": stream.gaussians,
            "seed": 0,
        }
        self.model = CluStream(**self.parameters)

    def micro_clusters(self) -> int:
        return len(self.model.micro_clusters)


class RiverStreamkmeans(River):
    """STREAMKMeans with n centres; its chunks are large, which makes it faster."""

    name = "River STREAMKMeans"

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from river.cluster import STREAMKMeans

        self.parameters = {"n_clusters": n, "chunk_size": 10 * n, "seed": 0}
        self.model = STREAMKMeans(**self.parameters)

    def micro_clusters(self) -> int:
        return len(self.model.centers)
