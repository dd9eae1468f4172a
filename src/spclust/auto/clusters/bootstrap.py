"""Bootstrap: whether clusters would be the same with other points of the same kind.

A cheap bootstrap over structures. Each gets another number of points, a Poisson variable with its
faded count as mean, and another mean, by the standard error of its own; clusters are found again.
"""

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.evidence import agreement, clusters_of
from spclust.auto.metric import in_metric
from spclust.numerics.memory import aligned_copy
from spclust.state.automatic_structures import AutomaticStructures, scatter_by_feature, write_z

_ROUNDS = 20


def stability(s: AutomaticStructures) -> float:
    """Share of the mass that stays in its cluster, on average over samples, 0 to 1."""
    found, rng = clusters_of(s), np.random.default_rng(0)
    shares = []
    for _ in range(_ROUNDS):
        kept, sample = resampled(s, rng)
        if kept.size > 0:
            shares.append(agreement(found[kept], clusters_of(sample), s.mass[kept]))
    return float(np.mean(shares)) if shares else 1.0


def resampled(
    s: AutomaticStructures, rng: np.random.Generator
) -> tuple[Integers, AutomaticStructures]:
    """Slots (k,) of structures that have points again, and a state with what they have then."""
    count = s.mass[: s.live] / s.point_mass
    drawn = rng.poisson(count)
    kept = np.flatnonzero(drawn)
    sample = AutomaticStructures(aligned_copy(s.memory))
    sample.live = k = kept.size
    sample.id[:k] = s.id[kept]
    sample.mass[:k] = drawn[kept] * s.point_mass
    factor = drawn[kept] / count[kept]
    sample.scatter[:k] = s.scatter[kept] * factor[:, np.newaxis, np.newaxis]
    sample.mean[:k] = s.mean[kept] + standard_errors(s, kept, rng)
    write_z(sample, in_metric(sample, sample.mean[:k]))
    return kept, sample


def standard_errors(s: AutomaticStructures, slots: Integers, rng: np.random.Generator) -> Floats:
    """Random offsets (k, d) of means, as large as their standard errors."""
    mass, count = s.mass[slots], s.mass[slots] / s.point_mass
    squares = scatter_by_feature(s, slots) / (mass * np.maximum(count, 1.0))[:, np.newaxis]
    offsets: Floats = np.sqrt(squares) * rng.normal(size=squares.shape)
    return offsets
