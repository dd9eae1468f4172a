"""Models with weights: files, single points, merges, tracking, kinds of arrays, and bad ones."""

import pickle

import numpy as np
import pandas as pd
import pytest

import spclust.river
from spclust import SPC, merge_all
from tests.auto.automatic_states import live_state, memory, two_clusters


@pytest.mark.parametrize("timed", [False, True])
def test_weighted_models_are_saved_copied_and_go_on(timed):
    X, _ = two_clusters()
    weights = np.random.default_rng(2).exponential(size=len(X))
    t = np.arange(len(X)) / 3.0 if timed else None
    first, rest = slice(None, 400), slice(400, None)
    part = {"sample_weight": weights[first], "t": t[first] if timed else None}
    whole = SPC(15, half_life=80.0).fit(X[first], **part)
    copies = SPC.from_bytes(whole.to_bytes()), pickle.loads(pickle.dumps(whole))
    for model in (whole, *copies):
        model.partial_fit(X[rest], sample_weight=weights[rest], t=t[rest] if timed else None)
        model.learn_one(X[0], 500.0 if timed else None)
        assert model.n_samples_seen_ == len(X) + 1
    assert live_state(copies[0]) == live_state(copies[1]) == live_state(whole)


@pytest.mark.parametrize("timed", [False, True])
def test_single_points_of_a_weighted_stream_have_a_weight_of_1(timed):
    X, _ = two_clusters(300)
    weights = np.random.default_rng(2).exponential(size=200)
    t = np.arange(300) / 3.0 if timed else [None] * 300
    first, rest = (t[:200], t[200:]) if timed else (None, None)
    models = [SPC(15, half_life=50.0).fit(X[:200], sample_weight=weights, t=first) for _ in "ab"]
    models[0].partial_fit(X[200:], t=rest)
    for x, now in zip(X[200:], t[200:], strict=True):
        models[1].learn_one(x.copy(), now)
    assert memory(models[0]) == memory(models[1])
    learn, block, scratch = models[1]._learner
    stamp = [1e3] if timed else []
    for wrong in ([], [1.0], [1.0, 1.0, 1.0], [np.nan, 1.0]):
        assert learn(block, np.array(stamp + wrong), scratch, 1) == 0
    with pytest.raises(ValueError, match=r"follows|no time stamps"):
        models[1].learn_one(X[0].copy(), 1.0)
    assert live_state(models[0]) == live_state(models[1])


def test_files_go_on_in_river_with_weights_of_1(tmp_path):
    X, _ = two_clusters()
    weights = np.random.default_rng(2).exponential(size=len(X))
    model = SPC(15).fit(pd.DataFrame(X, columns=["a", "b"]), sample_weight=weights)
    model.save(tmp_path / "weighted.spc")
    river = spclust.river.SPC.load(tmp_path / "weighted.spc")
    river.learn_one({"a": 1.0, "b": 2.0})
    model.partial_fit(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    s = river._known.stream.structures
    assert s.seen == len(X) + 1
    assert np.array_equal(s.mass, model._stream.structures.mass)


def test_shards_with_weights_of_other_sizes_are_merged_by_weight():
    X, y = two_clusters(2000)
    weights = np.where(y == 1, 5.0, 0.5)
    shards = [SPC(30).fit(X[y == k], sample_weight=weights[y == k]) for k in (0, 1)]
    merged, back = merge_all(shards), merge_all(shards[::-1])
    for model in (merged, back):
        table = model.structures_
        mean = np.average(table.mean, axis=0, weights=table.weight)
        np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weights), atol=1e-9)
        assert table.count.sum() == len(X)
        s = model._stream.structures
        assert s.mean_weight == pytest.approx(weights.mean())
    plain = merge_all([SPC(30).fit(X[y == k]) for k in (0, 1)])
    assert plain._stream.structures.mean_weight == 1.0
    mixed = merge_all(
        [SPC(30).fit(X[y == 0]), SPC(30).fit(X[y == 1], sample_weight=4.0 * y[y == 1])]
    )
    share = mixed.structures_.weight[mixed.structures_.mean[:, 0] > 6.0].sum()
    assert share == pytest.approx(4.0 * y.sum() / (4.0 * y.sum() + (y == 0).sum()))


