"""Streams at the edge of floating point: finite, positive definite, and without a warning."""

import numpy as np
import pytest

from spclust.state.creation import FARTHEST
from tests.fixed import SPC
from tests.reference.algorithm1 import Algorithm1

rng = np.random.default_rng(0)
BLOBS = rng.normal(scale=10, size=(4, 3))[rng.integers(4, size=400)] + rng.normal(size=(400, 3))

STREAMS = {
    "offset 1e8": (BLOBS + 1e8, {}),
    "offset 1e8 point by point": (BLOBS[:60] + 1e8, {"n_structures": 3}),
    "data and scale 1e-150": (BLOBS * 1e-150, {"scale": 1e-150}),
    "data and scale 1e150": (BLOBS * 1e150, {"scale": 1e150}),
    "far apart for a large scale": (np.array([[0.0], [1e250]]), {"scale": 1e100}),
    "data 1e150, scale 1": (BLOBS * 1e150, {}),
    "data 1e-150, scale 1": (BLOBS * 1e-150, {}),
    "data 1e-310, scale 1": (BLOBS * 1e-310, {}),
    "data 1e307, scale 1": (BLOBS * 1e306, {}),
    "scale with a subnormal square": (BLOBS, {"scale": 1e-158}),
    "data and scale with a subnormal square": (BLOBS * 1e-158, {"scale": 1e-158}),
    "largest scale": (BLOBS, {"scale": 1e150}),
    "identical points": (np.full((300, 3), 5.0), {}),
    "identical points but one": (np.concatenate([np.full((300, 3), 5.0), BLOBS[:1]]), {}),
    "collinear": (BLOBS[:, :1] * [1.0, -2.0, 3.0], {}),
    "collinear 1e150 apart": (BLOBS[:, :1] * [1e150, -2e150, 3e150], {"n_structures": 3}),
    "constant feature": (BLOBS * [1.0, 0.0, 1.0], {}),
    "features of very different units": (BLOBS * [1e-9, 1.0, 1e9], {}),
    "m = 1.01": (BLOBS, {"m": 1.01}),
    "m = 1.01, far": (BLOBS * 1e100, {"m": 1.01}),
    "m = 1.000001": (BLOBS, {"m": 1.000001}),
    "m = 100": (BLOBS, {"m": 100.0}),
    "gamma = 5": (BLOBS, {"gamma": 5.0}),
    "gamma = beta = 1000": (BLOBS, {"gamma": 1000.0, "beta": 1000.0}),
    "tiny decay": (BLOBS, {"gamma": 1e-300, "beta": 1e-300}),
    "one dimension": (BLOBS[:, :1], {}),
    "one dimension, one structure": (BLOBS[:, :1], {"n_structures": 1}),
    "w_min = 0.999": (BLOBS, {"w_min": 0.999}),
    "to and fro between the ends": (
        np.where(np.arange(3000) % 2, 1e300, -1e300)[:, None],
        {"n_structures": 1, "scale": 1e4, "gamma": 5.0},
    ),
    "two points 2e308 apart": (
        np.array([[1.7e308], [-1.7e308], [0.0], [1.0]]),
        {"n_structures": 2},
    ),
}


def assert_sound(model):
    table = model.structures_
    for column in (table.mean, table.covariance, table.weight):
        assert np.isfinite(column).all()
    s = model._stream.structures
    live = s.live
    assert np.isfinite(s.whiten).all()
    low = np.tril_indices(table.mean.shape[1])
    for slot, Sigma in enumerate(s.Sigma[:live]):
        np.linalg.cholesky(Sigma)  # raises unless positive definite
        assert np.array_equal(Sigma, Sigma.T)
        W = np.zeros_like(Sigma)
        W[low] = s.whiten[slot // 8, :, slot % 8]
        white = W @ (Sigma / Sigma.max()) @ W.T * Sigma.max()  # the factor is that of the spread
        np.testing.assert_allclose(np.diag(white), 1.0, rtol=0.5)
    assert not np.isnan(np.triu(s.pair[:live, :live], 1)).any()


@pytest.mark.parametrize("name", STREAMS)
def test_state_stays_finite_and_positive_definite(name):
    X, params = STREAMS[name]
    model = SPC(**{"n_structures": 10, **params}).fit(X)
    assert_sound(model)
    assert not np.isnan(model.score_samples(X)).any()
    assert not np.isnan(model.typicality(X)).any()
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1.0, 1e30, 1e150])
def test_labels_do_not_depend_on_an_extreme_unit(unit):
    expected = SPC(10).fit(BLOBS).labels_
    assert np.array_equal(SPC(10, scale=unit).fit(BLOBS * unit).labels_, expected)


