"""Streams of the benchmark: seeded mixtures of Gaussians, in blocks of 10,000 rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK = 10_000
CENTRES = 10.0  # standard deviation of the centres; that of the points around them is 1

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Stream:
    """An endless stream of float64 rows from `gaussians` Gaussians in `dimensions` dimensions."""

    name: str
    dimensions: int
    gaussians: int

    def block(self, index: int) -> Rows:
        """Rows `index * BLOCK` to `(index + 1) * BLOCK` of the stream, the same in each call."""
        centres = np.random.default_rng(self.dimensions).normal(
            scale=CENTRES, size=(self.gaussians, self.dimensions)
        )
        rng = np.random.default_rng([self.dimensions, index])
        rows: Rows = centres[rng.integers(self.gaussians, size=BLOCK)]
        rows += rng.normal(size=rows.shape)
        return rows


STREAMS = {
    stream.name: stream
    for stream in (Stream("2-D", 2, 7), Stream("10-D", 10, 20), Stream("54-D", 54, 20))
}
