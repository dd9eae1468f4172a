"""The typicality of the automatic mode: calibrated by the distances of recent points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.auto.home import _quantile, calibration, quantiles
from tests.auto.automatic_states import half_lives, two_clusters
from tests.strategies import examples, streams


@examples(40)
@given(streams(), st.integers(1, 25), half_lives)
def test_it_is_from_0_to_1_and_falls_with_the_distance(X, n, h):
    model = SPC(n, half_life=h).fit(X)
    away = np.ones(X.shape[1]) * (np.ptp(X, axis=0).max() + 1.0)
    line = X.mean(axis=0) + np.logspace(0.5, 5, 30)[:, np.newaxis] * away
    for rows in (X, line):
        u = model.typicality(rows)
        assert ((u >= 0.0) & (u <= 1.0)).all()
        assert (model.score_samples(rows) <= 0.0).all()
    assert (np.diff(np.maximum(model.score_samples(line), -1e300)) <= 1e-9).all()
    assert (np.diff(model.typicality(line), axis=0) <= 1e-12).all()


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize(("n", "h"), [(20, None), (100, None), (100, 2000.0)])
def test_the_median_of_recent_points_is_typical_and_one_in_twenty_has_less_than_half(d, n, h):
    u = []
    for seed in range(16):
        X, _ = two_clusters(6000, d=d, seed=seed)
        u.append(np.exp(SPC(n, half_life=h).fit(X[:5000]).score_samples(X[5000:])))
    assert np.median(u) == pytest.approx(25.0 / 26.0, abs=0.01)
    assert np.mean(np.array(u) < 0.5) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("h", [None, 1.0, 5.0])
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_some_place_always_is_typical(n, h):
    X, _ = two_clusters(40)
    model = SPC(n, half_life=h)
    for x in X:
        model.partial_fit(x[np.newaxis])
        assert model.score_samples(model.structures_.mean).max() > -9.0


def test_it_depends_on_m_alone():
    X, _ = two_clusters(2000)
    scores = {m: SPC(40, m=m).fit(X).score_samples(X[:50]) for m in (1.2, 1.5, 2.0)}
    odds = {m: np.expm1(-score) for m, score in scores.items()}
    np.testing.assert_allclose(odds[1.2] ** 0.2, odds[1.5] ** 0.5, rtol=1e-6)
    np.testing.assert_allclose(odds[2.0], odds[1.5] ** 0.5, rtol=1e-6)


def test_a_lone_point_is_no_home():
    X, _ = two_clusters(3000)
    X[2900] = 500.0, 500.0
    model = SPC().fit(X)
    assert np.exp(model.score_samples([[500.0, 500.0]]))[0] < 0.01
    assert model.predict([[-500.0, 500.0]])[0] == -1


def test_strange_points_among_the_recent_ones_do_not_make_places_outside_typical():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)) + 20.0 * rng.integers(2, size=3000)[:, np.newaxis]
    strange = rng.choice(np.arange(2000, 3000), 120, replace=False)
    X[strange] = rng.uniform(-1000.0, 1000.0, size=(120, 5))
    model = SPC(half_life=1000).fit(X)
    direction = rng.normal(size=(200, 5))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    outside = 20.0 * rng.integers(2, size=(200, 1)) + (np.sqrt(5.0) + 5.0) * direction
    assert np.mean(np.exp(model.score_samples(outside)) < 0.5) > 0.95
    assert np.median(np.exp(model.score_samples(np.delete(X, strange, axis=0)))) > 0.8


@pytest.mark.parametrize(
    ("h", "n", "points"),
    [
        (None, 300, 200),
        (None, 900, 450),
        (None, 3000, 1000),
        (50.0, 900, 200),
        (600.0, 9000, 600),
        (5000.0, 9000, 1000),
    ],
)
def test_the_later_half_of_all_points_calibrates_it_or_those_of_a_half_life(h, n, points):
    model = SPC(half_life=h).fit(two_clusters(n)[0])
    s = model._stream.structures
    before, last = calibration(s), np.arange(s.seen - points, s.seen) % s.recents
    others = np.setdiff1d(np.arange(s.recents), last)
    s.recent[others] *= 100.0
    assert calibration(s) == before
    s.recent[last[: points // 2]] *= 100.0
    assert calibration(s)[0] > 10.0 * before[0]


def test_quantiles_are_those_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(0)
    for size in [*range(1, 60), 999, 1000]:
        numbers = np.exp(rng.normal(scale=20.0, size=size))
        shares = (0.5, 0.8, 0.95)
        found = [_quantile(np.sort(numbers), share) for share in shares]
        assert found == np.quantile(numbers, shares).tolist()


def test_distances_may_be_of_any_size():
    """Four times the spread of their logarithms is more than a number can have."""
    model = SPC(5).fit(two_clusters(40)[0])
    s = model._stream.structures
    s.recent[:] = np.where(np.arange(s.recent.size) % 10 < 6, 1e-150, 1e150)
    assert quantiles(s, s.recents) == (1e-150, 1e150)


def test_distances_that_tie_up_to_rounding_make_no_other_one_strange():
    """Many points are exactly a reach from home; a last digit must not decide about all others."""
    s = SPC(5).fit(two_clusters(40)[0])._stream.structures
    s.recent[:] = np.where(np.arange(s.recent.size) % 10 < 9, 2.0, 4.0)
    before = quantiles(s, s.recents)
    s.recent[np.arange(s.recent.size) % 10 > 6] *= 1.0 + 2e-16
    assert quantiles(s, s.recents) == pytest.approx(before, rel=1e-9)
    assert before == (2.0, 4.0)


def test_infinite_distances_cannot_be_saved():
    model = SPC(5).fit(two_clusters(40)[0])
    model._stream.structures.home_median = np.inf
    with pytest.raises(ValueError, match="This SPC cannot be saved: the numbers of its structures"):
        model.to_bytes()
