import numpy as np
import pytest
from scipy.spatial.distance import pdist

from spclust.datasets import make_circles_touching, make_highdim, make_overlapping, make_sine
from spclust.metrics import nmi, purity
from tests.fixed import SPC

MAKERS = (make_sine, make_overlapping, make_circles_touching, make_highdim)


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_decides_every_number(make):
    (X, y), (again, z), (other, _) = make(60), make(60), make(60, seed=1)
    assert np.array_equal(X, again)
    assert np.array_equal(y, z)
    assert X.shape[0] == y.shape[0] == 60
    assert not np.array_equal(X, other)
    assert make(0)[0].shape == (0, X.shape[1])


def test_overlapping_gaussians_are_the_sides_of_a_triangle_one_after_another():
    corners = np.array([(0.0, 0.0), (6.0, 8.0), (12.0, 0.0)])
    X, y = make_overlapping(6000, corners=tuple(map(tuple, corners)), reach=2.5, thickness=0.2)
    assert (np.diff(y) >= 0).all()
    assert np.bincount(y).tolist() == [2000, 2000, 2000]
    for k, length in enumerate((10.0, 10.0, 12.0)):
        own, side = X[y == k], corners[(k + 1) % 3] - corners[k]
        np.testing.assert_allclose(own.mean(axis=0), corners[k] + side / 2, atol=0.2)
        values, directions = np.linalg.eigh(np.cov(own.T))
        np.testing.assert_allclose(np.sqrt(values), [0.2, length / 5.0], rtol=0.05)
        assert abs(directions[:, 1] @ side) == pytest.approx(length, rel=1e-3)


def test_the_papers_parameters_hardly_mix_the_sides():
    for seed in range(3):
        X, y = make_overlapping(seed=seed)
        assert purity(y, SPC(30).fit(X).labels_) >= 0.98


def test_circles_are_filled_and_apart():
    X, y = make_circles_touching(4000, radius=2.0, gap=0.1)
    for k, centre in enumerate((-2.05, 2.05)):
        r = np.hypot(X[y == k, 0] - centre, X[y == k, 1])
        assert r.max() <= 2.0
        assert np.mean(r <= 2.0 / np.sqrt(2.0)) == pytest.approx(0.5, abs=0.03)  # evenly
    assert 0.1 <= X[y == 1, 0].min() - X[y == 0, 0].max() < 0.2


def test_many_dimensions_are_those_of_the_published_set(data_directory):
    X, y = make_highdim()
    with np.load(data_directory / "dim1024.npz") as file:
        published, classes = file["X"].astype(float), file["y"] - 1
    assert np.array_equal(y, classes)
    assert X.shape == published.shape
    assert np.array_equal(X, np.rint(X))

    def shape(X):
        centres = np.array([X[y == k].mean(axis=0) for k in range(16)])
        radii = np.linalg.norm(X - centres[y], axis=1)
        return [*np.quantile(radii, [0.1, 0.5, 0.9, 0.99]), pdist(centres).mean(), X.min(), X.max()]

    np.testing.assert_allclose(shape(X), shape(published), rtol=0.12)


def test_many_dimensions_give_the_papers_scores():
    X, y = make_highdim()
    model = SPC(50).fit(X)
    assert purity(y, model.labels_) == 1.0
    assert nmi(y, model.labels_) >= 0.97
    assert nmi(
        y, model.clustering(n_clusters=16)[model._fitted.last_batch.nearest]
    ) == pytest.approx(1.0)
