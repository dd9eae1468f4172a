"""Time stamps: what was learnt fades with time instead of with points."""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spclust.river
from spclust import SPCOutlierDetector, merge_all
from tests.auto.automatic_states import live_state
from tests.fixed import SPC
from tests.reference.timed import TimedAlgorithm1
from tests.saving.common import state_of
from tests.strategies import examples, online_params, seeds, streams

TIE = 1e-9


@st.composite
def stamps(draw, n):
    """Irregular gaps, some of them zero and some long."""
    rng = np.random.default_rng(draw(seeds))
    gaps = rng.exponential(size=n) * (rng.random(n) < 0.8)
    gaps[rng.random(n) < 0.03] = 40.0
    return draw(st.sampled_from([0.0, -500.0, 1.7e9])) + np.cumsum(np.round(gaps, 3))


@st.composite
def timed_streams(draw):
    params = draw(online_params())
    n = params["n_structures"]
    X = draw(streams(least_points=n + 20, most_points=n + 120))
    return X, draw(stamps(len(X))), params


@examples(50)
@given(timed_streams())
def test_the_compiled_path_agrees_with_algorithm_1_on_stamped_points(stream):
    X, t, params = stream
    oracle = TimedAlgorithm1(**params)
    for x, now in zip(X, t, strict=True):
        oracle.update(x, now)
    assume(oracle.narrowest > TIE)
    got = SPC(**params).fit(X, t=t).structures_
    assert got.id.tolist() == [s.id for s in oracle.S]
    assert got.count.tolist() == [s.count for s in oracle.S]
    np.testing.assert_allclose(got.age, [s.age for s in oracle.S], rtol=1e-9, atol=1e-5)
    np.testing.assert_allclose(got.weight, [s.w for s in oracle.S], rtol=1e-6)
    for mean, covariance, s in zip(got.mean, got.covariance, oracle.S, strict=True):
        assert np.linalg.norm(mean - s.mu) <= 1e-6 * np.linalg.norm(s.mu)
        assert np.linalg.norm(covariance - s.Sigma) <= 1e-6 * np.linalg.norm(s.Sigma)


def same_state(a, b):
    return np.array_equal(a._stream.structures.memory, b._stream.structures.memory, equal_nan=True)


