"""River's models in the automatic mode: features by name, time stamps, parameters in flight."""

import copy
import math
import pickle
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import spclust
from spclust.river import SPC, SPCAnomalyDetector
from tests.river_interface.streams import as_points, learnt, pool, two_blobs, what_was_learnt

KINDS = ("auto", "full", "diag", "spherical")


@pytest.mark.parametrize(
    "params", [{}, {"half_life": 40.0}, {"n_structures": 7, "m": 2.0}], ids=str
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3])
def test_it_is_the_estimator_to_the_last_bit(params, kind, d):
    X, _ = two_blobs(d=d)
    params = {**params, "covariance_type": kind}
    ours, theirs = learnt(SPC(**params), as_points(X)), spclust.SPC(**params).partial_fit(X)
    assert pool(ours) == theirs._stream.structures.memory.tobytes()
    rows = np.concatenate([X, 1e4 + X[:5]])
    assert [ours.predict_one(x) for x in as_points(rows)] == theirs.predict(rows).tolist()
    assert ours.predict_one(as_points(rows)[-1]) == -1
    assert ours.n_clusters == theirs.n_clusters_
    u = [list(ours.typicality_one(x).values()) for x in as_points(X[:20])]
    assert np.array_equal(u, theirs.typicality(X[:20]))


def test_scores_are_finite_from_the_first_point_on():
    model = SPCAnomalyDetector()
    for i, x in enumerate(as_points(two_blobs(n=130, d=2)[0])):
        far = {"a": 1e300, "b": -1e300}
        for asked in (x, far, {"a": 1e300}, {"b": x["b"]}):
            assert math.isfinite(model.score_one(asked)), i
        assert i < 10 or model.score_one(far) > 100.0
        model.learn_one(x)


def test_a_model_of_one_point_knows_that_point():
    model = SPCAnomalyDetector()
    model.learn_one({"a": 5.0})
    assert model.score_one({"a": 5.0}) == 0.0
    assert model.score_one({"a": 6.0}) > 9.0


def test_features_appear_vanish_and_are_missing():
    rng = np.random.default_rng(0)
    X, y = two_blobs(n=1500, d=4)
    model, found = SPC(half_life=300), []
    for i, x in enumerate(as_points(X)):
        if i < 300:
            del x["c"]
        if i > 900:
            del x["a"]
        x = {name: value for name, value in x.items() if rng.random() > 0.1}
        found.append(model.predict_one(x))
        model.learn_one(x)
    assert model._known.names == tuple(sorted("abcd", key=model._known.names.index))
    assert set(model.centers[0]) == set("abcd")
    assert adjusted_rand_score(y[200:], found[200:]) > 0.9


def test_a_feature_that_stays_constant_changes_no_cluster():
    X, _ = two_blobs()
    plain, late = SPC(), SPC()
    for i, x in enumerate(as_points(X)):
        plain.learn_one(x)
        late.learn_one({**x, "z": 7.25} if i >= 100 else x)
    assert [late.predict_one({**x, "z": 7.25}) for x in as_points(X)] == [
        plain.predict_one(x) for x in as_points(X)
    ]
    assert np.allclose([one["z"] for one in late.centers.values()], 7.25)


def test_a_point_of_new_features_alone_is_put_to_the_heaviest_structure():
    model = learnt(SPC(n_structures=9), as_points(two_blobs()[0]))
    assert model.predict_one({"z": 3.0}) == -1
    model.learn_one({"z": 3.0})
    assert model._known.names == ("a", "b", "z")
    assert model._known.stream.seen == 301
    assert model.n_clusters == 2


def test_reading_changes_nothing_that_was_learnt():
    points = as_points(two_blobs()[0])
    model, silent = SPC(n_structures=6, half_life=50), SPC(n_structures=6, half_life=50)
    for x in points:
        silent.learn_one(x)
        model.learn_one(x)
        before = what_was_learnt(model)
        for asked in (x, {"a": x["a"]}, {**x, "new": 1.0}, {"b": np.nan}, {}):
            model.predict_one(asked)
            model.typicality_one(asked)
        assert model.micro_clusters
        assert what_was_learnt(model) == before
    assert pool(model) == pool(silent)


