"""half_life: masses fade, and what is forgotten is removed."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC
from tests.auto.automatic_states import memory, two_clusters
from tests.strategies import examples, streams

finite = st.sampled_from([0.5, 3.0, 20.5, 300.0])


@examples(40)
@given(streams(), st.integers(1, 20), finite)
def test_the_mass_of_all_points_has_a_limit(X, n, half_life):
    model = SPC(n, half_life=half_life)
    limit = 1.0 / (1.0 - 2.0 ** (-1.0 / half_life))
    for start in range(0, len(X), 23):
        total = model.partial_fit(X[start : start + 23])._stream.faded_counts().sum()
        assert 1.0 - 1e-9 <= total <= limit + 1e-9


@pytest.mark.parametrize("half_life", [1.0, 8.0, 100.0])
def test_masses_halve_with_every_half_life(half_life):
    """A single mass is the sum of one power of two for each point."""
    X, _ = two_clusters(64)
    t = np.arange(64.0)
    model = SPC(64, half_life=half_life).fit(X, t=t)
    s = model._stream.structures
    ages = 63.0 - s.id[:64]
    np.testing.assert_allclose(s.mass[:64] / s.point_mass, 0.5 ** (ages / half_life), rtol=1e-12)
    before = s.mass[:64] / s.point_mass
    wide = SPC(65, half_life=half_life).fit(X, t=t)
    wide.partial_fit(X[:1], t=63.0 + half_life)
    faded = wide._stream.faded_counts()
    assert np.array_equal(faded[:64], before[np.argsort(s.id[:64])] / 2.0)


@examples(40)
@given(streams(), st.integers(1, 20), finite)
def test_time_stamps_that_count_points_change_no_bit(X, n, half_life):
    plain = SPC(n, half_life=half_life).fit(X)
    timed = SPC(n, half_life=half_life).fit(X, t=np.arange(float(len(X))))
    timed._stream.structures.timed, timed._stream.structures.clock = False, 0.0
    assert memory(timed) == memory(plain)


@examples(20)
@given(streams(), st.integers(1, 20), st.floats(0.1, 1e4))
def test_a_timedelta_is_its_seconds(X, n, seconds):
    half_life = timedelta(seconds=seconds)
    gaps = np.random.default_rng(len(X)).integers(1, 100, size=len(X)).cumsum()
    t = np.array([datetime(2026, 1, 1) + timedelta(seconds=int(gap)) for gap in gaps])
    dates = SPC(n, half_life=half_life).fit(X, t=t)
    numbers = SPC(n, half_life=half_life.total_seconds()).fit(X, t=t.astype("M8[us]"))
    assert memory(dates) == memory(numbers)


@pytest.mark.parametrize("gap", [1e3, 1e9, 1e300])
def test_what_is_long_ago_has_no_influence(gap):
    X, y = two_clusters(400)
    model = SPC(30, half_life=50.0).fit(X, t=np.arange(400.0))
    later = X[y == 0] + 1000.0
    model.partial_fit(later, t=400.0 + gap + np.arange(len(later)))
    assert np.isfinite(model._stream.faded_counts()).all()
    assert (model.structures_.mean[:, 1] > 900.0).all()
    assert SPC.from_bytes(model.to_bytes()).n_samples_seen_ == model.n_samples_seen_


def test_no_time_at_all_between_points_fades_nothing():
    X, _ = two_clusters(300)
    still = SPC(20, half_life=5.0).fit(X, t=np.zeros(300))
    assert still._stream.faded_counts().sum() + still._stream.pruned == 300.0
    assert still._stream.structures.point_mass == 1.0


def test_a_cluster_that_moves_is_followed_and_its_trail_is_forgotten():
    """Beside one that stays: so the origin of coordinates stays, too."""
    rng, n = np.random.default_rng(4), 6000
    moves = rng.integers(2, size=n) == 0
    way = np.column_stack([np.linspace(0.0, 200.0, n), np.full(n, 50.0)])
    X = rng.normal(size=(n, 2)) + way * moves[:, np.newaxis]
    model = SPC(50, half_life=300.0).fit(X)
    assert model.n_clusters_ == 2
    mean = model.structures_.mean
    assert mean[mean[:, 1] > 25.0, 0].min() > 150.0
    assert model._stream.pruned > n / 4
    kept = SPC(50).fit(X)
    assert kept.structures_.mean[:, 0].min() < 20.0


@pytest.mark.parametrize("factor", [10.0, 0.1])
def test_a_change_of_scale_is_got_over_within_two_half_lives(factor):
    half_life, scores = 500, []
    for seed in range(8):
        # Whatever the time since the last renewal.
        before, _ = two_clusters(4000 + 67 * seed, apart=20.0, seed=seed)
        after, y = two_clusters(2 * half_life, apart=20.0, seed=seed + 10)
        model = SPC(half_life=half_life).fit(before).partial_fit(factor * after)
        scores.append(nmi(y[-300:], model.predict(factor * after[-300:])))
    assert np.mean(scores) > 0.9


def test_another_half_life_holds_from_the_next_point_on():
    X, _ = two_clusters(200)
    model = SPC(20, half_life=50.0).fit(X[:100])
    mass = model._stream.faded_counts().sum()
    model.set_params(half_life=1.0).learn_one(X[100])
    assert model._stream.faded_counts().sum() == pytest.approx(mass / 2.0 + 1.0)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("step", [1.0, 30.0, 700.0])
def test_thousands_of_half_lives_leave_all_numbers_finite(n, step):
    """Clocks sum up the inverse of masses, which fade without end."""
    X, _ = two_clusters(2500)
    model = SPC(n, half_life=1.0).fit(X, t=step * np.arange(2500.0))
    s = model._stream.structures
    assert np.isfinite(s.missed[: s.live]).all()
    assert np.isfinite(s.cluster_clock).all()
    assert np.isfinite(s.clock_then[: s.live]).all()
    assert SPC.from_bytes(model.to_bytes()).n_samples_seen_ == 2500


def test_what_a_structure_misses_counts_after_hundreds_of_half_lives():
    """A clock that started long ago must not swallow the points of today."""
    X, _ = two_clusters(1000, apart=0.0)
    t = np.r_[np.linspace(0.0, 100.0, 500), 100.0 + 1e-3 * np.arange(500.0)]
    model = SPC(2, half_life=1.0).fit(X, t=t)
    s = model._stream.structures
    clock = s.cluster_clock[0]
    assert clock + 1.0 / s.cluster_mass[0] > clock
    assert clock * s.cluster_mass[0] < 2.0**30
