"""Common drift: where all clusters move alike, the origin of coordinates moves with them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from spclust import SPC
from spclust.auto.common_drift import NO_GROUP
from tests.auto.automatic_states import live_state
from tests.auto.test_automatic_oracle import (
    assert_same_arrivals,
    assert_same_clusters,
    assert_same_structures,
    run_oracle,
)
from tests.reference.automatic import Automatic
from tests.strategies import examples, seeds

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])


def clusters(n, seed=0, centres=CENTRES):
    """Points (n, d) of normal clusters at rest, and which one each is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(centres), size=n)
    return centres[y] + rng.normal(size=(n, centres.shape[1])), y


def moving(n, velocity, seed=0):
    """The same clusters, which all move at a velocity (d,), a point."""
    X, y = clusters(n, seed)
    return X + np.arange(n)[:, np.newaxis] * np.asarray(velocity), y


def velocity_of(model):
    """Velocity (d,) of the origin, in the unit of the data."""
    s = model._stream.structures
    return s.unit * s.velocity


def quality(X, y, **parameters):
    """Mean NMI of batches of 100, each labelled before it is learnt, without the first 2,000."""
    model, scores = SPC(**parameters), []
    for start in range(0, len(X), 100):
        rows = slice(start, start + 100)
        if start >= 2000:
            scores.append(normalized_mutual_info_score(y[rows], model.predict(X[rows])))
        model.partial_fit(X[rows])
    return float(np.mean(scores))


@examples(20)
@given(seeds, st.integers(5, 12), st.booleans(), st.booleans(), st.sampled_from([7.1, 13.3]))
def test_moving_streams_are_learnt_as_by_the_reference(seed, n, diagonal, timed, half_life):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(110, 2)) + 8.0 * rng.integers(2, size=(110, 1))
    X += np.arange(110)[:, np.newaxis] * rng.normal(scale=0.2, size=2)
    t = np.cumsum(rng.exponential(size=110)) if timed else None
    oracle = run_oracle(Automatic(n, 2, half_life, diagonal), X, t)
    assume(oracle.sure)
    model = SPC(n, half_life=half_life, covariance_type="diag" if diagonal else "full")
    model.partial_fit(X, t=t)
    assert_same_structures(oracle, model)
    assert_same_arrivals(oracle, model)
    np.testing.assert_allclose(velocity_of(model), oracle.unit * oracle.velocity, rtol=1e-6)
    assert_same_clusters(oracle, model)


@examples(20)
@given(seeds, st.integers(5, 12), st.booleans(), st.sampled_from([7.1, 13.3]))
def test_streams_that_leap_are_learnt_as_by_the_reference(seed, n, diagonal, half_life):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(110, 2)) + 300.0 * np.sort(rng.integers(4, size=(110, 1)), axis=0)
    oracle = run_oracle(Automatic(n, 2, half_life, diagonal), X)
    assume(oracle.sure)
    model = SPC(n, half_life=half_life, covariance_type="diag" if diagonal else "full").fit(X)
    assert_same_structures(oracle, model)
    assert_same_clusters(oracle, model)


def test_such_streams_have_structures_in_no_group():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2)) + 300.0 * (np.arange(60) >= 50)[:, np.newaxis]
        s = SPC(12, half_life=13.3).fit(X)._stream.structures
        found += (s.group[: s.live] == NO_GROUP).any()
    assert found >= 15


@pytest.mark.parametrize("n", [1500, 1700, 2000])
def test_a_cluster_that_takes_the_place_of_another_does_not_move_the_origin(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n + 2000, 3))
    X[n:] += 300.0
    model = SPC(half_life=500).partial_fit(X[:n])
    for start in range(n, len(X), 50):
        model.partial_fit(X[start : start + 50])
        assert not velocity_of(model).any()
    labels = model.predict(X[[0, -1]])
    assert labels[0] != labels[1]


def test_the_origin_stops_where_all_clusters_leap():
    X, _ = moving(8000, [0.01, 0.0])
    X[4000:] = X[4000:4001] + 500.0 + clusters(4000, seed=1)[0]
    model = SPC(half_life=500).partial_fit(X[:4000])
    assert velocity_of(model).any()
    assert not velocity_of(model.partial_fit(X[4000:5500])).any()


def test_two_structures_follow_the_drift_after_a_leap():
    rng, n = np.random.default_rng(0), 16_000
    X = rng.normal(size=(n, 2)) + [0.02, 0.0] * np.arange(n)[:, np.newaxis]
    X[6000:] += 1e4
    model = SPC(2, half_life=500)
    for part in np.split(X, 16):
        model.partial_fit(part)
    s = model._stream.structures
    assert (s.unit * s.velocity)[0] == pytest.approx(0.02, rel=0.3)


def test_such_streams_move_the_origin():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(110, 2)) + np.arange(110)[:, np.newaxis] * [0.2, -0.1]
        found += SPC(12, half_life=13.3).fit(X)._stream.structures.velocity.any()
    assert found >= 10


