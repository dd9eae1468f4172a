"""Stream clusterers of MOA, through CapyMOA."""
# ruff: noqa: D102 - members are documented in Competitor

import os
import shutil
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.competitor import Competitor
from benchmarks.streams import Rows, Stream


class Moa(Competitor):
    """Base of MOA's clusterers, which run in Java: points are CapyMOA's instances."""

    package = "capymoa.cluster"
    predicts = False
    pickles = False
    warm_up = 2.0
    unit = 1.0  # points are divided by this

    def available(self) -> str | None:
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            return "no Java found"
        return super().available()

    def schema(self, stream: Stream) -> Any:
        """MOA's description of the columns."""
        from capymoa.stream import Schema

        names = [f"x{i}" for i in range(stream.dimensions)]
        return Schema.from_custom(
            features=[*names, "none"], target="none", categories={"none": ["0"]}, name=stream.name
        )

    def points(self, rows: Rows) -> Sequence[Any]:
        from capymoa.core import LabeledInstance

        points = [LabeledInstance.from_array(self.model.schema, row, 0) for row in rows / self.unit]
        for point in points:
            _ = point.java_instance  # created on first use: not timed
        return points

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        return self.model.train  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        return int(self.model.moa_learner.getMicroClusteringResult().size())


class MoaClustream(Moa):
    """CluStream with n micro-clusters."""

    name = "MOA CluStream"

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from capymoa.cluster import Clustream

        self.parameters = {"max_num_kernels": n}
        self.model = Clustream(schema=self.schema(stream), **self.parameters)


class MoaClustree(Moa):
    """ClusTree: the height of its tree, an integer, determines the number of micro-clusters."""

    name = "MOA ClusTree"
    tuned = True
    choices = (2, 3, 4, 5, 6, 7, 8)

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from capymoa.cluster import ClusTree

        self.parameters = {"max_height": round(self.radius_for(stream, n, radius))}
        self.model = ClusTree(schema=self.schema(stream), **self.parameters)


class MoaDenstream(Moa):
    """DenStream; its epsilon is at most 1, so that the stream is divided by a unit.

    MOA reports potential micro-clusters only, not its outlier micro-clusters.
    """

    name = "MOA DenStream"
    tuned = True
    unit = 100.0

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        from capymoa.cluster import Denstream_with_dbscan

        self.parameters = {
            "epsilon": self.radius_for(stream, n, radius) / self.unit,
            "lambda_option": 0.01,
            "beta": 0.5,
            "mu": 2,
        }
        self.model = Denstream_with_dbscan(schema=self.schema(stream), **self.parameters)
