"""A finding of a diagnosis, and the data that findings are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.inspection.description import deviations, lengths, nearest_pairs, pooled
from spclust.state.kinds import SPHERICAL
from spclust.stream.mode import AnyStream

# In clusters that hold together, neighbouring means are about half of scale apart: observed on
# Gaussians in 2 to 20 dimensions and on moving waves, with scales that gave the right clusters.
_SCALES_FOR_A_GAP = 2.0
STRUCTURES_FOR_EACH = 3  # at least, of a cluster, for its shape and its neighbours to be seen


class Finding(str):
    """One sentence about a probable problem and what to change."""

    code: str  # one word for what it is, for programs

    def __new__(cls, code: str, sentence: str) -> Self:
        """A sentence that also has a code."""
        finding = super().__new__(cls, sentence)
        finding.code = code
        return finding

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Arguments that make a copy."""
        return self.code, str(self)


@dataclass
class Evidence:
    """Data that the findings are judged by; k structures, oldest first."""

    stream: AnyStream
    labels: Integers  # (k,)
    names: Sequence[str]  # (d,)
    eps: float | str

    def __post_init__(self) -> None:
        table = self.stream.table(self.labels)
        self.k, self.n = len(table), self.stream.params.n_structures
        self.scale = self.stream.params.scale
        self.mean, self.count = table.mean, table.count
        self.nlt, self.distance = nearest_pairs(self.stream)

    @property
    def n_clusters(self) -> int:
        """Clusters, noise not counted."""
        return np.unique(self.labels[self.labels >= 0]).size

    @property
    def limit(self) -> float:
        """NLT at which two structures still are neighbours."""
        eps = float(self.eps)
        return -float(np.log1p(-eps)) if eps < 1.0 else np.inf

    @property
    def advised_scale(self) -> float:
        """A scale that suits the distances between neighbouring means; 0 if all are equal."""
        gaps = self.distance[(self.distance > 0.0) & (self.distance < np.inf)]
        return _SCALES_FOR_A_GAP * float(np.median(gaps)) if len(gaps) else 0.0

    @cached_property
    def reach(self) -> float:
        """Root mean square distance of the means to their middle."""
        gaps = lengths(self.mean - self.mean.mean(axis=0))
        unit = max(float(gaps.max()), np.finfo(float).tiny)
        return unit * float(np.sqrt(np.mean((gaps / unit) ** 2)))

    @property
    def sizes(self) -> Floats:
        """Standard deviation (d,) of the points in each feature, estimated from structures.

        Without that of a fresh structure, which is the same in all features; with "spherical"
        covariances, from the means alone.
        """
        own = np.zeros_like(self.mean)
        if self.stream.params.kind != SPHERICAL:
            grown = deviations(self.stream) / self.scale
            own = self.scale * np.sqrt(np.maximum(grown - 1.0, 0.0) * (grown + 1.0))
        return pooled(self.count, self.mean, own)[1]


def number(value: float) -> str:
    """Two digits that matter; no exponent for numbers that people read without one."""
    short = f"{value:.2g}"
    return f"{float(short):g}"
