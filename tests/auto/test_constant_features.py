"""Features that do not vary, for some time or ever."""

import numpy as np
import pytest

from spclust import SPC


def widths(model):
    return model._stream.structures.width


def test_a_single_structure_has_no_width():
    """What rounding leaves of a single point's deviation from its own mean is no unit."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        X, t = rng.normal(size=(15, 2)), np.r_[np.arange(13.0), 900.0, 901.0]
        model = SPC(7, half_life=5.0).fit(X, t=t)
        assert model._stream.structures.removed > 0
        assert ((widths(model) == 0.0) | (widths(model) > 1e-9)).all()


@pytest.mark.parametrize("half_life", [None, 20.0])
def test_a_feature_that_has_become_constant_is_not_measured_in_rounding_errors(half_life):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2))
    X[40:, 1] = 0.3
    model = SPC(10, half_life=half_life)
    for rows in np.split(X, 60):
        model.partial_fit(rows)
        wide = widths(model)[1]
        s = model._stream.structures
        assert wide == 0.0 or wide > 1e-14 * np.abs(s.mean[: s.live, 1]).max()
    near = X[-200:] + np.array([0.0, 1e-20])
    assert np.array_equal(model.predict(near), model.predict(X[-200:]))
    assert (model.predict(X[-200:]) >= 0).mean() > 0.95


@pytest.mark.parametrize("half_life", [None, 100.0])
@pytest.mark.parametrize("value", [0.0, 7.25, -1e9])
def test_a_constant_feature_changes_nothing(half_life, value):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 2)) + 12.0 * rng.integers(2, size=(600, 1))
    wider = np.column_stack([X, np.full(len(X), value)])
    there = SPC(30, half_life=half_life, covariance_type="diag").fit(X)
    here = SPC(30, half_life=half_life, covariance_type="diag").fit(wider)
    assert np.array_equal(here.structures_.count, there.structures_.count)
    assert np.array_equal(here.labels_, there.labels_)


@pytest.mark.parametrize("half_life", [None, 100.0])
def test_a_constant_feature_that_changes_later_tells_clusters_apart(half_life):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=2000), np.full(2000, 5.0)])
    X[1000:, 1] = np.where(rng.random(1000) < 0.5, 5.0, 6.0) + 0.01 * rng.normal(size=1000)
    model = SPC(30, half_life=half_life).fit(X[:1000])
    assert model.n_clusters_ == 1
    model.partial_fit(X[1000:])
    assert len(set(model.predict([[0.0, 5.0], [0.0, 6.0]]))) == 2
