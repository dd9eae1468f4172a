import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import covariance_union, merge_all
from spclust.algorithm import footprint
from spclust.datasets import make_aggregation_like
from spclust.metrics import nmi
from tests.fixed import SPC
from tests.parts import compiled
from tests.strategies import examples, online_params, seeds, streams

damped = compiled(footprint.damping_sum)

TYPES = ("full", "diag", "spherical", "lowrank")


def state(model):
    return model._stream.structures.memory.tobytes()


@examples(60)
@given(
    X=streams(least_points=6, most_points=60),
    params=online_params(most_structures=8),
    cut=st.floats(0.1, 0.9),
    kind=st.sampled_from(TYPES),
    when=st.sampled_from(["concurrent", "later"]),
)
def test_nothing_is_lost_and_no_more_than_n_are_left(X, params, cut, kind, when):
    at = max(1, int(cut * len(X)))
    a, b = (SPC(covariance_type=kind, **params).fit(part) for part in (X[:at], X[at - 1 :]))
    before = state(a), state(b)
    merged = merge_all([a, b], when=when)
    assert (state(a), state(b)) == before
    table = merged.structures_
    assert len(table) == min(len(a.structures_) + len(b.structures_), params["n_structures"])
    assert merged.n_samples_seen_ == len(X) + 1
    assert table.count.sum() == a.structures_.count.sum() + b.structures_.count.sum()
    assert table.age.sum() == a.structures_.age.sum() + b.structures_.age.sum()
    assert (np.diff(table.id) > 0).all()
    assert set(table.id) <= {*a.structures_.id, *(b.structures_.id + a.n_samples_seen_)}
    assert ((table.weight > 0) & (table.weight <= 1 + 1e-12)).all()
    merged.partial_fit(X)  # and it can go on
    assert merged.n_samples_seen_ == 2 * len(X) + 1


@examples(40)
@given(X=streams(least_points=6, most_points=40), kind=st.sampled_from(TYPES), seed=seeds)
def test_models_that_fit_into_n_are_put_side_by_side(X, kind, seed):
    half = len(X) // 2
    a, b = (SPC(50, covariance_type=kind).fit(part) for part in (X[:half], X[half:]))
    whole, merged = SPC(50, covariance_type=kind).fit(X), a + b
    for name in ("mean", "weight", "count", "age", "id"):
        assert np.array_equal(getattr(merged.structures_, name), getattr(whole.structures_, name))
    assert np.array_equal(merged.clustering(), whole.clustering())
    np.testing.assert_allclose(merged._stream.pairs(), whole._stream.pairs(), rtol=1e-9)


def two(gamma=0.0, beta=0.0, n=1):
    """Two models of one structure each, of 5 and 3 points."""
    rng = np.random.default_rng(0)
    params = {"gamma": gamma, "beta": beta, "w_min": 0.0, "scale": 2.0}
    a = SPC(n, **params).fit(rng.normal(size=(5, 2)))
    return a, SPC(n, **params).fit(rng.normal([1.0, 0.5], size=(3, 2)))


@pytest.mark.parametrize("when", ["concurrent", "later"])
@pytest.mark.parametrize(("gamma", "beta"), [(0.0, 0.0), (0.2, 0.1)])
def test_two_structures_become_one_by_the_papers_equations(when, gamma, beta):
    a, b = two(gamma, beta)
    one, other = a.structures_, b.structures_
    merged = merge_all([a, b], when=when).structures_
    share = damped(gamma, 3.0) / damped(gamma, 8.0)  # Eq. 10
    total = np.exp(-beta * other.age) * one.weight * damped(beta, float(one.age[0]))
    total += other.weight * damped(beta, float(other.age[0]))  # Eq. 12
    weight = total / damped(beta, float(one.age[0] + other.age[0]))
    if when == "concurrent":
        share = 3 / 8
        masses = [damped(beta, float(each.age[0])) for each in (one, other)]
        weight = (masses[0] * one.weight + masses[1] * other.weight) / sum(masses)
    mean = one.mean + share * (other.mean - one.mean)
    np.testing.assert_allclose(merged.mean, mean)
    np.testing.assert_allclose(merged.weight, weight)
    union = covariance_union(
        one.covariance[0], one.mean[0], other.covariance[0], other.mean[0], mean[0]
    )
    np.testing.assert_allclose(merged.covariance[0], union)
    assert (merged.count[0], merged.age[0]) == (8, one.age[0] + other.age[0])


def test_without_decay_both_rules_are_one():
    rng = np.random.default_rng(1)
    a, b = (SPC(10).fit(rng.normal(size=(80, 3)) * 5) for _ in range(2))
    assert state(merge_all([a, b])) == state(merge_all([a, b], when="later"))


def test_weights_on_the_common_clock_fade_as_all_others_do():
    rng = np.random.default_rng(2)
    shards = [SPC(10, beta=0.05).fit(rng.normal(size=(90, 2)) * 5) for _ in range(3)]
    s = merge_all(shards)._stream

    live, s = s.structures.live, s.structures
    ages = s.age[:live]
    np.testing.assert_allclose(s.damping[:live], footprint.damping_sums(0.05, ages))


