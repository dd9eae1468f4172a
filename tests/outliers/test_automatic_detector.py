"""The detector of outliers in the automatic mode: how much of a stream it reports."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from spclust import SPC, SPCOutlierDetector
from tests.outliers.common import (
    alarms,
    learnt_at_once_and_in_parts,
    scores_before_learning,
    state,
    with_outliers,
)
from tests.strategies import examples, streams


def gaussians(n, d, clusters, seed):
    rng = np.random.default_rng(seed)
    centres = 12.0 * rng.normal(size=(clusters, d))
    shapes = rng.normal(size=(clusters, d, d)) / np.sqrt(d)
    y = rng.integers(clusters, size=n)
    return centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(n, d)))


@pytest.mark.parametrize("params", [{"contamination": 0.01}, {}, {"half_life": 2000.0}], ids=str)
@pytest.mark.parametrize(("d", "clusters"), [(1, 1), (2, 1), (2, 4), (5, 3), (10, 2)])
def test_of_a_clean_stream_one_in_a_hundred_is_reported(params, d, clusters):
    batches = np.split(gaussians(12_000, d, clusters, seed=d), 240)
    found = alarms(SPCOutlierDetector(**params), batches)
    assert 0.005 < np.mean(found[40:]) < 0.02  # 2,000 points to settle


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_contamination_is_the_share_of_alarms_in_the_automatic_mode_too(share):
    batches = np.split(gaussians(9_000, 3, 3, seed=0), 180)
    found = alarms(SPCOutlierDetector(contamination=share), batches)
    assert np.mean(found[40:]) == pytest.approx(share, rel=0.4)


@pytest.mark.parametrize("params", [{}, {"half_life": 200.0}, {"covariance_type": "diag"}], ids=str)
def test_automatic_detectors_find_outliers_before_and_after_they_are_learnt(params):
    X, y = with_outliers(n=1500)
    model = SPCOutlierDetector(**params)
    assert roc_auc_score(y, -model.fit(X).score_samples(X)) > 0.95
    scores = scores_before_learning(clone(model).partial_fit(X[:100]), np.split(X[100:], 28))
    assert roc_auc_score(y[100:], -scores) > 0.95


@pytest.mark.parametrize("n", [200, 1000, 3000])
def test_after_fit_one_in_a_hundred_rows_is_reported_and_of_other_rows_about_as_many(n):
    X = gaussians(n + 3000, 3, 3, seed=1)
    model = SPCOutlierDetector().fit(X[:n])
    assert np.mean(model.predict(X[:n]) == -1) == pytest.approx(0.01, abs=0.005)
    assert np.mean(model.predict(X[n:]) == -1) < 0.03


@examples(20)
@given(X=streams(most_points=60), data=st.data())
def test_any_split_of_an_automatic_stream_gives_the_same_state_and_threshold(X, data):
    params = {"half_life": data.draw(st.sampled_from([None, 20.0])), "n_structures": 8}
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=4).map(sorted))
    whole = learnt_at_once_and_in_parts(X, cuts, params)
    assert state(whole.model_) == state(SPC(**params).fit(X))


def test_parameters_of_the_other_mode_are_refused_in_the_name_of_the_detector(X):
    with pytest.raises(ValueError, match=r"nlt_max=4\.0 of SPCOutlierDetector belongs to the mode"):
        SPCOutlierDetector(nlt_max=4.0).fit(X)
    with pytest.raises(ValueError, match="half_life=9 of SPCOutlierDetector belongs to the auto"):
        SPCOutlierDetector(half_life=9, scale=1.0).fit(X)
