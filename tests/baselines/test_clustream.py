"""CluStream: the micro-clusters of River, and k-means of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.experiments.baselines import CluStream
from tests.strategies import examples, streams

river = pytest.importorskip("river.cluster")


def river_micro_clusters(X, size, window, factor):
    """Means (k, d), counts (k,) and mean times (k,)."""
    model = river.CluStream(
        n_macro_clusters=2,
        max_micro_clusters=size,
        micro_cluster_r_factor=factor,
        time_window=window,
        time_gap=10**9,  # its own offline phase is not wanted
    )
    for x in X.tolist():
        model.learn_one(dict(enumerate(x)))
    rows = model.micro_clusters.values()
    return (
        np.array([list(row.center.values()) for row in rows]),
        [row.weight for row in rows],
        [row.var_time.mean.get() for row in rows],
    )


@examples(150)
@given(
    X=streams(most_points=300),
    size=st.integers(2, 30),
    window=st.sampled_from([5, 30, 100, 1000]),
    factor=st.sampled_from([0.5, 2, 5.0]),
)
def test_micro_clusters_are_those_of_river(X, size, window, factor):
    model = CluStream(
        n_micro_clusters=size, time_window=window, micro_cluster_r_factor=factor
    ).partial_fit(X)
    online = model._online
    mean, count, time = river_micro_clusters(X, size, window, factor)
    assert online.n == len(count)
    assert online.count[: online.n].tolist() == count
    assert online.mean[: online.n] == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert online.time_mean[: online.n] == pytest.approx(time, rel=1e-12)


@pytest.mark.parametrize(("size", "window"), [(3, 400), (8, 150)])
def test_so_they_are_where_old_ones_are_told_by_quantiles(size, window):
    rng = np.random.default_rng(size)
    X = 5.0 * rng.normal(size=(4, 2))[rng.integers(4, size=2500)] + rng.normal(size=(2500, 2))
    online = CluStream(n_micro_clusters=size, time_window=window).partial_fit(X)._online
    mean, count, _ = river_micro_clusters(X, size, window, 2)
    assert max(count) >= 2 * size
    assert online.count.tolist() == count
    assert online.mean == pytest.approx(mean, rel=1e-9)


def test_moments_are_those_of_the_points():
    """Two far groups in two micro-clusters: nothing is merged and nothing out of date."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 3)) + 1e6 * (np.arange(100) % 2)[:, np.newaxis]
    online = CluStream(n_micro_clusters=2, micro_cluster_r_factor=1e3).fit(X)._online
    for i in (0, 1):
        assert online.count[i] == 50
        assert online.mean[i] == pytest.approx(X[i::2].mean(axis=0), rel=1e-12)
        assert online.scatter[i] / 50 == pytest.approx(X[i::2].var(axis=0), rel=1e-6)


def test_distances_between_micro_clusters_are_kept_up_to_date():
    X = np.random.default_rng(0).normal(size=(500, 3))
    online = CluStream(n_micro_clusters=12, time_window=100).fit(X)._online
    apart = np.linalg.norm(online.mean[:, np.newaxis] - online.mean, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert online.apart == pytest.approx(apart, rel=1e-12)


def test_k_means_counts_points():
    """Of 0, 4 and 10 the first two are closest; but not if they stand for many points."""
    X = np.array([[0.0], [4.0], [10.0]])
    model = CluStream(2, n_micro_clusters=3, micro_cluster_r_factor=100.0)
    assert model.fit_predict(X).tolist() == [0, 0, 1]
    jitter = 0.01 * np.random.default_rng(0).normal(size=(100, 1))
    model.partial_fit(np.tile(X[:2], (50, 1)) + jitter)
    assert model._online.count.tolist() == [51, 51, 1]
    assert model.predict(X).tolist() == [1, 0, 0]  # 10, which got no more, is the oldest


def test_a_point_takes_the_label_of_its_nearest_micro_cluster():
    model = CluStream(2, n_micro_clusters=3).fit([[0.0], [4.0], [10.0]])
    assert model.predict([[6.9], [7.1], [-50.0]]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 30])
def test_there_may_be_fewer_micro_clusters_than_clusters(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    assert len(set(CluStream(5).fit_predict(X))) == min(n, 5)
    assert set(CluStream(5).fit_predict(np.ones((n, 2)))) == {0}


def test_the_published_deviation_absorbs_points_of_many_features():
    X = np.random.default_rng(0).normal(size=(300, 200))
    for deviation, fit in [("rms", 1.0), ("mean", 0.0)]:
        online = CluStream(2, n_micro_clusters=5, deviation=deviation).fit(X)._online
        large = int(online.count.argmax())
        distance = np.linalg.norm(X - online.mean[large], axis=1)
        assert np.mean(distance < online._boundary(large)) == fit