def test_the_velocity_is_found():
    X, _ = moving(6000, [0.01, -0.004])
    assert velocity_of(SPC(half_life=500).fit(X)) == pytest.approx([0.01, -0.004], abs=6e-4)


@pytest.mark.parametrize("speed", [0.004, 0.01])
def test_clusters_that_move_are_told_apart_as_at_rest(speed):
    X, y = clusters(8000)
    at_rest = quality(X, y, half_life=500)
    X, y = moving(8000, [speed, speed / 3])
    assert quality(X, y, half_life=500) > at_rest - 0.05


def test_the_origin_turns_and_stops_with_the_stream():
    X, _ = clusters(12_000)
    steps = np.repeat([0.01, -0.01, 0.0], 4000)
    X[:, 0] += np.cumsum(steps)
    model, found = SPC(half_life=300), []
    for start in range(0, len(X), 500):
        model.partial_fit(X[start : start + 500])
        found.append(velocity_of(model)[0])
    expected = [0.01, -0.01, 0.0]
    assert found[7::8] == pytest.approx(expected, abs=1e-3)


def rotating(n):
    """Three clusters that move on a circle: together they stay where they are."""
    X, y = clusters(n, centres=np.zeros((3, 2)))
    angle = 2.0 * np.pi * (y / 3 + np.arange(n) / 4000)
    return X + 10.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def one_of_three(n):
    """Three clusters, one of which moves."""
    X, y = clusters(n, centres=CENTRES[:3] * 5.0)
    return X + np.where(y == 2, np.arange(n) * 0.01, 0.0)[:, np.newaxis] * [0.0, 1.0]


@pytest.mark.parametrize(
    "X",
    [clusters(8000)[0], rotating(8000), one_of_three(8000), clusters(8000, centres=CENTRES[:1])[0]],
    ids=["at rest", "rotating", "one of three", "one cluster"],
)
def test_the_origin_rests_where_clusters_do_not_move_alike(X):
    model = SPC(half_life=500)
    for start in range(0, len(X), 500):
        model.partial_fit(X[start : start + 500])
        assert not velocity_of(model).any()


def test_a_glitch_does_not_move_the_origin():
    X, _ = moving(6000, [0.01, 0.0])
    X[4321] = 1e6
    model = SPC(half_life=500).partial_fit(X[:4321])
    for start in range(4321, 6000, 100):
        model.partial_fit(X[start : start + 100])
        assert velocity_of(model) == pytest.approx([0.01, 0.0], abs=2e-3)


def test_means_are_where_the_points_are():
    X, _ = moving(6000, [0.01, -0.004])
    model = SPC(half_life=300).fit(X)
    table = model.structures_
    now = CENTRES.mean(axis=0) + 6000 * np.array([0.01, -0.004])
    assert np.average(table.mean, axis=0, weights=table.weight) == pytest.approx(now, abs=1.0)


def test_after_a_silence_the_origin_does_not_run_away():
    X, _ = moving(4000, [0.01, 0.0])
    t = np.arange(4000.0)
    model = SPC(half_life=500).partial_fit(X, t=t)
    before = model._stream.structures.displacement.copy()
    model.partial_fit(X[-1:], t=[1e9])
    s = model._stream.structures
    moved = s.unit * (s.displacement - before)
    assert velocity_of(model).any()
    assert moved[0] == pytest.approx(500 * velocity_of(model)[0])


def test_the_origin_stops_if_nothing_is_forgotten_any_more():
    X, _ = moving(4000, [0.01, 0.0])
    model = SPC(half_life=500).fit(X)
    assert velocity_of(model).any()
    model.set_params(half_life=None).partial_fit(X[-10:])
    assert not velocity_of(model).any()


@pytest.mark.parametrize("cuts", [[1234, 1235, 3999], list(range(50, 4000, 50))])
def test_batches_and_files_make_no_difference(cuts, tmp_path):
    X, _ = moving(4000, [0.01, 0.002])
    whole, parts = SPC(half_life=200).partial_fit(X), SPC(half_life=200)
    assert velocity_of(whole).any()
    for rows in np.split(X, cuts):
        parts = SPC.from_bytes(parts.partial_fit(rows).to_bytes())
    assert live_state(whole) == live_state(parts)


def test_units_that_are_powers_of_two_make_no_difference():
    X, _ = moving(4000, [0.01, 0.002])
    one, other = (SPC(half_life=200).fit(X * factor) for factor in (1.0, 2.0**-30))
    assert np.array_equal(velocity_of(one) * 2.0**-30, velocity_of(other))
    assert np.array_equal(one.predict(X[-500:]), other.predict(X[-500:] * 2.0**-30))


