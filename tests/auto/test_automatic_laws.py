"""Laws of the automatic mode, on streams that Hypothesis draws."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from tests.auto.automatic_states import half_lives, learnt_in_parts, live_state, memory
from tests.reference.evidence import partition
from tests.strategies import examples, seeds, streams

structures = st.integers(1, 25)
kinds = st.sampled_from(["full", "diag"])


@examples(60)
@given(streams(), structures, half_lives, kinds, st.booleans(), st.data())
def test_any_split_into_batches_and_single_points_gives_the_same_bits(X, n, h, kind, timed, data):
    t = np.cumsum(np.random.default_rng(len(X)).exponential(size=len(X))) if timed else None
    params = {"n_structures": n, "half_life": h, "covariance_type": kind}
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=12))
    whole = SPC(**params).fit(X, t=t)
    parts = learnt_in_parts(SPC(**params), X, cuts, t)
    assert memory(parts) == memory(whole)
    single = learnt_in_parts(SPC(**params), X, range(1, len(X)), t)
    assert memory(single) == memory(whole)
    at_once = SPC(**params).partial_fit(X, t=t)
    assert np.array_equal(parts.clustering(), at_once.clustering())
    ids = whole.structures_.id
    assert partition(parts.clustering(), ids) == partition(whole.clustering(), ids)


@examples(40)
@given(streams(), structures, half_lives, st.data())
def test_units_that_are_powers_of_two_change_no_label_and_no_count(X, n, h, data):
    d = X.shape[1]
    powers = data.draw(st.lists(st.integers(-200, 200), min_size=d, max_size=d))
    unit = 2.0 ** np.array(powers)
    there, here = SPC(n, half_life=h).fit(X), SPC(n, half_life=h).fit(X * unit)
    assert np.array_equal(here.labels_, there.labels_)
    assert np.array_equal(here.structures_.id, there.structures_.id)
    assert np.array_equal(here.structures_.count, there.structures_.count)
    assert np.array_equal(here.structures_.mean, there.structures_.mean * unit)
    assert np.array_equal(here.score_samples(X * unit), there.score_samples(X))


@examples(40)
@given(streams(), structures, half_lives, st.sampled_from([1e8, -1e8, 12345.0]))
def test_where_the_origin_is_does_not_matter(X, n, h, offset):
    X = np.round(X * 2**20) / 2**20  # so that X + offset is exact
    there, here = SPC(n, half_life=h).fit(X), SPC(n, half_life=h).fit(X + offset)
    assert np.array_equal(here.labels_, there.labels_)
    assert np.array_equal(here.structures_.count, there.structures_.count)
    assert np.array_equal(here._stream.structures.mean, there._stream.structures.mean)


@examples(30)
@given(seeds, st.floats(-6.0, 6.0), half_lives, st.integers(1, 4))
def test_any_unit_gives_the_same_labels_of_continuous_data(seed, power, h, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=8.0, size=(3, d))[rng.integers(3, size=300)] + rng.normal(size=(300, d))
    units = 10.0**power * 10.0 ** rng.uniform(-2, 2, size=d)
    there = SPC(20, half_life=h).fit(X)
    for here in (SPC(20, half_life=h).fit(X * 10.0**power), SPC(20, half_life=h).fit(X * units)):
        assert np.array_equal(here.structures_.count, there.structures_.count)
        assert np.array_equal(here.labels_, there.labels_)


@examples(40)
@given(streams(least_points=20), structures, half_lives, kinds, st.data())
def test_a_model_that_was_saved_or_pickled_goes_on_with_the_same_bits(X, n, h, kind, data):
    """Whole numbers, too: of partners that tie, the same one has to be found again."""
    X = np.round(X) if data.draw(st.booleans()) else X
    at = data.draw(st.integers(1, len(X) - 1))
    whole = SPC(n, half_life=h, covariance_type=kind).fit(X[:at])
    copies = {
        "saved": SPC.from_bytes(whole.to_bytes()),
        "pickled": pickle.loads(pickle.dumps(whole)),
        "copied": deepcopy(whole),
    }
    for copy in copies.values():
        assert live_state(copy) == live_state(whole)
    whole.partial_fit(X[at:])
    for how, copy in copies.items():
        copy.partial_fit(X[at:])
        assert live_state(copy) == live_state(whole), how
        assert np.array_equal(copy.predict(X), whole.predict(X))


@examples(30)
@given(streams(), structures, half_lives)
def test_queries_change_nothing(X, n, h):
    model = SPC(n, half_life=h).fit(X)
    before, labels = memory(model), model.labels_.copy()
    model.predict(X), model.typicality(X), model.score_samples(X), model.structures_
    model.clustering(), model.clustering(0.5, 2), model.clustering(n_clusters=1)
    model.describe(), model.describe("structures"), model.diagnose(), model.to_bytes()
    assert memory(model) == before
    assert np.array_equal(model.labels_, labels)


@examples(60)
@given(streams(), structures, half_lives)
def test_no_point_is_lost_count_of(X, n, h):
    model = SPC(n, half_life=h)
    for start in range(0, len(X), 17):
        table = model.partial_fit(X[start : start + 17]).structures_
        assert 1 <= len(table) <= n
        assert (np.diff(table.id) > 0).all()
        assert table.count.sum() + model._stream.pruned == model.n_samples_seen_
        assert table.weight.sum() == pytest.approx(1.0)
        if h is None:
            assert model._stream.pruned == 0
            faded = model._stream.faded_counts()
            assert np.array_equal(faded, table.count)


@examples(40)
@given(streams(), structures)
def test_without_a_half_life_the_moments_are_those_of_all_points(X, n):
    table = SPC(n, covariance_type="full").fit(X).structures_
    mean = np.average(table.mean, axis=0, weights=table.count)
    offset = table.mean - mean
    between = np.einsum("k,ki,kj->ij", table.count, offset, offset)
    within = np.einsum("k,kij->ij", table.count, table.covariance)
    scale = np.abs(X - X[0]).max() + 1e-300
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=1e-10 * scale)
    expected = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    np.testing.assert_allclose(between + within, expected, atol=1e-10 * len(X) * scale**2)
