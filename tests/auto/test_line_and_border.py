"""With a half-life, line and border together separate clusters that touch, and nothing else."""

import numpy as np
import pytest

from spclust import SPC
from spclust.auto.clusters import evidence
from tests.auto.test_parts import reference
from tests.reference.evidence import partition


def touching(seed, distance, n=1500):
    """Two normal clusters a few standard deviations apart, and which one each point is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + np.outer(y, [distance, 0.0]), y


def ring(seed, n=1500):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), 1.0 + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


STREAMS = {
    "touching": lambda seed: touching(seed, 3.6)[0],
    "normal": lambda seed: touching(seed, 0.0)[0],
    "uniform": lambda seed: np.random.default_rng(seed).uniform(size=(1500, 2)),
    "ring": ring,
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_those_of_the_reference(kind, seed):
    s = SPC(half_life=400).fit(STREAMS[kind](seed))._stream.structures
    order = np.argsort(s.id[: s.live])
    found = evidence.clusters_of(s)[order]
    assert partition(found, range(s.live)) == partition(reference(s), range(s.live))


def test_two_clusters_that_touch_are_found_with_few_points(monkeypatch):
    streams = [touching(seed, 3.6)[0] for seed in range(20)]

    def found():
        return [SPC(half_life=300).fit(X).n_clusters_ for X in streams]

    together = found()
    monkeypatch.setattr(evidence, "_TOGETHER", np.inf)
    apart = found()
    assert together.count(2) >= 14
    assert together.count(2) >= apart.count(2) + 4


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_one_cluster_stays_whole(kind):
    found = [SPC(half_life=300).fit(STREAMS[kind](seed)).n_clusters_ for seed in range(30)]
    assert found.count(1) >= 29


def test_weighted_points_are_not_counted_together():
    """Of points of unequal weights fewer count than there are: only strong evidence divides."""
    more = 0
    for seed in range(8):
        X, _ = touching(seed, 3.6)
        weights = np.where(np.arange(len(X)) % 2, 1.0, 0.01)
        s = SPC(half_life=300).fit(X, sample_weight=weights)._stream.structures
        weighted = evidence.clusters_of(s).max()
        s.weighted = False
        more += evidence.clusters_of(s).max() > weighted
    assert more >= 2