@pytest.mark.parametrize("when", ["concurrent", "later"])
def test_merged_streams_go_on_moving(when):
    X, y = moving(6000, [0.01, -0.004])
    parts = [X[::2], X[1::2]] if when == "concurrent" else [X[:3000], X[3000:]]
    models = [SPC(half_life=500).fit(part) for part in parts]
    merged = models[0].merge(models[1], when=when)
    pace = 0.5 if when == "concurrent" else 1.0  # between two points of a part there is one more
    speeds = [pace * velocity_of(SPC(half_life=500).fit(part)) for part in parts]
    assert np.all(speeds)
    assert np.all(velocity_of(merged) >= np.min(speeds, axis=0) - 1e-12)
    assert np.all(velocity_of(merged) <= np.max(speeds, axis=0) + 1e-12)
    assert normalized_mutual_info_score(y[-300:], merged.predict(X[-300:])) > 0.8


def test_merged_streams_at_rest_need_two_windows_to_move():
    one, other = (SPC(half_life=500).fit(clusters(3000, seed=seed)[0]) for seed in (0, 1))
    assert one._stream.structures.agreeing > 1
    assert one.merge(other)._stream.structures.agreeing == 0


def test_a_window_begins_when_there_is_a_half_life_again():
    X, _ = clusters(5000)
    model = SPC(half_life=500).partial_fit(X[:3100])
    model.set_params(half_life=None).partial_fit(X[3100:4000])
    s = model.set_params(half_life=500).partial_fit(X[4000:4050])._stream.structures
    assert s.arrivals.sum() <= 50.0
    assert s.window_began >= 3999.0


@pytest.mark.parametrize("half_life", [100.0, 1000.0])
def test_the_origin_rests_in_a_clock_and_in_counters(half_life):
    t = np.arange(8000.0)[:, np.newaxis]
    X = np.hstack([clusters(8000, centres=3.0 * CENTRES)[0], 1.7e9 + t, -0.5 * t])
    model = SPC(half_life=half_life)
    for start in range(0, 8000, 500):
        labels = model.partial_fit(X[start : start + 500]).labels_
        assert not velocity_of(model).any()
    assert np.mean(labels < 0) < 0.2


def test_features_that_move_slowly_are_followed_beside_a_clock():
    X, _ = moving(6000, [0.01, -0.004])
    model = SPC(half_life=500).fit(np.hstack([X, np.arange(6000)[:, np.newaxis]]))
    assert velocity_of(model) == pytest.approx([0.01, -0.004, 0.0], abs=1e-3)


@pytest.mark.parametrize("slopes", [[1.0, 2.0, -0.37], [0.3, -1.0, 0.2, 1.0]])
@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_trends_without_noise_are_learnt(slopes, noise):
    """All structures are on a line, and W is a matrix of rank one but for rounding."""
    t = np.arange(10_000.0)[:, np.newaxis]
    X = t * slopes + noise * np.random.default_rng(0).normal(size=(len(t), len(slopes)))
    model = SPC(half_life=100.0)
    for start in range(0, len(X), 500):
        model.partial_fit(np.hstack([X, np.sin(t)])[start : start + 500])
    assert np.isfinite(model.structures_.mean).all()


def test_clusters_without_scatter_do_not_keep_the_stream_busy():
    X = CENTRES[np.random.default_rng(0).integers(4, size=20_000)]
    s = SPC(half_life=500).fit(X)._stream.structures
    assert s.agreeing == 0
    assert s.calm > 1


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("batch", [50, 500])
def test_labels_of_a_batch_are_those_of_where_clusters_were(batch, timed):
    """They move by up to 50 deviations in a batch, and are 20 apart."""
    X, y = clusters(8000, centres=CENTRES / 0.3)
    t = np.cumsum(np.random.default_rng(0).exponential(size=8000))
    X += (t if timed else np.arange(8000.0))[:, np.newaxis] * [0.1, 0.05]
    model = SPC(half_life=500.0)
    for start in range(0, 8000, batch):
        rows = slice(start, start + batch)
        labels = model.partial_fit(X[rows], t=t[rows] if timed else None).labels_
        if start >= 2000:
            assert normalized_mutual_info_score(y[rows], labels) > 0.99


def test_weightless_rows_of_a_batch_do_not_move_the_others():
    X, _ = moving(6000, [0.1, 0.05])
    some = np.random.default_rng(0).random(6000) < 0.5
    one, other = SPC(half_life=500), SPC(half_life=500)
    for rows in (slice(0, 5000), slice(5000, 6000)):
        one.partial_fit(X[rows], sample_weight=some[rows])
        other.partial_fit(X[rows][some[rows]])
    assert velocity_of(one).any()
    assert np.array_equal(one.labels_[some[5000:]], other.labels_)


def test_times_that_are_as_far_apart_as_numbers_can_be_are_learnt():
    X = np.random.default_rng(0).normal(size=(400, 2))
    t = np.repeat([-1e308, 1e308], 200)
    model = SPC(20, half_life=50.0).fit(X, t=t)
    assert np.isfinite(model.structures_.mean).all()
    assert np.array_equal(SPC.from_bytes(model.to_bytes()).predict(X), model.predict(X))
