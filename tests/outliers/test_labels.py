"""Labels of rows that are typical nowhere: outlier_nlt of SPC."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.estimators import last_batch as last_rows
from spclust.stream.stream import Stream
from tests.fixed import SPC
from tests.outliers.common import FAR, state
from tests.strategies import online_params, streams


@given(X=streams(), params=online_params(), limit=st.floats(0.0, 5.0))
def test_outliers_are_the_rows_above_the_limit_and_all_others_stay(X, params, limit):
    model = SPC(**params).partial_fit(X)
    before, plain, scores = state(model), model.predict(X), model.score_samples(X)
    labels = model.set_params(outlier_nlt=limit).predict(X)
    assert np.array_equal(labels, np.where(-scores > limit, -1, plain))
    assert state(model) == before


@given(X=streams(), params=online_params(), limit=st.floats(0.0, 2.0))
def test_labels_agree_with_predict_and_have_no_gap(X, params, limit):
    model = SPC(**params, outlier_nlt=limit).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))
    kept = np.unique(model.labels_[model.labels_ >= 0])
    assert kept.tolist() == list(range(len(kept)))
    model.set_params(outlier_nlt=limit / 2)
    assert np.array_equal(model.labels_, model.predict(X))
    model.partial_fit(X[:5])
    assert np.array_equal(model.labels_, model.predict(X[:5]))


def test_a_cluster_of_outliers_alone_leaves_no_gap():
    """Found by search: without outliers the same stream has rows in more clusters."""
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(60, 2)) * 3
        plain = SPC(8, gamma=1.0).fit(X)
        strict = SPC(8, gamma=1.0, outlier_nlt=0.005).fit(X)
        kept = np.unique(strict.labels_[strict.labels_ >= 0])
        assert kept.tolist() == list(range(len(kept)))
        if 0 < len(kept) < len(np.unique(plain.labels_)):
            return
    pytest.fail("no such stream was found: the case is not tested")


def test_points_far_from_everything_belong_to_no_cluster(X):
    model = SPC(30, scale=2.0).fit(X)
    assert (model.predict(FAR) >= 0).all()
    model.set_params(outlier_nlt=3.0)
    assert model.predict(FAR).tolist() == [-1, -1]
    assert model.predict([[0.0, 0.0], [20.0, 20.0]]).tolist() == [0, 1]
    assert model.typicality(FAR).max() < np.exp(-3.0)


def test_the_limit_may_change_between_points(X):
    changed, unchanged = SPC(10).fit(X), SPC(10).fit(X)
    for i, row in enumerate(X):
        changed.outlier_nlt = None if i % 3 else float(i)
        changed.learn_one(row)
        assert changed._learner is not None
        unchanged.learn_one(row)
    assert state(changed) == state(unchanged)


def test_labels_of_rows_that_are_gone_are_not_made_up(X, monkeypatch):
    model = SPC(10).fit(X).set_params(outlier_nlt=1.0)
    with pytest.raises(AttributeError, match="outlier_nlt was another one when the rows"):
        _ = model.labels_
    assert len(model.set_params(outlier_nlt=None).labels_) == len(X)
    model.partial_fit(X).set_params(outlier_nlt=1.0)  # rows of a small batch are still there
    assert np.array_equal(model.labels_, model.predict(X))
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.labels_, model.labels_)
    monkeypatch.setattr(last_rows, "_LARGEST_KEPT", 100)
    model.partial_fit(X)
    assert np.array_equal(model.labels_, model.predict(X))


def test_no_limit_costs_nothing(X, monkeypatch):
    def refuse(*_):
        pytest.fail("NLT was computed")

    model = SPC(10)
    monkeypatch.setattr(Stream, "nlt", refuse)
    model.fit(X).predict(X)
    assert len(model.partial_fit(X).labels_) == len(X)


@pytest.mark.parametrize("value", [-1.0, np.inf, np.nan, True])
def test_a_wrong_limit_is_refused_when_it_is_used(X, value):
    model = SPC(10).fit(X).set_params(outlier_nlt=value)
    with pytest.raises(
        ValueError, match=r'outlier_nlt of SPC must be None or "auto" or a num.* but'
    ):
        model.predict(X)
