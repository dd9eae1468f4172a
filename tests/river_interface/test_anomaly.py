"""The anomaly detector: scores, ranks, and River's filters around it."""

import pickle

import numpy as np
import pytest
from river import anomaly, checks, evaluate, metrics, preprocessing
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from spclust import SPC
from spclust.river import SPCAnomalyDetector
from tests.river_interface.streams import WithOutliers, as_points, learnt, two_blobs


# Both modes.
MODELS = [SPCAnomalyDetector(), SPCAnomalyDetector(scale=1.0)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_scores_are_those_of_the_estimator(model):
    X, _ = two_blobs(d=3)
    ours, theirs = learnt(model.clone(), as_points(X)), SPC(scale=model.scale).partial_fit(X)
    far = np.concatenate([X[:50], 100.0 * X[:50]])
    scores = [ours.score_one(x) for x in as_points(far)]
    assert np.array_equal(scores, -theirs.score_samples(far))
    assert isinstance(scores[0], float)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_before_anything_was_learnt_and_where_nothing_is_known(model):
    model = model.clone()
    assert model.score_one({"a": 1.0}) == 0.0
    learnt(model, as_points(two_blobs()[0]))
    before = pickle.dumps(model)
    assert model.score_one({}) == model.score_one({"z": 1e9}) == 0.0
    assert model.score_one({"a": 1e6, "z": 1.0}) > 10.0
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rivers_check_of_ranks(model):
    checks.anomaly.check_roc_auc(model.clone(), WithOutliers())


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_far_outliers_come_first(model, missing):
    rng = np.random.default_rng(0)
    model, scores, truth = model.clone(), [], []
    for x, outlier in WithOutliers(2000):
        x = {name: value for name, value in x.items() if rng.random() >= missing}
        scores.append(model.score_one(x))
        truth.append(outlier)
        model.learn_one(x)
    assert sum(truth) > 20
    assert roc_auc_score(truth, scores) > 0.9


def test_in_a_pipeline():
    model = preprocessing.StandardScaler() | SPCAnomalyDetector(scale=0.3)
    metric = evaluate.progressive_val_score(WithOutliers(1000), model, metrics.ROCAUC())
    assert metric.get() > 0.9


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_filter_knows_outliers_and_does_not_let_them_be_learnt(model):
    model = anomaly.QuantileFilter(model.clone(), q=0.97)
    found, truth = [], []
    for x, outlier in WithOutliers(1000):
        found.append(model.classify(model.score_one(x)))
        truth.append(outlier)
        model.learn_one(x)
    assert balanced_accuracy_score(truth, found) > 0.9
    assert model.anomaly_detector._known.stream.seen < 1000
