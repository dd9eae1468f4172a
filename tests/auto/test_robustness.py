"""What must not disturb the clusters: glitches, scattered outliers, noise, few structures."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC
from tests.auto.automatic_states import live_state, two_clusters


@pytest.mark.parametrize("half_life", [None, 1000.0])
@pytest.mark.parametrize("row", [0, 1, 5, 40, 200, 2000, 2999])
def test_a_glitch_leaves_the_clusters_of_the_others_alone(row, half_life):
    X, y = two_clusters(3000)
    for glitch in (1e6, -1e10):
        X[row] = glitch
        labels = SPC(half_life=half_life).fit(X).labels_
        others = np.arange(3000) != row
        recent = others & (np.arange(3000) > 1000)
        assert len(set(labels[recent & (y == 0)])) == len(set(labels[recent & (y == 1)])) == 1
        assert len(set(labels[recent])) == 2


@pytest.mark.parametrize("half_life", [None, 1000.0])
@pytest.mark.parametrize("row", [40, 1500])
def test_one_wrong_number_leaves_its_feature_alone(row, half_life):
    """Clusters that differ in this feature alone are still two."""
    X, y = two_clusters(3000)
    X[row, 0] = 1e6
    labels = SPC(half_life=half_life).fit(X).labels_
    recent = np.arange(3000) > 2000
    assert nmi(y[recent], labels[recent]) > 0.95


@pytest.mark.parametrize("half_life", [None, 1000.0])
def test_scattered_outliers_leave_the_clusters_alone(half_life):
    for seed in range(3):
        X, y = two_clusters(4000, seed=seed)
        rng = np.random.default_rng(seed)
        outlying = rng.random(4000) < 0.05
        X[outlying] = rng.uniform(-100.0, 100.0, size=(outlying.sum(), 2))
        model = SPC(half_life=half_life).fit(X)
        labels = model.predict(X)
        assert nmi(y[~outlying], labels[~outlying]) > 0.95


@pytest.mark.parametrize(
    ("d", "n", "half_life"),
    [
        *((d, n, h) for d, n in ((2, 300), (2, 1000), (3, 5000), (10, 3000)) for h in (None, 2e3)),
        *((1, 5000, h) for h in (None, 2e3)),
    ],
)
def test_one_gaussian_is_one_cluster(d, n, half_life):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(n, d))
        model = SPC(half_life=half_life).fit(X)
        labels = model.labels_[model.labels_ >= 0]
        assert np.mean(labels == np.bincount(labels).argmax()) > 0.98


@pytest.mark.parametrize("half_life", [None, 2000.0])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_two_gaussians_six_deviations_apart_are_two_clusters(d, half_life):
    for seed in range(3):
        X, y = two_clusters(3000, d=d, apart=6.0, seed=seed)
        model = SPC(half_life=half_life).fit(X)
        assert model.n_clusters_ == 2
        assert nmi(y, model.labels_) > 0.9


@pytest.mark.parametrize("half_life", [None, 50.0])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 4])
def test_few_structures(n, d, half_life):
    X, _ = two_clusters(500, d=d)
    model = SPC(n, half_life=half_life)
    for part in np.split(X, 50):
        model.partial_fit(part)
        assert 1 <= len(model.structures_) <= n
        assert np.isfinite(model.structures_.mean).all()
        assert np.isfinite(model.structures_.covariance).all()
        assert set(model.predict(X)) <= {-1, *model.cluster_labels_}
    assert SPC.from_bytes(model.to_bytes()).n_samples_seen_ == 500


@pytest.mark.parametrize("half_life", [None, 50.0])
def test_one_point(half_life):
    model = SPC(half_life=half_life).fit([[3.0, -4.0]])
    assert model.labels_.tolist() == [0]
    assert model.structures_.mean.tolist() == [[3.0, -4.0]]
    assert (model.structures_.covariance == 0.0).all()
    again = SPC.from_bytes(model.to_bytes())
    again.learn_one(np.array([5.0, 6.0]))
    model.partial_fit([[5.0, 6.0]])
    assert live_state(again) == live_state(model)


def test_two_hundred_features_have_a_diagonal_metric():
    X, y = two_clusters(2000, d=200, apart=0.0)
    X += 3.0 * y[:, np.newaxis]
    X *= 10.0 ** np.random.default_rng(0).uniform(-3, 3, size=200)
    for half_life in (None, 1000.0):
        model = SPC(half_life=half_life).fit(X)
        assert model._stream.structures.diagonal
        assert model._stream.structures.rows == 1
        labels = model.predict(X)
        assert nmi(y[1000:], labels[1000:]) > 0.95


@pytest.mark.parametrize("size", [1e60, 1e153, 1e200, 1e300])
def test_one_number_that_is_far_too_large_leads_to_no_warning(size):
    """Warnings are errors in tests."""
    X = np.vstack([np.random.default_rng(0).normal(size=(300, 2)), [[size, 0.0]]])
    model = SPC(20, half_life=50).partial_fit(X)
    assert np.isfinite(model.describe()["centre"]).all()
    assert len(model.clustering(0.5)) == len(model.structures_)
    assert model.typicality(X).max() <= 1.0
