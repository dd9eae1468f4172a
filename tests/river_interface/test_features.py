"""Features by name: they come in any order, appear, vanish, and are missing."""

import itertools
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.river import named_stream
from spclust.stream.missing_features import completed, nearest_observed, nlt_observed
from spclust.stream.new_features import with_new_features
from tests.river_interface.paper import SPC
from tests.river_interface.streams import KINDS, as_points, learnt, lines, pool, two_blobs
from tests.strategies import examples, seeds


@st.composite
def patchy_points(draw):
    """Points of up to five features of which any may be missing."""
    d, rng = draw(st.integers(1, 5)), np.random.default_rng(draw(seeds))
    X, _ = lines(draw(st.integers(1, 80)), d, draw(seeds))
    missing = rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.5]))
    forms = draw(st.sampled_from(["left out", "NaN", "None"]))
    fill = {"NaN": float("nan"), "None": None}
    return [
        {
            name: fill[forms] if gone else value
            for (name, value), gone in zip(x.items(), absent, strict=True)
            if not (gone and forms == "left out")
        }
        for x, absent in zip(as_points(X), missing, strict=True)
    ]


@given(patchy_points(), st.randoms(use_true_random=False))
@examples(50)
def test_the_order_of_keys_has_no_influence(points, rng):
    there, shuffled = SPC(n_structures=6), SPC(n_structures=6)
    for x in points:
        keys = rng.sample(list(x), len(x))
        y = {key: x[key] for key in keys}
        assert there.predict_one(x) == shuffled.predict_one(y)
        assert there.typicality_one(x) == shuffled.typicality_one(y)
        there.learn_one(x)
        shuffled.learn_one(y)
    assert pickle.dumps(there._known) == pickle.dumps(shuffled._known)


@given(patchy_points())
@examples(30)
def test_missing_is_missing_however_it_is_said(points):
    said, left_out = SPC(n_structures=6), SPC(n_structures=6)
    for x in points:
        y = {name: value for name, value in x.items() if value is not None and value == value}
        said.learn_one(x)
        left_out.learn_one(y)
        assert said.predict_one(x) == left_out.predict_one(y)
    assert pickle.dumps(said) == pickle.dumps(left_out)


def grown(kind, seed, d=4, **params):
    """A model of lines, its means (k, d) and covariances (k, d, d)."""
    X, _ = lines(60, d, seed)
    model = learnt(SPC(n_structures=6, scale=0.7, covariance_type=kind, **params), as_points(X))
    table = model._table()
    return model, table.mean, table.covariance


