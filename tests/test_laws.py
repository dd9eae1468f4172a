"""Laws of the whole model, on streams that Hypothesis draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import special_ortho_group

from spclust import datasets
from tests.fixed import SPC
from tests.strategies import examples, online_params, seeds, streams


def state(model):
    return model._stream.structures.memory.tobytes()


@given(X=streams(), params=online_params(most_structures=20))
def test_never_more_than_n_structures_and_no_point_is_lost_count_of(X, params):
    model = SPC(**params)
    for start in range(0, len(X), 7):
        model.partial_fit(X[start : start + 7])
        table = model.structures_
        assert 1 <= len(table) <= params["n_structures"]
        assert table.count.sum() + model._stream.pruned == model.n_samples_seen_
        assert model.n_samples_seen_ == min(start + 7, len(X))
        assert (np.diff(table.id) > 0).all()
        assert ((table.weight >= 0) & (table.weight <= 1 + 1e-12)).all()


@given(X=streams(), params=online_params(), data=st.data())
def test_any_split_into_batches_gives_the_same_bits(X, params, data):
    whole = SPC(**params).fit(X)
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=6).map(sorted))
    parts = SPC(**params)
    for rows in np.split(X, cuts):
        if len(rows):
            parts.partial_fit(rows)
    assert state(parts) == state(whole)
    assert np.array_equal(parts.clustering(), SPC(**params).partial_fit(X).clustering())


@given(X=streams(), params=online_params())
def test_point_by_point_gives_the_same_bits(X, params):
    one_by_one = SPC(**params)
    for row in X:
        one_by_one.partial_fit(row[np.newaxis])
    assert state(one_by_one) == state(SPC(**params).fit(X))


@given(X=streams(), params=online_params())
def test_reading_changes_no_bit(X, params):
    model = SPC(**params).fit(X)
    before, labels = state(model), model.labels_.copy()
    model.predict(X), model.typicality(X), model.score_samples(X)
    model.clustering(0.5, 2), model.clustering(), model.structures_
    model.describe(), model.describe("structures"), model.diagnose()
    model.set_params(outlier_nlt=1.0).predict(X)
    model.set_params(outlier_nlt=None)
    model.n_clusters_, model.n_samples_seen_, model.labels_, repr(model)
    assert state(model) == before
    assert np.array_equal(model.labels_, labels)


def test_structures_and_clusterings_are_copies_that_cannot_be_written_to():
    model = SPC(5).fit(datasets.make_sine(100)[0])
    before = state(model)
    table = model.structures_
    for name in ("mean", "covariance", "weight", "count", "age", "id", "label"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(table, name)[0] = 0
    model.clustering()[:] = 7
    assert model.clustering().max() < 7
    assert state(model) == before


@given(X=streams(), params=online_params(), power=st.integers(-200, 200))
def test_the_unit_of_the_data_does_not_matter_if_scale_is_in_the_same_unit(X, params, power):
    unit = 2.0**power  # a power of two, so that nothing is rounded
    there = SPC(**params).fit(X)
    here = SPC(**{**params, "scale": params["scale"] * unit}).fit(X * unit)
    assert np.array_equal(here.labels_, there.labels_)
    assert np.array_equal(here.structures_.mean, there.structures_.mean * unit)


@given(X=streams(), params=online_params(), offset=st.sampled_from([1e8, -1e8, 12345.0]))
def test_where_the_origin_lies_does_not_matter(X, params, offset):
    X = np.round(X * 2**20) / 2**20  # so that X + offset is exact
    there, here = SPC(**params).fit(X), SPC(**params).fit(X + offset)
    assert np.array_equal(here.labels_, there.labels_)
    assert np.array_equal(here.structures_.count, there.structures_.count)
    np.testing.assert_allclose(here.structures_.covariance, there.structures_.covariance)


@examples(50)
@given(d=st.integers(2, 6), seed=seeds)
def test_rotation_does_not_matter(d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=20, size=(5, d))[rng.integers(5, size=300)] + rng.normal(size=(300, d))
    R = special_ortho_group.rvs(d, random_state=seed % 1000)
    there, here = SPC(20).fit(X), SPC(20).fit(X @ R)
    assert np.array_equal(here.labels_, there.labels_)
    np.testing.assert_allclose(here.structures_.mean, there.structures_.mean @ R, atol=1e-8)


@given(X=streams(), params=online_params())
def test_spreads_never_shrink_below_a_fresh_structure(X, params):
    table = SPC(**params).fit(X).structures_
    least = np.linalg.eigvalsh(table.covariance)[:, 0]
    assert (least >= params["scale"] ** 2 * (1 - 1e-9)).all()


@given(n=st.integers(1, 60), seed=seeds)
def test_burn_in_is_nothing_but_insertion(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    table = SPC(60, beta=0.3, w_min=0.5).fit(X).structures_
    assert np.array_equal(table.mean.round(12), X.round(12))
    assert table.id.tolist() == list(range(n))
    assert set(table.count) == set(table.age) == {1}
    assert (table.weight == 1).all()
