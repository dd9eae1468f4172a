"""Labels of a long batch: each row is labelled as if it had moved with the clusters since."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from spclust import SPC, SPCOutlierDetector, merge_all
from spclust.estimators.queries import (
    arrivals_of_last_batch,
    labels_and_scores,
    scores_of_last_batch,
)

PLACES = np.array([(0.0, 0.0), (18.0, 0.0), (0.0, 18.0), (18.0, 18.0)])


def at_rest(n, seed=0, places=PLACES):
    """Points of four normal clusters, and which one each is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(places), size=n)
    return places[y] + rng.normal(size=(n, 2)), y


def score(y, labels):
    return normalized_mutual_info_score(y, labels)


def velocity_of(model):
    s = model._stream.structures
    return s.unit * s.velocity


def drifting(n, velocity=(0.01, 0.003), places=PLACES / 3.0):
    X, y = at_rest(n, places=places)
    return X + np.arange(n)[:, np.newaxis] * velocity, y


@pytest.mark.parametrize(("n", "last", "speed"), [(8000, 1500, 0.003), (30_000, 3000, 0.002)])
def test_rows_from_before_a_drift_are_labelled_where_they_were(n, last, speed):
    X, y = at_rest(n, seed=1, places=30.0 / 18.0 * PLACES)
    X[n - last :, 0] += speed * np.arange(last)
    assert score(y, SPC(half_life=500).fit(X).labels_) > 0.98


@pytest.mark.parametrize("batch", [500, 1000, 2000, 4000])
def test_rows_are_labelled_through_the_turns_of_a_drift(batch):
    X, y = at_rest(12_000)
    X[:, 0] += np.cumsum(np.repeat([0.01, -0.01] * 6, 1000))
    model, scores = SPC(half_life=300), []
    for start in range(0, len(X), batch):
        rows = slice(start, start + batch)
        labels = model.partial_fit(X[rows]).labels_
        scores += [score(y[rows], labels)] if start >= 4000 else []
    assert np.mean(scores) > 0.97


def test_rows_of_a_very_long_batch_are_not_lost_to_the_error_of_a_velocity():
    X, _ = drifting(100_000, (0.005, 0.002))
    assert np.mean(SPC(half_life=500).fit(X).labels_ == -1) < 0.02


@pytest.mark.parametrize("last", [700, 800])
def test_rows_before_a_leap_are_labelled_where_they_were(last):
    """The origin stops where all clusters leap; what it did before is not taken back."""
    scores = []
    for seed in range(4):
        X, y = at_rest(6000 + last, seed, PLACES / 2.0)
        X[:, 0] += 0.02 * np.arange(len(X))
        X[6000:, 1] += 60.0
        labels = SPC(half_life=500).partial_fit(X[:5000]).partial_fit(X[5000:]).labels_
        scores.append(score(y[5700:6000], labels[700:1000]))
        assert np.mean(labels[700:1000] == -1) < 0.05
    assert np.mean(scores) > 0.8


@pytest.mark.parametrize("gap", [500.0, 1000.0, 5000.0])
def test_rows_before_a_silence_are_no_outliers(gap):
    X, y = drifting(7010)
    t = np.arange(7010.0)
    t[7000:] += gap
    model = SPC(half_life=500.0).partial_fit(X[:6500], t=t[:6500])
    labels = model.partial_fit(X[6500:], t=t[6500:]).labels_[:500]
    assert np.mean(labels == -1) < 0.01
    if gap <= 1000.0:
        assert score(y[6500:7000], labels) > 0.95


@pytest.mark.parametrize("timed", [False, True])
def test_rows_without_weight_do_not_move_others(timed):
    X, _ = drifting(5501)
    t = np.append(np.arange(5500.0), 5900.0) if timed else None
    weights = np.append(np.ones(500), 0.0)
    models = [
        SPC(half_life=500.0).partial_fit(X[:5000], t=t[:5000] if timed else None) for _ in "ab"
    ]
    plain = models[0].partial_fit(X[5000:5500], t=t[5000:5500] if timed else None)
    weightless = models[1].partial_fit(
        X[5000:], t=t[5000:] if timed else None, sample_weight=weights
    )
    assert np.array_equal(plain.labels_, weightless.labels_[:500])


