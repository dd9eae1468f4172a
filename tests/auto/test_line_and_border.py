"""With a half-life, line and border together separate clusters that touch, and nothing else."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from spclust import SPC
from spclust.auto.clusters import evidence
from tests.auto.test_parts import reference
from tests.reference.evidence import partition


def touching(seed, distance, n=1500):
    """Two normal clusters a few standard deviations apart, and which one each point is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + np.outer(y, [distance, 0.0]), y


def ring(seed, n=1500, width=0.1):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), 1.0 + width * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def hollow(seed, n=1500):
    """A cluster without points in the middle, densest at the edge of this hole."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    out = 0.8 + 0.7 * np.abs(rng.normal(size=n))
    return points * (out / np.linalg.norm(points, axis=1))[:, np.newaxis]


def crescents(seed, n=1500):
    """Two half rings, each with an end in the other one, and which one each point is of."""
    rng = np.random.default_rng(seed)
    y, angle = rng.integers(2, size=n), rng.uniform(0.0, np.pi, n)
    side = 1.0 - 2.0 * y
    X = np.column_stack([np.cos(angle) + y, side * np.sin(angle) + 0.25 * y])
    return X + 0.05 * rng.normal(size=(n, 2)), y


STREAMS = {
    "touching": lambda seed: touching(seed, 3.6)[0],
    "normal": lambda seed: touching(seed, 0.0)[0],
    "uniform": lambda seed: np.random.default_rng(seed).uniform(size=(1500, 2)),
    "ring": ring,
    "thin ring": lambda seed, n=1500: ring(seed, n, width=0.05),
    "hollow": hollow,
    "crescents": lambda seed: crescents(seed)[0],
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


@pytest.mark.parametrize(("kind", "least"), [("ring", 97), ("thin ring", 92), ("hollow", 95)])
def test_a_cluster_around_an_empty_middle_stays_whole(kind, least):
    """A ring of few points has thin places by chance; its parts have no points at their centres."""
    found = []
    for half_life in (300, 500, 1000):
        for seed in range(7):
            X, model = STREAMS[kind](seed, n=3000), SPC(half_life=half_life)
            for start in range(0, len(X), 200):
                labels = model.partial_fit(X[start : start + 200]).labels_
                if start >= 1000:
                    found.append(len(set(labels) - {-1}) == 1)
    assert 100 * np.mean(found) >= least


def test_clusters_around_empty_middles_are_told_apart_by_gaps():
    for seed in range(5):
        X, y = crescents(seed)
        labels = SPC(half_life=500).fit(X).labels_
        assert normalized_mutual_info_score(y[-500:], labels[-500:]) > 0.98


def test_weighted_points_are_not_counted_together():
    """Of points of unequal weights fewer count than there are: only strong evidence divides."""
    more = 0
    for seed in range(8):
        X, _ = touching(seed, 3.2)
        weights = np.where(np.arange(len(X)) % 2, 1.0, 0.01)
        s = SPC(half_life=300).fit(X, sample_weight=weights)._stream.structures
        weighted = evidence.clusters_of(s).max()
        s.weighted = False
        more += evidence.clusters_of(s).max() > weighted
    assert more >= 2