def test_a_million_points_through_one_structure():
    X = np.random.default_rng(1).normal(size=(1_000_000, 2)) + 1e6
    model = SPC(1).fit(X)
    assert_sound(model)
    table = model.structures_
    assert table.count.tolist() == [1_000_000]
    np.testing.assert_allclose(table.mean[0], X.mean(axis=0), rtol=1e-12)
    # Nothing but rounding may separate the factor from the spread that it was made from.
    s = model._stream.structures
    W = np.zeros((2, 2))
    W[np.tril_indices(2)] = s.whiten[0, :, 0]
    np.testing.assert_allclose(W @ s.Sigma[0] @ W.T, np.eye(2), atol=1e-10)


def test_odds_become_logarithms_once_they_leave_the_linear_range_and_order_as_before():
    """The same stream, its far points drawn in from 1e100 scales to 1e30: the same merges."""
    near = np.random.default_rng(2).normal(size=(60, 2))
    far = np.random.default_rng(3).normal(size=(5, 2))
    models = []
    for reach in (1e30, 1e100):
        X = np.concatenate([near[:30], reach * far, near[30:]])
        models.append(SPC(12, w_min=0.0).fit(X))
    linear, logs = models
    assert not linear._stream.structures.in_logs
    assert logs._stream.structures.in_logs
    assert np.array_equal(linear.structures_.count, logs.structures_.count)
    assert np.array_equal(linear.labels_, logs.labels_)


def test_beyond_reach_is_taken_to_be_at_the_farthest_place():
    model = SPC(5).fit([[0.0], [1e200], [1e300]])
    assert model.structures_.mean[:, 0].tolist() == [0.0, 1e200, 1e300]
    farthest, beyond = model.score_samples([[FARTHEST], [-1e308]])
    assert farthest == beyond


@pytest.mark.parametrize("strange", [1e17, 9.96921e36, -1e300])
def test_one_strange_row_costs_the_others_no_digits_wherever_it_comes(strange):
    blobs = np.random.default_rng(0).normal(size=(100, 2)) + 20.0 * (np.arange(100) % 2)[:, None]
    outlier = np.array([[strange, 0.0]])
    first = SPC(30).fit(np.concatenate([outlier, blobs])).structures_
    later = SPC(30).fit(np.concatenate([blobs[:5], outlier, blobs[5:]])).structures_
    kept = [np.sort(table.mean[table.mean[:, 0] != strange, 0]) for table in (first, later)]
    np.testing.assert_allclose(*kept, rtol=1e-9)
    assert np.unique(kept[0]).size == 29


@pytest.mark.parametrize("scale", [1e-7, 1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_covariances_are_right_where_scale_is_far_too_small(d, scale):
    X = np.random.default_rng(0).normal(size=(25, d))
    model, oracle = SPC(1, w_min=0.0, scale=scale).fit(X), Algorithm1(1, w_min=0.0)
    for x in X / scale:
        oracle.update(x)
    expected = oracle.S[0].Sigma * scale**2
    error = np.linalg.norm(model.structures_.covariance[0] - expected)
    assert error <= 1e-6 * np.linalg.norm(expected)


@pytest.mark.parametrize("kind", ["full", "lowrank"])
def test_outliers_beyond_all_digits_stop_nothing(kind):
    """A spread that rounding left nothing of to whiten with: the union is then the sum."""
    for seed in (1696, 3, 17, 40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 60)) * rng.choice([0.1, 1, 3])
        X[rng.random(80) < 0.1] *= rng.choice([1e6, 1e8, 1e10, 1e12])
        model = SPC(1, covariance_type=kind, w_min=0.1, nlt_max=50.0).partial_fit(X[:1])
        model.partial_fit(X[1:])
        assert model.n_samples_seen_ == 80
        assert np.isfinite(model.structures_.covariance).all()
        assert np.isfinite(model.score_samples(X)).all()
