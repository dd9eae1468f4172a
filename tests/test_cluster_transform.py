"""What scikit-learn expects of a clusterer besides labels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from spclust import SPC


@pytest.fixture(name="blobs")
def three_blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    return np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])[y] + rng.normal(size=(600, 2)), y


@pytest.mark.parametrize("params", [{}, {"half_life": 300}, {"scale": 1.5}], ids=str)
def test_rows_are_most_typical_in_the_cluster_of_their_label(blobs, params):
    X, _ = blobs
    model = SPC(**params)
    u = model.fit_transform(X)
    assert u.shape == (len(X), model.n_clusters_)
    np.testing.assert_array_equal(u, model.typicality(X))
    assert np.mean(u.argmax(axis=1) == model.labels_) > 0.98
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    assert model.score(X) > model.score(X + 8.0)


def test_centres_are_those_of_the_rows(blobs):
    X, _ = blobs
    model = SPC().fit(X)
    expected = [X[model.labels_ == label].mean(axis=0) for label in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, expected, atol=0.3)
    with pytest.raises(AttributeError, match="cluster_centers_ of SPC exists once fit"):
        SPC().cluster_centers_  # noqa: B018


def test_a_frame_has_a_column_for_each_cluster(blobs):
    X, _ = blobs
    frame = SPC().set_output(transform="pandas").fit_transform(pd.DataFrame(X, columns=["a", "b"]))
    assert list(frame.columns) == ["spc0", "spc1", "spc2"]


def test_columns_of_a_frame_have_the_numbers_of_the_labels(blobs):
    X, _ = blobs
    model = SPC(half_life=100).set_output(transform="pandas").partial_fit(X)
    assert model.cluster_labels_.tolist() == [0, 1, 2]
    left = np.tile(X[model.labels_ > 0], (8, 1))  # the cluster 0 dies
    frame = model.partial_fit(left).transform(left)
    assert model.cluster_labels_.tolist() == [1, 2]
    assert list(frame.columns) == ["spc1", "spc2"] == model.get_feature_names_out().tolist()
    assert np.mean(frame.to_numpy().argmax(axis=1) + 1 == model.labels_) > 0.98
    assert model.get_feature_names_out(["x0", "x1"]).tolist() == ["spc1", "spc2"]
    with pytest.raises(ValueError, match="input_features should have length equal"):
        model.get_feature_names_out(["a"])
    with pytest.raises(NotFittedError):
        SPC().get_feature_names_out()


def test_a_step_of_a_pipeline_whose_parameters_are_searched(blobs):
    X, y = blobs
    pipeline = make_pipeline(SPC(), LogisticRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.99
    search = GridSearchCV(SPC(), {"n_structures": [5, 50]}, cv=2).fit(X)
    assert search.best_score_ <= 0.0