def clusters(n=900, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 12.0 * rng.integers(3, size=(n, 1))


@pytest.mark.parametrize("kind", ["full", "diag", "spherical", "lowrank"])
def test_weights_of_points_that_come_one_a_unit_are_those_of_the_paper(kind):
    X, params = clusters(), {"beta": 0.01, "covariance_type": kind}
    plain, timed = SPC(20, **params).fit(X), SPC(20, **params).fit(X, t=np.arange(len(X)))
    for name in ("mean", "weight", "count", "age", "id", "label"):
        assert np.array_equal(getattr(plain.structures_, name), getattr(timed.structures_, name))


def test_the_unit_of_time_is_free():
    X, t = clusters(), np.cumsum(np.random.default_rng(1).exponential(size=900))
    hours = SPC(20, gamma=0.256, beta=0.064).fit(X, t=t)
    minutes = SPC(20, gamma=0.256 / 64, beta=0.064 / 64).fit(X, t=64.0 * t)
    assert np.array_equal(hours.structures_.id, minutes.structures_.id)
    np.testing.assert_allclose(hours.structures_.mean, minutes.structures_.mean, rtol=1e-12)
    np.testing.assert_allclose(hours.structures_.weight, minutes.structures_.weight, rtol=1e-9)


def test_points_at_the_same_time_fade_nothing():
    X = clusters()
    still = SPC(20, gamma=0.5, beta=0.5).fit(X, t=np.zeros(len(X)))
    paper = SPC(20).fit(X)
    assert np.array_equal(still.structures_.id, paper.structures_.id)
    np.testing.assert_allclose(still.structures_.mean, paper.structures_.mean, rtol=1e-12)
    np.testing.assert_allclose(still.structures_.weight, paper.structures_.weight, rtol=1e-12)


def test_a_mean_is_the_damped_mean_of_its_points_over_time():
    rng = np.random.default_rng(3)
    X, t = 0.01 * rng.normal(size=(50, 2)), np.cumsum(rng.exponential(size=50))
    model = SPC(1, gamma=0.3).fit(X, t=t)
    shares = np.exp(-0.3 * (t[-1] - t))
    np.testing.assert_allclose(
        model.structures_.mean[0], np.average(X, axis=0, weights=shares), rtol=1e-10
    )


def test_after_a_long_silence_old_points_have_no_share_left():
    X = np.array([[0.0, 0.0]] * 5 + [[0.5, 0.0], [1.0, 0.0]])
    t = [0, 1, 2, 3, 4, 1e7, 1e7]
    model = SPC(1, gamma=0.1, beta=0.1).fit(X, t=t)
    assert model.structures_.mean[0, 0] == pytest.approx(0.75)


@examples(30)
@given(timed_streams(), st.data())
def test_cuts_single_points_and_saving_leave_the_same_state(stream, data):
    X, t, params = stream
    cut = data.draw(st.integers(1, len(X) - 2))
    whole = SPC(**params).fit(X, t=t)
    parts = SPC(**params).partial_fit(X[:cut], t=t[:cut])
    parts = SPC.from_bytes(parts.to_bytes())
    parts.learn_one(np.array(X[cut]), float(t[cut]))
    parts.partial_fit(X[cut + 1 :], t=t[cut + 1 :])
    assert state_of(parts) == state_of(whole)


def test_dates_count_in_seconds():
    X = clusters(40)
    start = dt.datetime(2026, 3, 1, 12, 0, 0)
    dates = [start + dt.timedelta(seconds=3 * i) for i in range(40)]
    aware = [date.replace(tzinfo=dt.UTC) for date in dates]
    expected = SPC(8, gamma=0.1).fit(
        X, t=start.replace(tzinfo=dt.UTC).timestamp() + 3.0 * np.arange(40)
    )
    for t in (
        dates,
        aware,
        np.array(dates, dtype="datetime64[ns]"),
        pd.Series(dates),
        pd.Series(aware),
        pd.DatetimeIndex(aware),
        pl.Series(dates),
    ):
        assert same_state(SPC(8, gamma=0.1).fit(X, t=t), expected)


@pytest.mark.parametrize(
    ("t", "words"),
    [
        ([0.0, 2.0, 1.0], "row 2 of t 1 follows 2"),
        ([0.0, 1.0], "one time stamp for each row, 3"),
        ([0.0, np.nan, 1.0], "no finite time stamp at row 1"),
        (["a", "b", "c"], "numbers or dates"),
        ([[0.0], [1.0], [2.0]], "shape"),
        (np.array(["2026-01-01", "NaT", "2026-01-02"], dtype="datetime64[s]"), "at row 1"),
    ],
)
def test_bad_time_stamps_get_a_sentence_and_change_nothing(t, words):
    model = SPC(5).fit(clusters(20), t=np.arange(-20, 0))
    before = model._stream.structures.memory.copy()
    with pytest.raises((ValueError, TypeError), match=words):
        model.partial_fit(clusters(3), t=t)
    assert np.array_equal(model._stream.structures.memory, before)


def test_time_neither_goes_back_between_calls_nor_begins_in_the_middle():
    x = np.array([1.0, 2.0])
    model = SPC(5).fit(clusters(20), t=np.arange(20))
    with pytest.raises(ValueError, match="row 0 of t 18 follows 19"):
        model.partial_fit(clusters(1), t=[18])
    with pytest.raises(ValueError, match="follows 19"):
        model.learn_one(x, 18.5)
    with pytest.raises(ValueError, match="t is missing"):
        model.learn_one(x)
    with pytest.raises(ValueError, match="t is missing"):
        model.partial_fit(clusters(1))
    with pytest.raises(ValueError, match="had no time stamps"):
        SPC(5).fit(clusters(20)).learn_one(x, 3.0)
    model.learn_one(x, 19)  # the same moment, and no float
    model.learn_one(x, 19.0)
    assert model.n_samples_seen_ == 22
    assert model.fit(clusters(20)).structures_.age.dtype == np.int64


def test_one_time_stamp_counts_for_all_rows():
    X = clusters(60)
    at_once = SPC(5, gamma=0.1).partial_fit(X[:30], t=1).partial_fit(X[30:], t=4.5)
    assert same_state(at_once, SPC(5, gamma=0.1).fit(X, t=np.repeat([1.0, 4.5], 30)))


def test_shards_of_a_stamped_stream_meet_on_one_clock():
    X, t = clusters(2_000), np.arange(2_000) / 10
    params = {"n_structures": 12, "gamma": 0.05, "beta": 0.01}
    shards = [SPC(**params).fit(X[k::4], t=t[k::4]) for k in range(4)]
    merged, back = merge_all(shards), merge_all(shards[::-1])
    assert merged.structures_.count.sum() + merged._stream.pruned == 2_000
    assert merged._stream.clock == back._stream.clock == t[-1]
    np.testing.assert_allclose(
        np.sort(merged.structures_.weight), np.sort(back.structures_.weight), rtol=1e-6
    )
    merged.learn_one(X[0], float(t[-1]) + 1.0)
    late = SPC(**params).fit(X[:100], t=t[:100] - 1e4)
    both = late + shards[0]  # what is old has hardly a share left
    nearest = both.predict(X[:5])
    assert nearest.min() >= 0
    with pytest.raises(ValueError, match="Only some"):
        merged.merge(SPC(**params).fit(X))


def test_what_faded_in_one_shard_hardly_moves_the_mean_of_another():
    old = SPC(1, gamma=0.1, scale=5.0).fit(np.zeros((50, 2)), t=np.zeros(50))
    new = SPC(1, gamma=0.1, scale=5.0).fit(np.ones((5, 2)), t=np.full(5, 200.0))
    assert (old + new).structures_.mean == pytest.approx(1.0, abs=1e-6)
    assert (new + old).structures_.mean == pytest.approx(1.0, abs=1e-6)


def test_the_detector_and_river_take_time_stamps_too():
    X, t = clusters(300), np.cumsum(np.random.default_rng(5).exponential(size=300))
    params = {"n_structures": 12, "gamma": 0.05, "beta": 0.01, "scale": 0.5}
    expected = SPC(**params).fit(X, t=t)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for contamination in ("auto", 0.1):
        detector = SPCOutlierDetector(**params, contamination=contamination)
        detector.partial_fit(X[:100], t=t[:100]).partial_fit(X[100:], t=t[100:])
        assert same_state(detector.model_, expected)
    many, one = spclust.river.SPC(**params), spclust.river.SPC(**params)
    many.learn_many(frame, t=t)
    for (a, b), now in zip(X.tolist(), t.tolist(), strict=True):
        one.learn_one({"b": b, "a": a}, t=now)
    for model in (many, one):
        assert np.array_equal(
            model._known.stream.structures.memory, expected._stream.structures.memory
        )
    with pytest.raises(ValueError, match="t is missing"):
        one.learn_one({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="follows"):
        one.learn_one({"a": 1.0, "b": 2.0}, t=0.0)
    one.learn_one({"a": 1.0}, t=dt.datetime(2026, 1, 1))
    one.learn_one({"a": 1.0, "c": 2.0}, t=1.8e9)
    assert one._known.stream.seen == 302


def test_a_point_that_is_refused_takes_no_time():
    model = spclust.SPC(5, half_life=7.0).fit(clusters(20), t=np.arange(20))
    before = live_state(model)
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one(np.array([np.nan, 0.0]), 1e9)
    assert live_state(model) == before
    plain, missing = (spclust.river.SPC(5, half_life=7.0) for _ in range(2))
    for each, point in ((plain, {"a": 1.0}), (missing, {"a": 1.0, "b": float("nan")})):
        for i, (a, b) in enumerate(clusters(30).tolist()):
            each.learn_one({"a": a, "b": b}, t=float(i))
        each.learn_one(point, t=100.0)
    first, second = (SimpleNamespace(_stream=each._known.stream) for each in (plain, missing))
    assert live_state(first) == live_state(second)


@pytest.mark.parametrize("first", [2**53 + 1, 1_700_000_000_000_000_001, -(2**53) - 1, 10**400])
def test_integers_that_a_float_would_round_are_refused(first):
    """Nanoseconds since 1970 would be rounded to multiples of 256."""
    X, stamps = clusters(3), [first, first + 1, first + 2]
    kinds = [stamps, np.array(stamps, dtype=object)]
    if abs(first) < 2**63:
        kinds += [np.array(stamps), np.ma.masked_array(stamps), pd.Series(stamps, dtype="Int64")]
    for t in kinds:
        with pytest.raises(ValueError, match=r"t holds -?1?\d+.*, but integers above 2\*\*53"):
            SPC(5).fit(X, t=t)
    model = SPC(5).fit(X, t=np.array([0.0, 1.0, 2.0]) - 1e19)
    before = model.to_bytes()
    for t in (first, np.array([first] * 3)):
        with pytest.raises(ValueError, match="integers above"):
            model.partial_fit(X, t=t)
    with pytest.raises(ValueError, match="integers above"):
        model.learn_one(X[0], t=first)
    stream = spclust.river.SPC(n_structures=5, scale=1.0)
    stream.learn_one({"x": 1.0, "y": 2.0}, t=-1e19)
    with pytest.raises(ValueError, match="integers above"):
        stream.learn_one({"x": 1.0, "y": 2.0}, t=first)
    assert model.to_bytes() == before
    if abs(first) < 2**63:
        model.partial_fit(X, t=np.array(stamps) - first)
        model.learn_one(X[0], t=2**53)
        dates = np.array(stamps).astype("datetime64[ns]")
        for t in (dates, np.ma.masked_array(dates)):
            assert SPC(5).fit(X, t=t)._stream.clock == pytest.approx(first / 1e9)


def test_stamps_of_many_kinds_and_of_any_size():
    X, day = clusters(3), dt.date(2026, 1, 1)
    for t in (
        [day, day, dt.date(2026, 1, 2)],
        [np.datetime64(day), dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 3)],
        [dt.timedelta(seconds=1)] * 3,
    ):
        SPC(5).fit(X, t=t)
    for t in ([pd.NaT] * 3, [1, np.inf, 3], np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])):
        with pytest.raises(ValueError, match="no finite time stamp"):
            SPC(5).fit(X, t=t)
    old = SPC(10).fit(clusters(3000), t=np.linspace(0, 1e300, 3000))
    assert SPC.from_bytes(old.to_bytes())._stream.clock == 1e300
    for stamp in (np.float64(1.0), 1, 1.0):
        model = SPC(5).fit(X, t=[0, 0, 1])
        model.learn_one(np.ones(2), stamp)
        assert model._stream.clock == 1.0
