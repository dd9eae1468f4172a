"""Growth of time and memory with the number of features, for each type of covariance."""

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spclust import SPC
from spclust.stream.stream import Stream

Rows = NDArray[np.float64]

TYPES = ("full", "lowrank", "diag", "spherical")
STRUCTURES, RANK, CLUSTERS = 30, 8, 10
DIMENSIONS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_LARGEST_FULL = 512  # with more features a point takes more than 0.1 s
MANY = 64  # with fewer features, costs that do not depend on them dominate
_BURN_IN, _PARTS, _SECONDS = 400, 12, 0.1


class Cost(NamedTuple):
    """Time of a point and memory of a model."""

    kind: str
    d: int
    us: float  # microseconds a point
    bytes: int  # of the model's state


def rows(d: int, n: int) -> Rows:
    """Ten Gaussians whose centres are ten standard deviations from the origin in each feature."""
    rng = np.random.default_rng(d)
    centres = 10.0 * rng.normal(size=(CLUSTERS, d))
    return centres[rng.integers(CLUSTERS, size=n)] + rng.normal(size=(n, d))


def model(kind: str, d: int) -> SPC:
    """A model whose scale grows like distances, so that merges are the same for every d."""
    rank = RANK if kind == "lowrank" else None
    return SPC(STRUCTURES, covariance_type=kind, max_rank=rank, scale=math.sqrt(d), eps=0.95)


def cost(kind: str, d: int) -> Cost:
    """Measure one type and d: best of several runs of about the same length."""
    spc, points = model(kind, d), rows(d, _BURN_IN)
    spc.partial_fit(points[: STRUCTURES + 2])  # compiles
    started = time.perf_counter()
    spc.partial_fit(points[STRUCTURES + 2 :])
    each = (time.perf_counter() - started) / (_BURN_IN - STRUCTURES - 2)
    n = max(20, min(20_000, int(_SECONDS / each), 20_000_000 // d))
    best = math.inf
    for part in range(_PARTS):
        points = np.roll(rows(d, n), part, axis=0)
        started = time.perf_counter()
        spc.partial_fit(points)
        best = min(best, (time.perf_counter() - started) / n)
    stream = spc._stream
    assert isinstance(stream, Stream)  # the mode of the paper
    return Cost(kind, d, 1e6 * best, stream.structures.memory.nbytes + stream.scratch.memory.nbytes)


def first_and_last(kind: str, d: int, n: int = 4000) -> tuple[float, float]:
    """Microseconds of a point among the first and the last tenth of 20 Gaussians, N = 50."""
    rng = np.random.default_rng(d)
    points = 10.0 * rng.normal(size=(20, d))[rng.integers(20, size=n)] + rng.normal(size=(n, d))
    params: dict[str, Any] = {"covariance_type": kind, "scale": math.sqrt(d), "eps": 0.95}
    SPC(50, **params).partial_fit(points[:100])  # compiles
    spc, times = SPC(50, **params), []
    for part in np.array_split(points, 10):
        started = time.perf_counter()
        spc.partial_fit(part)
        times.append(1e6 * (time.perf_counter() - started) / len(part))
    return times[0], times[-1]


def costs(dimensions: tuple[int, ...] = DIMENSIONS) -> Iterator[Cost]:
    """All measurements, one by one."""
    for d in dimensions:
        for kind in TYPES:
            if kind != "full" or d <= _LARGEST_FULL:
                yield cost(kind, d)


def exponent(found: list[Cost], kind: str, least: int = 0) -> float:
    """The k for which the time grows as d^k, fitted to all d of at least `least`."""
    here = [one for one in found if one.kind == kind and one.d >= least]
    x, y = np.log([one.d for one in here]), np.log([one.us for one in here])
    return float(np.polyfit(x, y, 1)[0])