@given(st.sampled_from(KINDS), seeds, st.integers(1, 14), st.sampled_from([None, 1, 2]))
@examples(60)
def test_typicality_is_that_of_the_observed_block(kind, seed, pattern, max_rank):
    model, mu, Sigma = grown(kind, seed, max_rank=max_rank)
    stream, rng = model._known.stream, np.random.default_rng(seed)
    o = np.array([pattern >> c & 1 for c in range(4)], dtype=bool)
    x = np.where(o, rng.uniform(-20, 20, size=4), np.nan)
    y = (x - mu)[:, o]
    inverse = np.linalg.inv(Sigma[:, o][:, :, o])
    q = np.einsum("ki,kij,kj->k", y, inverse, y)
    nlt = np.log1p(q ** (1 / (1.5 - 1)))
    assert np.allclose(nlt_observed(stream, x), nlt, rtol=1e-7)
    point = present(as_points([x])[0])
    labels = stream.clustering(stream.limit_of_eps(0.95), 1)
    assert model.predict_one(point) == labels[np.argmin(q)]
    for label, u in model.typicality_one(point).items():
        assert np.isclose(u, np.exp(-nlt[labels == label].min()), rtol=1e-7)
    # What is expected of the rest, and that it is no less typical than what was seen.
    best = nearest_observed(stream, x)
    whole = completed(stream, x)
    expected = mu[best, ~o] + Sigma[best][~o][:, o] @ inverse[best] @ y[best]
    assert best == np.argmin(q)
    assert np.array_equal(whole[o], x[o])
    assert np.allclose(whole[~o], expected, rtol=1e-7, atol=1e-7)
    own = np.where(np.arange(len(mu)) == best, 0, -1)
    assert np.isclose(stream.nlt(whole[np.newaxis], own, 1)[0, 0], nlt[best], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_partial_point_is_learnt_as_the_completed_one(kind):
    model, _, _ = grown(kind, seed=3)
    other = pickle.loads(pickle.dumps(model))
    x = np.array([1.0, np.nan, 2.0, np.nan])
    whole = completed(model._known.stream, x)
    model.learn_one({"a": 1.0, "c": 2.0})
    other.learn_one(as_points([whole])[0])
    assert pool(model) == pool(other)


def test_far_from_the_origin_a_partial_point_is_read_as_near_it():
    X, _ = two_blobs(d=3)
    X = np.round(1024 * X) / 1024  # so that moving it loses nothing
    near, far = learnt(SPC(), as_points(X)), learnt(SPC(), as_points(X + 2.0**40))
    for a in X[:40, 0].tolist():
        u, v = near.typicality_one({"a": a}), far.typicality_one({"a": a + 2.0**40})
        assert np.allclose(list(u.values()), list(v.values()))


def with_plain_mean(stream, x):
    """What `completed` would be with the mean in place of what is expected."""
    best = nearest_observed(stream, x)
    mean = stream.table(np.zeros(len(stream.order()), dtype=np.int64)).mean[best]
    return np.where(np.isnan(x), mean, x)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_structures_swell_less_with_what_is_expected_than_with_the_mean(d, monkeypatch):
    swollen = {completed: 0.0, with_plain_mean: 0.0}
    for seed, complete in itertools.product(range(6), swollen):
        X, _ = lines(800, d, seed)
        missing = np.random.default_rng(seed).random(X.shape) < 0.3
        missing[:50] = False
        model = SPC(n_structures=15)
        monkeypatch.setattr(named_stream, "completed", complete)
        learnt(model, [present(x) for x in as_points(np.where(missing, np.nan, X))])
        swollen[complete] += np.trace(model._table().covariance, axis1=1, axis2=2).sum()
    assert swollen[completed] < 0.85 * swollen[with_plain_mean]


def present(x):
    return {name: value for name, value in x.items() if value == value}


# New features


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_new_features_leave_all_distances_as_they_are(kind, d):
    X, _ = lines(100, d, seed=1)
    model = learnt(SPC(n_structures=9, covariance_type=kind), as_points(X))
    stream, first = model._known.stream, np.array([5.0, -3.0])
    before = stream.structures.memory.tobytes()
    wider = with_new_features(stream, model._params_for(d + 2), first)
    assert stream.structures.memory.tobytes() == before
    live = stream.structures.live
    s, t = stream.structures, wider.structures
    for part in ("odds", "odds_back", "pair"):
        old, new = getattr(s, part), getattr(t, part)
        assert np.array_equal(old[:live, :live], new[:live, :live])
    nobody = np.full(live, -1)
    old, new = stream.table(nobody), wider.table(nobody)
    assert np.array_equal(new.mean, np.hstack([old.mean, np.tile(first, (live, 1))]))
    assert np.array_equal(new.covariance[:, :d, :d], old.covariance)
    assert not new.covariance[:, d:, :d].any()
    block = old.covariance[:, :1, :1] if kind == "spherical" else 1.0
    assert np.array_equal(new.covariance[:, d:, d:], block * np.tile(np.eye(2), (live, 1, 1)))
    # The kernels see the same: a point with these values is where it was without them.
    rows = np.hstack([X, np.tile(first, (len(X), 1))])
    ids = np.arange(live)
    assert np.allclose(wider.nlt(rows, ids, live), stream.nlt(X, ids, live), rtol=1e-12)
    assert np.array_equal(wider.nearest(rows), stream.nearest(X))


@given(st.sampled_from(KINDS), seeds, st.integers(1, 60), st.integers(1, 3))
@examples(40)
def test_a_feature_that_stays_constant_changes_nothing(kind, seed, when, d):
    X, _ = lines(90, d, seed)
    plain = SPC(n_structures=6, covariance_type=kind, beta=0.1, w_min=0.1)
    late, always = plain.clone(), plain.clone()
    for i, x in enumerate(as_points(X)):
        plain.learn_one(x)
        always.learn_one({**x, "z": 7.25})
        late.learn_one({**x, "z": 7.25} if i >= when else x)
        if i % 10 == 0:
            assert late.predict_one(x) == plain.predict_one(x)
    assert list(late.micro_clusters) == list(plain.micro_clusters) == list(always.micro_clusters)
    assert np.allclose(late._table().mean, always._table().mean)
    assert np.allclose(late._table().covariance, always._table().covariance)
    assert [late.predict_one(x) for x in as_points(X)] == [
        plain.predict_one(x) for x in as_points(X)
    ]


@given(st.sampled_from(KINDS), seeds, st.integers(1, 60), st.integers(1, 3), st.booleans())
@examples(60)
def test_before_it_came_a_new_feature_had_its_first_value(kind, seed, when, d, narrow):
    X, _ = lines(90, d + 1, seed)
    X[:, :-1] *= 3.0
    if narrow:  # within the reach of a fresh structure: grown ones, which are wider, grow by it too
        X[:, -1] *= 0.03
    late = SPC(n_structures=4, covariance_type=kind, beta=0.1, w_min=0.1)
    always = late.clone()
    last = list(as_points(X)[0])[-1]
    for i, x in enumerate(as_points(X)):
        always.learn_one(x if i >= when else {**x, last: X[when, -1]})
        late.learn_one(x if i >= when else {name: x[name] for name in x if name != last})
    assert list(late.micro_clusters) == list(always.micro_clusters)
    assert np.allclose(late._table().mean, always._table().mean)
    assert np.allclose(late._table().covariance, always._table().covariance)


def test_auto_stays_what_it_was_at_the_first_point():
    model = learnt(SPC(n_structures=3), as_points(two_blobs(10)[0]))
    kind = model._known.stream.params.kind
    model.learn_one({f"f{i}": float(i) for i in range(130)})
    model.learn_one({"a": 3.0, "f1": 2.0})
    assert len(model._known.names) == 132
    assert model._known.stream.params.kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_feature_can_tell_clusters_apart(kind):
    model = SPC(scale=2.0, covariance_type=kind)
    rng = random.Random(0)
    for i in range(600):
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)}
        if i > 200:
            x["c"] = rng.gauss(40 * (i % 2), 1)
        model.learn_one(x)
    assert model.predict_one({"c": 0.0}) != model.predict_one({"c": 40.0})
    assert model.n_clusters == 2


def test_many_features_may_come_one_by_one_and_all_go():
    rng = random.Random(0)
    model = SPC(n_structures=5, covariance_type="lowrank")
    for i in range(60):
        model.learn_one({f"f{i}": rng.gauss(0, 1), f"f{i // 2}": rng.gauss(0, 1)})
    assert len(model._known.names) == 60
    assert model._known.stream.seen == 60
    assert np.isfinite(model._table().covariance).all()


def test_a_point_of_new_features_alone_is_put_to_the_heaviest_structure():
    model = learnt(SPC(scale=2.0), as_points(two_blobs()[0]))
    other = pickle.loads(pickle.dumps(model))
    heaviest = max(model.micro_clusters.values(), key=lambda one: one.weight)
    assert model.predict_one({"z": 3.0}) == -1
    model.learn_one({"z": 3.0})
    other.learn_one({**heaviest.center, "z": 3.0})
    assert pool(model) == pool(other)