def test_times_as_far_apart_as_numbers_can_be_have_labels():
    X, _ = drifting(3000)
    X = np.column_stack([X, np.ones(3000)])  # a constant feature has no unit
    t = np.r_[np.full(5, -1.7e308), np.arange(2985.0), np.full(10, 1.7e308)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = SPC(half_life=500.0).partial_fit(X, t=t).labels_
    assert labels.shape == (3000,)


def test_labels_do_not_depend_on_how_the_path_was_recorded():
    """An error in the middle of a batch leaves nothing behind for the next one."""
    X, _ = drifting(6000)
    models = [SPC(half_life=300).partial_fit(X[:5000]) for _ in "ab"]
    models[0]._stream.record_path()
    for model in models:
        for x in X[5000:5500]:
            model.learn_one(x)
        model.partial_fit(X[5500:])
    assert np.array_equal(models[0].labels_, models[1].labels_)


def test_a_model_that_forgets_nothing_has_an_origin_at_rest():
    X, _ = drifting(6000)
    models = [SPC(half_life=500).fit(X[:3000]), SPC(half_life=500).fit(X[3000:])]
    assert all(velocity_of(model).any() for model in models)
    for model in models:
        model.set_params(half_life=None)
    merged = merge_all(models, when="later")
    assert not velocity_of(merged).any()
    rest, _ = at_rest(2000)
    merged.partial_fit(rest)
    assert np.array_equal(merged.labels_, merged.predict(rest))


def test_a_merged_origin_has_the_velocity_that_was_measured():
    X, _ = drifting(5000)
    known, unknown = SPC(half_life=500).fit(X[:4500]), SPC(half_life=500).fit(X[4500:])
    assert not velocity_of(unknown).any()
    merged = merge_all([known, unknown], when="later")
    np.testing.assert_allclose(velocity_of(merged), velocity_of(known), rtol=1e-9)


@pytest.mark.parametrize("speed", [0.005, 0.01, 0.02])
def test_a_merged_origin_goes_on_at_its_velocity(speed):
    """The window after the merge begins with the clusters, not with all points as one."""
    X, _ = at_rest(12_000, places=1.5 * PLACES)
    X[:, 0] += speed * np.arange(len(X))
    first, second = (SPC(half_life=500).fit(part) for part in (X[:4000], X[4000:8000]))
    model = merge_all([first, second], when="later")
    assert model._stream.structures.groups == 4
    for start in range(8000, 12_000, 200):
        model.partial_fit(X[start : start + 200])
        assert velocity_of(model)[0] == pytest.approx(speed, rel=0.2)


@pytest.mark.parametrize("timed", [False, True])
def test_parts_of_a_stream_have_the_velocity_of_the_whole_one(timed):
    X, _ = drifting(16_000)
    t = np.arange(16_000.0) if timed else None
    parts = [SPC(half_life=500.0).fit(X[k::4], t=t[k::4] if timed else None) for k in range(4)]
    velocity = velocity_of(merge_all(parts, when="concurrent"))
    assert velocity[0] == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("gap", [300.0, 1500.0])
def test_the_velocity_is_that_between_silences(gap):
    """Clusters move by 0.005 a unit of time, and on in silences, for a half-life at most."""
    days, of_day, half_life = 20, 400, 500.0
    X, _ = at_rest(days * of_day)
    t = np.arange(float(len(X))) + gap * np.repeat(np.arange(days), of_day)
    moving = np.concatenate([[0.0], np.minimum(np.diff(t), half_life)]).cumsum()
    X[:, 0] += 0.005 * moving
    model, found = SPC(half_life=half_life), []
    for start in range(0, len(X), of_day):
        rows = slice(start, start + of_day)
        model.partial_fit(X[rows], t=t[rows])
        found.append(velocity_of(model)[0])
    assert np.median(found[days // 2 :]) == pytest.approx(0.005, rel=0.1)


@pytest.mark.parametrize(("timed", "jobs"), [(False, 1), (True, 2)])
def test_scores_of_the_last_batch_are_those_of_rows_that_moved(timed, jobs):
    X, _ = drifting(15_000)
    t = np.arange(15_000.0) if timed else None
    model = SPC(half_life=500.0, n_jobs=jobs).partial_fit(X[:5000], t=t[:5000] if timed else None)
    model.partial_fit(X[5000:], t=t[5000:] if timed else None)
    labels, scores = model.labels_, scores_of_last_batch(model, X[5000:])
    assert np.mean(labels == -1) < 0.01
    assert np.mean(scores < -3.0) < 0.1
    assert np.mean(model.score_samples(X[5000:]) < -3.0) > 0.8
    at, later = arrivals_of_last_batch(model, 10_000, np.arange(10_000)), X[-200:] + 0.0
    found = labels_and_scores(model, X[5000:], at)
    assert np.array_equal(found[0], labels)
    assert np.array_equal(found[1], scores)
    model.partial_fit(later, t=t[-200:] + 200.0 if timed else None)
    found = labels_and_scores(model, X[5000:], at)  # they move on with later batches
    assert np.mean(found[0] == labels) > 0.98
    assert np.mean(found[1] < -3.0) < 0.1


@pytest.mark.parametrize("parameters", [{}, {"half_life": 500}, {"scale": 1.0}])
def test_scores_of_the_last_batch_at_rest_are_those_of_its_rows(parameters):
    X, _ = at_rest(3000)
    model = SPC(**parameters).partial_fit(X[:1000]).partial_fit(X[1000:])
    assert np.array_equal(scores_of_last_batch(model, X[1000:]), model.score_samples(X[1000:]))
    found = labels_and_scores(model, X[:5], np.arange(5.0))
    assert np.array_equal(found[0], model.predict(X[:5]))
    with pytest.raises(AttributeError, match="something else was learnt"):
        scores_of_last_batch(model.merge(SPC(**parameters).fit(X)), X[1000:])


def test_a_path_has_bounded_memory():
    X, _ = drifting(3000)
    model = SPC(half_life=500.0).partial_fit(X)
    path = model._stream.path
    for turn in range(2000):
        path = path.turned(5000.0 + turn, np.array([1e-3 * turn, 0.0]))
    s = model._stream.structures
    s.velocity[:] = path.velocity[-1]
    short = path.continued(s)
    assert len(short.began) == 256
    s.drift_clock = 7000.0
    late = np.array([6800.0, 6950.0, 6999.5])
    assert np.array_equal(
        short.followed(np.zeros((3, 2)), late, s), path.followed(np.zeros((3, 2)), late, s)
    )


def test_a_transform_of_learnt_rows_has_the_cluster_of_each_where_it_is_typical():
    X, _ = drifting(10_000)
    model = SPC(half_life=500)
    u, labels = model.fit_transform(X), model.labels_
    known = labels >= 0
    assert known.mean() > 0.9
    assert np.mean(u.argmax(axis=1)[known] == labels[known]) > 0.97
    rest, _ = at_rest(1000)
    assert np.array_equal(model.fit_transform(rest), model.transform(rest))


@pytest.mark.parametrize("contamination", ["auto", 0.05])
def test_outliers_of_learnt_rows_are_those_that_left_their_clusters(contamination):
    X, _ = drifting(30_000, places=PLACES / 2.0)
    X[::50] += 4.0 * np.random.default_rng(0).normal(size=(600, 2))
    model = SPCOutlierDetector(half_life=500, contamination=contamination)
    outlying, left = model.fit_predict(X) < 0, np.arange(30_000) % 50 == 0
    assert outlying.mean() == pytest.approx(0.01 if contamination == "auto" else 0.05, abs=0.003)
    assert outlying[left].mean() > 10.0 * outlying[~left].mean()
    now = X[-1] - [0.0, 20.0]
    assert model.predict([now])[0] == -1
    rest, _ = at_rest(1000)
    assert np.array_equal(model.fit_predict(rest), model.predict(rest))