@pytest.mark.parametrize("params", [{}, {"half_life": 30}, {"half_life": timedelta(seconds=30)}])
def test_copies_learn_on_to_the_last_bit(params):
    points = as_points(two_blobs()[0])
    timed = isinstance(params.get("half_life"), timedelta)
    stamps = [datetime(2024, 1, 1) + timedelta(seconds=i) if timed else None for i in range(300)]
    model = SPC(n_structures=6, **params)
    for x, t in zip(points[:100], stamps, strict=False):
        model.learn_one(x, t)
    bytes_then = pickle.dumps(model)
    copies = [copy.deepcopy(model), pickle.loads(bytes_then), model.clone(include_attributes=True)]
    for each in (model, *copies):
        assert pickle.dumps(each) == bytes_then
        for x, t in zip(points[100:], stamps[100:], strict=True):
            each.learn_one(x, t)
    for other in copies:
        assert pickle.dumps(other) == pickle.dumps(model)


def test_a_half_life_in_time_is_that_of_the_estimator():
    X, _ = two_blobs()
    t = np.cumsum(np.random.default_rng(0).exponential(size=len(X)))
    ours, theirs = SPC(half_life=25.0), spclust.SPC(half_life=25.0).partial_fit(X, t=t)
    for x, now in zip(as_points(X), t, strict=True):
        ours.learn_one(x, now)
    assert pool(ours) == theirs._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match="t is missing"):
        ours.learn_one(as_points(X)[0])


@pytest.mark.parametrize("model", [SPC, SPCAnomalyDetector])
def test_a_duration_needs_time_stamps(model):
    half_life, sentence = np.timedelta64(15, "m"), "^half_life=.*is a time, but.* time stamps"
    points = as_points(two_blobs()[0])
    timed = model(half_life=half_life)
    with pytest.raises(ValueError, match=sentence + ": pass t="):
        timed.learn_one(points[0])
    with pytest.raises(ValueError, match=sentence + ": pass t="):
        timed.learn_many(pd.DataFrame(points))
    timed.learn_many(pd.DataFrame(points), t=datetime(2024, 1, 1))
    timed.learn_one(points[0], t=datetime(2024, 1, 2))
    assert timed._known.stream.params.half_life == 900.0
    plain = learnt(model(half_life=50.0), points)
    with pytest.raises(ValueError, match=sentence + " so far"):
        plain.half_life = half_life
    assert plain.half_life == 50.0
    learnt(plain, points)


def test_a_half_life_forgets():
    X, _ = two_blobs(n=4000)
    X[1000:] += 500.0
    faded = learnt(SPC(half_life=50), as_points(X))
    kept = learnt(SPC(), as_points(X))
    assert faded.predict_one({"a": 0.0, "b": 0.0}) == -1
    assert kept.predict_one({"a": 0.0, "b": 0.0}) >= 0
    assert faded.n_clusters == 2


def test_half_life_counts_from_the_next_point_on_and_the_mode_stays():
    X, _ = two_blobs()
    ours, theirs = SPC(half_life=100.0), spclust.SPC(half_life=100.0)
    learnt(ours, as_points(X[:150]))
    ours.mutate({"half_life": 10.0})
    learnt(ours, as_points(X[150:]))
    theirs.partial_fit(X[:150]).set_params(half_life=10.0).partial_fit(X[150:])
    assert pool(ours) == theirs._stream.structures.memory.tobytes()
    before = pickle.dumps(ours)
    for name, value in (
        ("scale", 1.0),
        ("n_structures", 5),
        ("m", 2.0),
        ("beta", 0.1),
        ("eps", 0.5),
    ):
        with pytest.raises(ValueError, match=name):
            setattr(ours, name, value)
    assert pickle.dumps(ours) == before
    assert ours.clone({"half_life": 7.0}).half_life == 7.0
    assert ours.clone({"half_life": None, "scale": 2.0}).scale == 2.0


@pytest.mark.parametrize("model", [SPC, SPCAnomalyDetector])
@pytest.mark.parametrize(
    "params", [{"gamma": 0.1}, {"beta": 0.1}, {"max_rank": 3}, {"covariance_type": "lowrank"}]
)
def test_parameters_of_the_paper_are_refused(model, params):
    with pytest.raises(ValueError, match=r"belongs to the mode of the paper.*\.$"):
        model(**params)
    with pytest.raises(ValueError, match=r"belongs to the automatic mode.*\.$"):
        model(half_life=5.0, scale=1.0)
