"""Means and covariances of structures along axes, in all types and both modes."""

import numpy as np
import pytest

from spclust import SPC

TYPES = ("full", "diag", "spherical", "lowrank")
MODELS = {
    **{kind: {"scale": 1.0, "covariance_type": kind} for kind in TYPES},
    "automatic": {},
    "automatic-diag": {"covariance_type": "diag"},
}


@pytest.mark.parametrize("name", MODELS)
def test_a_projection_is_that_of_the_dense_covariances(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1.0, 20.0, 0.3, 5.0] + 7.0
    axes = rng.normal(size=(2, 4))
    table = SPC(12, **MODELS[name]).fit(X).structures_
    mean, covariance = table.projected(axes)
    np.testing.assert_allclose(mean, table.mean @ axes.T)
    expected = axes @ table.covariance @ axes.T
    np.testing.assert_allclose(covariance, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
