"""Rounded values lie on a lattice: its gaps divide no cluster."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.auto.lattice import rounding_variances, step_of
from tests.strategies import examples, seeds


def rounded(step, k, d, seed, n=3000):
    """Rows (n, d) of k normal clusters, eight deviations apart, in multiples of a step."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.normal(size=(n, d))
    X[:, 0] += 8.0 * y
    return np.round(X / step) * step, y


@pytest.mark.parametrize("half_life", [None, 500])
@pytest.mark.parametrize("step", [0.1, 0.25, 1 / 3, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("k", [1, 2])
def test_rounded_clusters_are_found_as_others_are(k, d, step, half_life):
    right = 0
    for seed in range(4):
        X, y = rounded(step, k, d, seed)
        model = SPC(half_life=half_life).fit(X)
        labels = model.predict(X)
        shares = [np.bincount(labels[y == c] + 1).max() / np.sum(y == c) for c in range(k)]
        right += model.n_clusters_ == k and min(shares) > 0.9
    assert right >= 3


@pytest.mark.parametrize("step", [1 / 3, 0.5])
def test_rounded_clusters_in_three_features(step):
    for seed in range(3):
        assert SPC().fit(rounded(step, 2, 3, seed)[0]).n_clusters_ == 2


@examples(100)
@given(seeds, st.integers(7, 40), st.sampled_from([1.0, 0.1, 1e-5, 3e7]), st.booleans())
def test_the_step_is_that_of_the_lattice(seed, n, step, far):
    rng = np.random.default_rng(seed)
    values = step * rng.choice(np.arange(n), 60) + (1e3 * step if far else 0.0)
    values = np.concatenate([values, step * np.arange(n) + (1e3 * step if far else 0.0)])
    assert step_of(values) == pytest.approx(step, rel=1e-6)


@examples(100)
@given(seeds, st.integers(1, 100))
def test_other_numbers_have_no_step(seed, n):
    rng = np.random.default_rng(seed)
    assert step_of(rng.normal(size=n)) == 0.0
    few = rng.choice(np.arange(6.0), size=n)  # they may be classes
    assert step_of(few) == 0.0
    assert step_of(np.full(n, 7.0)) == 0.0


def test_a_mixture_of_rounded_and_other_numbers_has_no_step():
    rng = np.random.default_rng(0)
    assert step_of(np.concatenate([np.arange(30.0), rng.uniform(0.0, 30.0, 5)])) == 0.0
    far_apart = np.cumsum(rng.integers(1, 50, size=30)).astype(float)
    assert step_of(far_apart) == 0.0


def test_numbers_that_are_not_rounded_are_judged_without_a_step():
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[100:200] = X[:100]  # copies
    stream = SPC().fit(X)._stream
    assert not rounding_variances(stream.structures, stream.order()).any()