def test_the_same_order_gives_the_same_bits_and_any_order_the_same_clusters():
    X, y = make_aggregation_like()
    order = np.random.default_rng(3).permutation(len(X))
    shards = [SPC(20, scale=2.5).fit(X[order[k::4]]) for k in range(4)]
    assert state(merge_all(shards)) == state(merge_all(shards))
    scores = [
        nmi(y, merge_all([shards[k] for k in p]).predict(X))
        for p in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1))
    ]
    assert max(scores) - min(scores) < 0.05


def test_a_model_that_took_in_another_has_no_labels_until_it_learns():
    a, b = two(n=5)
    assert a.merge(b) is a
    assert a.n_samples_seen_ == 8
    assert len(a.predict([[0.0, 0.0]])) == 1
    with pytest.raises(AttributeError, match="labels_"):
        _ = a.labels_
    a.partial_fit([[0.0, 0.0]])
    assert len(a.labels_) == 1
    a.learn_one(np.zeros(2))
    assert a.n_samples_seen_ == 10


@pytest.mark.parametrize(
    ("other", "error", "words"),
    [
        (SPC(4).fit(np.zeros((2, 2))), ValueError, "n_structures is 5 in one and 4 in the other"),
        (SPC(5, m=1.4).fit(np.zeros((2, 2))), ValueError, "m is 1.5 in one and 1.4"),
        (SPC(5).fit(np.zeros((2, 3))), ValueError, "one has 2 and the other 3"),
        ("a model", TypeError, "can't take in a str"),
    ],
)
def test_models_that_do_not_go_together(other, error, words):
    model = SPC(5).fit(np.zeros((3, 2)))
    before = state(model)
    if isinstance(other, str):
        with pytest.raises(TypeError):
            model + other
        return
    with pytest.raises(error, match=words):
        model.merge(other)
    assert state(model) == before
    with pytest.raises(ValueError, match='when must be "concurrent" or "later"'):
        model.merge(model, when="never")


def test_names_of_features_must_agree():
    import pandas as pd

    frame = pd.DataFrame(np.zeros((3, 2)), columns=["a", "b"])
    model, other = SPC(5).fit(frame), SPC(5).fit(frame[["b", "a"]])
    with pytest.raises(ValueError, match="feature 0 is 'a' in one and 'b' in the other"):
        model.merge(other)


def test_a_model_can_take_in_itself():
    model = SPC(5).fit(np.random.default_rng(0).normal(size=(30, 2)))
    assert (model + model).n_samples_seen_ == 60


def gaussians(seed, d, k):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=4000)
    return rng.normal(scale=10.0, size=(k, d))[y] + rng.normal(size=(4000, d)), y


def like_aggregation(seed):
    """Eight draws of the set, all points in any order."""
    X, y = map(
        np.concatenate, zip(*(make_aggregation_like(100 * seed + k) for k in range(8)), strict=True)
    )
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order], y[order]


@pytest.mark.parametrize(
    ("make", "params"),
    [
        (like_aggregation, {"n_structures": 40, "scale": 2.0}),
        (lambda seed: gaussians(seed, 2, 7), {"n_structures": 30, "scale": 1.5}),
        (lambda seed: gaussians(seed, 10, 20), {"n_structures": 50, "scale": 3.0}),
    ],
)
def test_eight_shards_are_as_good_as_the_whole_stream(make, params):
    lost = []
    for seed in range(6):
        X, y = make(seed)
        whole = SPC(**params).fit(X)
        merged = merge_all(SPC(**params).fit(X[k::8]) for k in range(8))
        assert merged.structures_.count.sum() + merged._stream.pruned == len(X)
        lost.append(nmi(y, whole.predict(X)) - nmi(y, merged.predict(X)))
    assert np.mean(lost) <= 0.02


def test_shards_that_have_seen_other_clusters_each_agree_about_units():
    """Each shard's units fit its own two or three clusters, whose features vary in other ways."""
    rng = np.random.default_rng(0)
    centres = 40.0 * rng.permutation(np.array(list(np.ndindex(3, 3, 3)), dtype=float))[:20]
    y = np.repeat(np.arange(20), 300)
    X = centres[y] + rng.normal(size=(6000, 3))
    automatic = {"scale": "auto", "eps": "auto"}
    merged = merge_all([SPC(100, **automatic).fit(part) for part in np.array_split(X, 8)])
    assert nmi(y, merged.predict(X)) > 0.99


def test_parameters_that_were_changed_after_learning_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    a, b = SPC(10).fit(X), SPC(10, m=3.0, scale=7.0).fit(X)
    b.set_params(m=1.5, scale=1.0)
    with pytest.raises(ValueError, match=r"m was changed from 3.0 to 1.5"):
        a.merge(b)
    a.set_params(n_structures=-5)
    with pytest.raises(ValueError, match="n_structures"):
        a + a


def test_a_decay_that_was_changed_is_used():
    X = np.random.default_rng(0).normal(size=(30, 3))
    a, b = (SPC(10, beta=0.01).fit(X).set_params(beta=0.5) for _ in range(2))
    assert a.merge(b)._stream.params.beta == 0.5


def test_very_many_models_are_combined_in_groups():
    rng = np.random.default_rng(0)
    models = [SPC(100).fit(rng.normal(size=(101, 2)) + 100 * (k % 3)) for k in range(45)]
    merged = merge_all(models)
    assert merged.n_samples_seen_ == 45 * 101
    assert len(merged.structures_) == 100
    assert merged.structures_.count.sum() + merged._stream.pruned == 45 * 101


def test_no_model_at_all():
    with pytest.raises(ValueError, match="no model to merge"):
        merge_all([])