def test_tracked_models_take_weights():
    X, _ = two_clusters(900)
    weights = np.random.default_rng(4).exponential(size=len(X))
    plain = SPC(20, half_life=200.0).fit(X, sample_weight=weights)
    tracked = SPC(20, half_life=200.0, track_every=70).fit(X, sample_weight=weights)
    assert memory(tracked) == memory(plain)
    assert len(tracked.cluster_ids_) == tracked.n_clusters_


@pytest.mark.parametrize("h", [None, 30.0])
def test_weights_of_any_size_leave_a_sound_model(h):
    X, _ = two_clusters()
    rng = np.random.default_rng(0)
    for weights in (10.0 ** rng.uniform(-300, 300, len(X)), np.full(len(X), 1e-320)):
        model = SPC(20, half_life=h).fit(X, sample_weight=weights)
        assert np.isfinite(model.structures_.mean).all()
        assert np.isfinite(model.structures_.weight).all()
        assert np.isfinite(model.score_samples(X)).all()
        assert live_state(SPC.from_bytes(model.to_bytes())) == live_state(model)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -2.0, 1.0], "is -2 at row 1"),
        ([1.0, 1.0, np.nan], "is nan at row 2"),
        ([np.inf, 1.0, 1.0], "is inf at row 0"),
        ([1.0, 1.0], r"one weight for each row, shape \(3,\), but has shape \(2,\)"),
        ([[1.0], [1.0], [1.0]], r"shape \(3, 1\)"),
        (2.0, r"shape \(\)"),
        (["a", "b", "c"], "must hold numbers"),
        (np.array([1.0, None, 1.0], dtype=object), "is None at row 1"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]), "is nan at row 1"),
    ],
    ids=str,
)
def test_bad_weights_get_a_sentence_and_change_nothing(weights, words):
    X, _ = two_clusters(50)
    model, fresh = SPC(10).fit(X), SPC(10)
    before = memory(model)
    for fit in (model.partial_fit, model.fit, fresh.fit, fresh.fit_predict):
        with pytest.raises((ValueError, TypeError), match=words):
            fit(X[:3], sample_weight=weights)
    assert memory(model) == before
    assert len(model.labels_) == len(X)
    assert not hasattr(fresh, "n_features_in_")
    with pytest.raises((ValueError, TypeError), match=words):
        model.score(X[:3], sample_weight=weights)


def test_a_new_stream_needs_a_weight_and_the_mode_of_the_paper_has_none():
    X, _ = two_clusters(50)
    with pytest.raises(ValueError, match="zero for every row: a new stream"):
        SPC().fit(X, sample_weight=np.zeros(len(X)))
    for weights in (np.ones(len(X)), [1.0]):
        with pytest.raises(ValueError, match="sample_weight belongs to the automatic mode"):
            SPC(scale=1.0).fit(X, sample_weight=weights)
    assert SPC(scale=1.0).fit(X, sample_weight=None).n_samples_seen_ == len(X)


def test_the_score_is_the_weighted_mean():
    X, y = two_clusters(200)
    model = SPC().fit(X)
    scores = model.score_samples(X)
    assert model.score(X, sample_weight=y) == pytest.approx(scores[y == 1].mean())
    assert model.score(X, sample_weight=np.ones(len(X))) == pytest.approx(model.score(X))
    with pytest.raises(ValueError, match="a mean needs a weight above 0"):
        model.score(X, sample_weight=np.zeros(len(X)))


@pytest.mark.parametrize("kind", ["series", "list", "float32", "int64", "object"])
def test_weights_of_any_kind_are_the_same(kind):
    X, y = two_clusters(100)
    given = {"series": pd.Series(1 + y), "list": (1 + y).tolist()}.get(kind)
    if given is None:
        given = (1 + y).astype(kind)
    expected = SPC(10).fit(X, sample_weight=1.0 + y)
    assert memory(SPC(10).fit(X, sample_weight=given)) == memory(expected)
    assert np.array_equal(SPC(10).fit_predict(X, sample_weight=given), expected.labels_)
