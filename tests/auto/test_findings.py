"""Findings of the automatic mode: when its answer is not to be trusted."""

import numpy as np
import pytest

from spclust import SPC
from spclust.auto.clusters.bootstrap import stability
from spclust.auto.clusters.evidence import agreement
from tests.auto.automatic_states import memory, two_clusters


def codes(model):
    return [finding.code for finding in model.diagnose()]


@pytest.mark.parametrize("half_life", [None, 500])
def test_clusters_that_are_apart_are_stable(half_life):
    model = SPC(half_life=half_life).fit(two_clusters(2000)[0])
    before = memory(model)
    assert stability(model._stream.structures) > 0.85
    assert codes(model) == []
    assert memory(model) == before


def test_clusters_that_depend_on_chance_are_told():
    """Two rings whose points are few, and about as far apart as their neighbours."""
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        angle, ring = rng.uniform(0.0, 2.0 * np.pi, size=160), rng.integers(1, 3, size=160)
        X = ring[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
        model = SPC().fit(X + 0.12 * rng.normal(size=X.shape))
        found += "unstable" in codes(model)
        assert "unstable" not in codes(model.set_params(n_clusters=2))
    assert found >= 3


def test_agreement_is_the_share_of_mass_in_the_same_cluster():
    mass = np.array([4.0, 3.0, 2.0, 1.0])
    one, two = np.array([0, 0, 1, 1]), np.array([1, 1, 0, -1])
    assert agreement(one, one, mass) == agreement(one, 1 - one, mass) == 1.0
    assert agreement(one, two, mass) == pytest.approx(0.9)
    assert agreement(one, np.zeros(4, dtype=np.int64), mass) == pytest.approx(0.7)


def test_a_cluster_whose_points_come_rarely_needs_a_longer_half_life():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    X[::40] += 30.0  # a point in 40: with a half-life of 100, 3.6 of them are remembered
    rare, well = (SPC(half_life=h).partial_fit(X) for h in (100, 1000))
    assert "half_life_too_short" in codes(rare)
    assert "raise half_life" in next(f for f in rare.diagnose() if f.code == "half_life_too_short")
    assert codes(well) == []
