"""Weights of points in the automatic mode: their laws, and what they mean."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC, merge_all
from tests.auto.automatic_states import half_lives, memory, two_clusters
from tests.auto.test_line_and_border import touching
from tests.strategies import examples, seeds, streams

structures = st.integers(1, 25)


@st.composite
def weights_of(draw, n, *, zeros=False):
    """Weights (n,) of several kinds; with `zeros`, some are 0, but never all."""
    rng = np.random.default_rng(draw(seeds))
    kinds = [
        rng.exponential(size=n) + 0.01,
        10.0 ** rng.uniform(-3, 3, size=n),
        rng.integers(1, 5, size=n).astype(float),
        np.where(np.arange(n) < n // 2, 1.0, rng.exponential(size=n) + 0.1),
    ]
    weights = kinds[draw(st.integers(0, len(kinds) - 1))]
    if zeros:
        weights[rng.random(n) < 0.4] = 0.0
        weights[rng.integers(n)] = 1.5
    return weights


def times_of(X, timed):
    rng = np.random.default_rng(len(X))
    return np.cumsum(rng.exponential(size=len(X))) if timed else None


def learnt(model, X, t, weights, cuts=()):
    """The model after the rows of X, in batches; None as the weights of a batch of ones."""
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        if rows.size:
            given = None if (weights[rows] == 1.0).all() else weights[rows]
            model.partial_fit(X[rows], sample_weight=given, t=None if t is None else t[rows])
    return model


@examples(40)
@given(streams(), structures, half_lives, st.booleans(), st.data())
def test_a_weight_of_1_is_that_of_a_point_without_one(X, n, h, timed, data):
    t, params = times_of(X, timed), {"n_structures": n, "half_life": h}
    ones = np.ones(len(X))
    plain, weighted = SPC(**params).fit(X, t=t), SPC(**params).fit(X, sample_weight=ones, t=t)
    assert memory(weighted) == memory(plain)
    assert np.array_equal(weighted.labels_, plain.labels_)
    # A last point of another weight brings a weight to all rows of the call, and changes them not.
    last = np.append(ones, 2.5)
    more, later = np.vstack([X, X[:1]]), None if t is None else np.append(t, t[-1])
    whole = SPC(**params).partial_fit(more, sample_weight=last, t=later)
    then = SPC(**params).partial_fit(X, t=t)
    then.partial_fit(more[-1:], sample_weight=last[-1:], t=None if t is None else later[-1:])
    assert memory(whole) == memory(then)


@pytest.mark.parametrize("seed", range(3))
def test_a_renewal_does_not_know_of_weights_that_come_later_in_a_call(seed):
    """Of weighted points less evidence is taken for granted: clusters that touch would be one."""
    X, _ = touching(seed, 3.6)
    weights = np.append(np.ones(len(X) - 1), 2.0)
    whole = SPC(half_life=300).partial_fit(X, sample_weight=weights)
    then = SPC(half_life=300).partial_fit(X[:-1])
    then.partial_fit(X[-1:], sample_weight=weights[-1:])
    assert memory(whole) == memory(then)


@examples(40)
@given(streams(), structures, half_lives, st.booleans(), st.data())
def test_any_split_of_weighted_rows_gives_the_same_bits(X, n, h, timed, data):
    t, weights = times_of(X, timed), data.draw(weights_of(len(X)))
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=12))
    whole = SPC(n, half_life=h).partial_fit(X, sample_weight=weights, t=t)
    for model in (learnt(SPC(n, half_life=h), X, t, weights, c) for c in (cuts, range(len(X)))):
        assert memory(model) == memory(whole)


@examples(40)
@given(streams(), structures, half_lives, st.data())
def test_the_unit_of_weights_does_not_matter(X, n, h, data):
    """Powers of two change no bit of a structure; other factors only what is rounded."""
    weights = data.draw(weights_of(len(X)))
    power = 2.0 ** data.draw(st.sampled_from([1, -1, 30, -200]))
    one = SPC(n, half_life=h).fit(X, sample_weight=weights)
    other = SPC(n, half_life=h).fit(X, sample_weight=power * weights)
    assert np.array_equal(one.labels_, other.labels_)
    for name in ("mean", "covariance", "weight", "count", "id", "label"):
        assert np.array_equal(getattr(one.structures_, name), getattr(other.structures_, name))
    assert np.array_equal(one._stream.faded_counts(), other._stream.faded_counts())


@pytest.mark.parametrize("h", [None, 60.0])
def test_equal_weights_are_none_in_any_unit(h):
    """The first renewals are before the first weight that differs, and learn as without weights."""
    X, _ = two_clusters()
    weights = np.ones(len(X))
    weights[400:] = np.random.default_rng(2).exponential(size=len(X) - 400)
    units = (1.0, 2.0, 0.25)
    models = [SPC(20, half_life=h).fit(X, sample_weight=unit * weights) for unit in units]
    plain = SPC(20, half_life=h).fit(X[:400])
    for unit, model in zip(units[1:], models[1:], strict=True):
        assert np.array_equal(model.structures_.mean, models[0].structures_.mean)
        assert np.array_equal(model.labels_, models[0].labels_)
        equal = SPC(20, half_life=h).fit(X[:400], sample_weight=np.full(400, unit))
        assert np.array_equal(equal.structures_.mean, plain.structures_.mean)
        one, rest = deepcopy(equal), deepcopy(equal)
        for x in X[400:500]:
            one.learn_one(x)
        rest.partial_fit(X[400:500])
        assert memory(one) == memory(rest)
        both = merge_all([equal, equal], when="concurrent")._stream
        assert not both.structures.weighted
        assert both.faded_counts().sum() == pytest.approx(2.0 * plain._stream.faded_counts().sum())


@pytest.mark.parametrize("factor", [2.0, 3.0, 1e-9, 7e40])
@pytest.mark.parametrize("h", [None, 150.0])
def test_any_unit_of_weights_gives_nearly_the_same_structures(factor, h):
    X, _ = two_clusters()
    weights = np.random.default_rng(1).exponential(size=len(X))
    one = SPC(half_life=h).fit(X, sample_weight=weights)
    other = SPC(half_life=h).fit(X, sample_weight=factor * weights)
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.structures_.count, other.structures_.count)
    np.testing.assert_allclose(one.structures_.mean, other.structures_.mean, rtol=1e-9)
    np.testing.assert_allclose(one.structures_.weight, other.structures_.weight, rtol=1e-9)


@examples(40)
@given(streams(), structures, half_lives, st.booleans(), st.data())
def test_a_row_of_weight_0_is_not_there(X, n, h, timed, data):
    t, weights = times_of(X, timed), data.draw(weights_of(len(X), zeros=True))
    kept = weights > 0.0
    with_all = SPC(n, half_life=h).fit(X, sample_weight=weights, t=t)
    without = SPC(n, half_life=h)
    without.fit(X[kept], sample_weight=weights[kept], t=None if t is None else t[kept])
    assert memory(with_all) == memory(without)
    assert with_all.n_samples_seen_ == kept.sum() == without.n_samples_seen_
    assert np.array_equal(with_all.labels_[kept], without.labels_)
    path = with_all._stream.path
    if path is None or path.rests_since(-np.inf):  # else `labels_` are those of rows that move
        assert np.array_equal(with_all.labels_, with_all.predict(X))
    before = memory(with_all)
    with_all.partial_fit(X, sample_weight=np.zeros(len(X)), t=None if t is None else t[-1])
    assert memory(with_all) == before
    assert np.array_equal(with_all.labels_, with_all.predict(X))


@examples(40)
@given(streams(), structures, st.data())
def test_without_a_half_life_moments_are_weighted_and_counts_are_points(X, n, data):
    weights = data.draw(weights_of(len(X)))
    model = SPC(n, covariance_type="full").fit(X, sample_weight=weights)
    table = model.structures_
    mean = np.average(table.mean, axis=0, weights=table.weight)
    offset = table.mean - mean
    between = np.einsum("k,ki,kj->ij", table.weight, offset, offset)
    within = np.einsum("k,kij->ij", table.weight, table.covariance)
    scale = np.abs(X - X[0]).max() + 1e-300
    centre = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(mean, centre, atol=1e-9 * scale)
    share = weights / weights.sum()
    expected = (share[:, np.newaxis] * (X - centre)).T @ (X - centre)
    error = 1e-9 * scale**2 + 1e-28 * np.abs(X).max() ** 2  # the centre itself is rounded
    np.testing.assert_allclose(between + within, expected, atol=error)
    assert table.count.sum() == model.n_samples_seen_ == len(X)
    assert model._stream.faded_counts().sum() == pytest.approx(len(X))
    assert model._stream.structures.mean_weight == pytest.approx(weights.mean())


@pytest.mark.parametrize("h", [None, 2000.0])
def test_weights_are_the_density_whose_valleys_separate_clusters(h):
    """Uniform points are one cluster; if those in the middle weigh little, there are two."""
    found = []
    for seed in range(8):
        X = np.random.default_rng(seed).uniform([-6.0, 0.0], [6.0, 4.0], size=(3000, 2))
        weights = np.where(np.abs(X[:, 0]) < 2.0, 0.02, 1.0)
        assert SPC().fit(X).n_clusters_ == 1
        model = SPC(half_life=h).fit(X, sample_weight=weights)
        found.append(model.n_clusters_)
        left, right = model.predict([[-4.0, 2.0], [4.0, 2.0]])
        assert left != right
    assert found.count(2) >= 7  # one of the two may be divided by chance


def test_centres_are_those_of_the_weighted_rows():
    X, y = two_clusters(2000)
    weights = np.where(X[:, 1] > 0.0, 10.0, 1.0)
    model = SPC().fit(X, sample_weight=weights)
    for label in range(2):
        rows = model.labels_ == label
        expected = np.average(X[rows], axis=0, weights=weights[rows])
        assert expected[1] > 0.4
        np.testing.assert_allclose(model.cluster_centers_[label], expected, atol=0.1)
    share = model.structures_.weight[model.structures_.mean[:, 0] > 6.0].sum()
    assert share == pytest.approx(weights[y == 1].sum() / weights.sum())


@pytest.mark.parametrize("h", [None, 40.0])
def test_the_mean_weight_follows_a_stream_that_forgets(h):
    X, _ = two_clusters(1200)
    weights = np.repeat([1.0, 1000.0], 600)
    model = SPC(20, half_life=h).fit(X, sample_weight=weights)
    expected = weights.mean() if h is None else 1000.0
    assert model._stream.structures.mean_weight == pytest.approx(expected, rel=1e-3)
