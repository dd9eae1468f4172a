"""The detector of outliers: scikit-learn's checks, the mode of the paper, and what is refused."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spclust import SPCOutlierDetector
from spclust.estimators import outlier_detector as outliers
from tests.fixed import SPC
from tests.outliers.common import (
    FAR,
    alarms,
    learnt_at_once_and_in_parts,
    scores_before_learning,
    state,
    with_outliers,
)
from tests.strategies import examples, online_params, streams

DETECTORS = [
    SPCOutlierDetector(),
    SPCOutlierDetector(contamination=0.1),
    SPCOutlierDetector(5, half_life=50.0, covariance_type="diag", contamination=0.2),
    SPCOutlierDetector(
        5, gamma=0.1, beta=0.05, covariance_type="diag", contamination=0.2, scale=1.0
    ),
]


@parametrize_with_checks(DETECTORS, xfail_strict=True)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_inplace_ensure_writeable,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learns_checks_outside_its_suite(check):
    check("SPCOutlierDetector", SPCOutlierDetector())


@pytest.mark.parametrize("kind", ["full", "lowrank", "diag", "spherical"])
def test_outliers_are_found_before_and_after_they_are_learnt(kind):
    X, y = with_outliers()
    model = SPCOutlierDetector(scale=1.5, covariance_type=kind)
    assert roc_auc_score(y, -model.fit(X).score_samples(X)) > 0.95
    scores = scores_before_learning(clone(model).partial_fit(X[:50]), np.split(X[50:], 11))
    assert roc_auc_score(y[50:], -scores) > 0.95


def test_a_lonely_point_does_not_vouch_for_itself(X):
    rows = np.concatenate([X, FAR])
    model = SPCOutlierDetector(scale=2.0).fit(rows)
    assert model.predict(FAR).tolist() == [-1, -1]
    assert model.model_.score_samples(FAR).tolist() == [0.0, 0.0]  # each has its own structure
    assert model.fit_predict(rows)[:-2].min() == 1


def test_single_points_count_while_there_is_nothing_else(X):
    model = SPCOutlierDetector(scale=2.0).fit(X[:5])
    assert (model.score_samples(X[:5]) == 0.0).all()


def test_automatic_threshold_is_the_one_of_pruning(X):
    for nlt_max in (3.0, 1.0):
        model = SPCOutlierDetector(scale=2.0, nlt_max=nlt_max).fit(X)
        assert model.offset_ == -nlt_max
        rows = np.concatenate([X, FAR])
        scores = model.score_samples(rows)
        assert np.array_equal(model.decision_function(rows), scores + nlt_max)
        assert np.array_equal(model.predict(rows), np.where(scores < -nlt_max, -1, 1))
        assert model.partial_fit(X).offset_ == -nlt_max


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_contamination_is_the_share_of_outliers_after_fit(share):
    X, _ = with_outliers(n=1000)
    model = SPCOutlierDetector(scale=0.5, contamination=share).fit(X)
    assert np.mean(model.predict(X) == -1) == pytest.approx(share, abs=0.01)


def test_contamination_of_a_stream_is_the_share_of_alarms_before_learning():
    X, _ = with_outliers(n=3000)
    model = SPCOutlierDetector(scale=1.5, contamination=0.05)
    assert np.mean(alarms(model, np.split(X, 300))[150:]) == pytest.approx(0.05, abs=0.015)


@examples(20)
@given(X=streams(most_points=60), params=online_params(most_structures=8), data=st.data())
def test_any_split_of_a_stream_gives_the_same_state_and_threshold(X, params, data):
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=4).map(sorted))
    whole = learnt_at_once_and_in_parts(X, cuts, params)
    assert state(whole.model_) == state(SPC(**params).fit(X))


def test_each_point_is_scored_before_it_is_learnt(X):
    model = SPCOutlierDetector(10, contamination=0.1, scale=1.0).partial_fit(X)
    other, expected = SPCOutlierDetector(10, scale=1.0).partial_fit(X[:1]), []
    for row in X[1:, np.newaxis]:
        expected.append(other.score_samples(row)[0])
        other.partial_fit(row)
    assert model._recent.tolist() == expected
    assert model.offset_ == np.quantile(expected, 0.1)


def test_memory_of_scores_is_bounded(X, monkeypatch):
    monkeypatch.setattr(outliers, "_MOST_SCORES", 50)
    model = SPCOutlierDetector(10, contamination=0.1, scale=1.0).fit(X)
    assert model.offset_ == np.quantile(model.score_samples(X), 0.1)
    for _ in range(3):
        assert len(model.partial_fit(X)._recent) == 50
    assert model.offset_ == np.quantile(model._recent, 0.1)


@pytest.mark.parametrize("scale", ["auto", 1.0])
def test_reading_changes_no_bit_and_copies_learn_apart(X, scale):
    model = SPCOutlierDetector(10, contamination=0.1, scale=scale).fit(X)
    before = state(model.model_)
    model.predict(X), model.score_samples(X), model.decision_function(X), repr(model)
    for duplicate in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(duplicate.predict(X), model.predict(X))
        duplicate.partial_fit(9 * X)
    assert state(model.model_) == before
    assert not hasattr(clone(model), "offset_")


def test_parameters_in_the_middle_of_a_stream_follow_the_rules_of_spc(X):
    model = SPCOutlierDetector(10, scale=1.0).partial_fit(X)
    before = state(model.model_)
    with pytest.raises(ValueError, match=r"scale was changed from 1\.0 to 2\.0 in the middle"):
        model.set_params(scale=2.0).partial_fit(X)
    assert state(model.model_) == before
    model.set_params(scale=1.0, beta=0.1, contamination=0.2).partial_fit(X)
    assert model.offset_ == np.quantile(model._recent, 0.2)
    assert model.model_.beta == 0.1


def test_threads_are_those_of_the_detector(X):
    model = SPCOutlierDetector(10).fit(X).set_params(n_jobs=2)
    assert len(model.predict(X)) == len(X)
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        model.set_params(n_jobs=0).predict(X)


def test_wrong_parameters_and_rows_are_refused_in_the_name_of_the_detector(X):
    for bad in (0.0, 0.6, -0.1, "some", True, None):
        with pytest.raises(ValueError, match=r"contamination.* of SPCOutlierDetector must be"):
            SPCOutlierDetector(contamination=bad).fit(X)
    with pytest.raises(ValueError, match='n_structures of SPCOutlierDetector must be "auto" or'):
        SPCOutlierDetector(n_structures=True).fit(X)
    model = SPCOutlierDetector(10).fit(pd.DataFrame(X, columns=["speed", "load"]))
    assert model.feature_names_in_.tolist() == ["speed", "load"]
    with pytest.raises(ValueError, match="must be in the same order"):
        model.partial_fit(pd.DataFrame(X, columns=["load", "speed"]))
    with pytest.raises(ValueError, match="SPCOutlierDetector is expecting 2 features"):
        SPCOutlierDetector().fit(X).partial_fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match="row 1, column 'load'"):
        model.fit(pd.DataFrame({"speed": [1.0, 2.0], "load": [1.0, np.nan]}))
    assert model.model_.n_samples_seen_ == len(X)
