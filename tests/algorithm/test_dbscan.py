import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.stats import rankdata
from sklearn.cluster import dbscan

from spclust import typicality
from spclust.algorithm.dbscan import dbscan_labels, odds_limit
from tests.algorithm.test_typicality import distance
from tests.fixed import SPC
from tests.strategies import online_params, seeds, streams


@given(k=st.integers(1, 40), min_samples=st.integers(1, 6), eps=st.floats(0.01, 0.9), seed=seeds)
def test_labels_are_those_of_scikit_learns_dbscan(k, min_samples, eps, seed):
    points = np.random.default_rng(seed).uniform(size=(k, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    _, expected = dbscan(distances, eps=eps, min_samples=min_samples, metric="precomputed")
    assert dbscan_labels(distances <= eps, min_samples).tolist() == expected.tolist()


@pytest.mark.parametrize("in_logs", [False, True])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 0.95, 1.0])
def test_odds_limit_is_where_the_distance_is_eps(eps, in_logs):
    assert distance(odds_limit(eps, in_logs), in_logs) == pytest.approx(eps, abs=1e-15)


def pairwise_distances(table, m):
    """D of Eq. 3 between all structures, from the public formula."""
    k = len(table)
    D = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            there = typicality(table.mean[j], table.mean[i], table.covariance[i], m)
            back = typicality(table.mean[i], table.mean[j], table.covariance[j], m)
            D[i, j] = 1 - there * back
    return D


@given(
    X=streams(most_points=60), params=online_params(most_structures=15), eps=st.floats(0.05, 0.99)
)
def test_clustering_is_dbscan_on_the_distance_of_eq_3(X, params, eps):
    model = SPC(**params).partial_fit(X)
    D = pairwise_distances(model.structures_, params["m"])
    if (np.abs(D - eps) < 1e-9).any():
        return  # a distance that is eps up to rounding
    for min_samples in (1, 3):
        _, expected = dbscan(D, eps=eps, min_samples=min_samples, metric="precomputed")
        assert model.clustering(eps, min_samples).tolist() == expected.tolist()


@given(X=streams(most_points=60), params=online_params(most_structures=15), seed=seeds)
def test_predict_typicality_and_score_follow_eq_17_eq_2_and_eq_4(X, params, seed):
    """Row by row, against the public formula: nearest structure, its cluster, its typicality."""
    model = SPC(**params).fit(X)
    table = model.structures_
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=20)] + rng.normal(size=(20, X.shape[1]))
    u = np.array(
        [
            typicality(rows, table.mean[i], table.covariance[i], params["m"])
            for i in range(len(table))
        ]
    )
    distance_eq17 = 1 - u**2
    best = distance_eq17.min(axis=0)
    clear = best < 1 - 1e-6  # further away every distance of Eq. 17 saturates
    labels = model.predict(rows)
    for row in np.flatnonzero(clear):
        close = np.isclose(distance_eq17[:, row], best[row], rtol=1e-9, atol=1e-12)
        assert labels[row] in table.label[close]
    by_cluster = np.array([u[table.label == c].max(axis=0) for c in range(model.n_clusters_)]).T
    np.testing.assert_allclose(model.typicality(rows), by_cluster, rtol=1e-7, atol=1e-300)
    with np.errstate(divide="ignore"):
        scores = np.log(u.max(axis=0))
    np.testing.assert_allclose(
        model.score_samples(rows)[clear], scores[clear], rtol=1e-6, atol=1e-9
    )


def test_the_oldest_structure_wins_a_tie():
    """E12: points half-way between two structures belong to the one that was created first."""
    for X in ([[0.0], [4.0]], [[4.0], [0.0]]):
        model = SPC(5).fit(X)
        assert model.predict([[2.0]]).tolist() == model.predict(X[:1]).tolist()


def test_noise_structures_give_noise_labels_and_no_typicality_column():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), [[500.0, 0.0]]])
    model = SPC(60, min_samples=2).fit(X)
    assert model.structures_.label[-1] == -1
    assert model.labels_[-1] == -1
    assert model.predict([[500.0, 0.1]]).tolist() == [-1]
    assert model.typicality(X).shape == (41, model.n_clusters_)
    assert model.score_samples([[500.0, 0.0]]).tolist() == [0.0]


@given(X=streams(least_points=12, most_points=60), params=online_params(most_structures=10))
def test_every_number_of_clusters_has_its_cut_unless_pairs_tie(X, params):
    model = SPC(**params).fit(X)
    k = len(model.structures_)
    pairs = model._stream.pairs()[np.triu_indices(k, 1)]
    ranks = rankdata(pairs, "dense")  # SciPy takes no infinite distance, the log odds of copies
    heights = np.sort(linkage(ranks, "single")[:, 2])
    for n in range(1, k + 1):
        if 1 < n < k and heights[k - n - 1] == heights[k - n]:
            with pytest.raises(ValueError, match="equally far apart"):
                model.clustering(n_clusters=n)
        else:
            assert len(np.unique(model.clustering(n_clusters=n))) == n


@given(
    X=streams(least_points=12, most_points=60),
    params=online_params(most_structures=10),
    eps=st.floats(0.01, 0.999),
)
def test_a_cut_by_nlt_is_that_of_its_distance(X, params, eps):
    model = SPC(**params).fit(X)
    nlt = -np.log1p(-eps)
    assert np.array_equal(model.clustering(eps), model.clustering(nlt=float(nlt)))


@pytest.mark.parametrize("m", [1.01, 1.5])  # odds as logarithms, and as they are
def test_copies_of_a_point_can_be_told_apart_by_number_alone(m):
    model = SPC(30, m=m).fit([[0.0], [0.0], [0.0], [7.0]])
    assert len(np.unique(model.clustering(n_clusters=4))) == 4
    assert model.clustering(n_clusters=2).tolist() == [0, 0, 0, 1]
    assert model.clustering(nlt=0.0).tolist() == [0, 0, 0, 1]
    assert model.clustering(nlt=1e-20).tolist() == [0, 0, 0, 1]
