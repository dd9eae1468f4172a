"""The compiled path and the plain-Python Algorithm 1 must see the same stream the same way."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spclust import SPC
from tests.reference.algorithm1 import Algorithm1
from tests.strategies import online_params, streams

# Streams in which a decision was taken by less than this, relative, are drawn anew (E12).
TIE = 1e-9


def run_both(X, params):
    """Both models after the stream."""
    oracle = Algorithm1(**params)
    for x in X:
        oracle.update(x)
    return oracle, SPC(**params).fit(X)


def assert_same_structures(oracle, model):
    got = model.structures_
    assert got.id.tolist() == [s.id for s in oracle.S]
    assert got.count.tolist() == [s.count for s in oracle.S]
    assert got.age.tolist() == [s.age for s in oracle.S]
    np.testing.assert_allclose(got.weight, [s.w for s in oracle.S], rtol=1e-8)
    for mean, covariance, s in zip(got.mean, got.covariance, oracle.S, strict=True):
        # Relative to the structure itself, mean and spread: entries may be zero.
        assert np.linalg.norm(mean - s.mu) <= 1e-8 * np.linalg.norm(s.mu)
        assert np.linalg.norm(covariance - s.Sigma) <= 1e-8 * np.linalg.norm(s.Sigma)


@settings(max_examples=350)
@given(X=streams(), params=online_params())
def test_the_compiled_path_gives_the_structures_of_algorithm_1(X, params):
    oracle, model = run_both(X, params)
    assume(oracle.narrowest > TIE)
    assert_same_structures(oracle, model)
    assert model._stream.pruned == oracle.pruned
    assert model._stream.merges == oracle.merges


@settings(max_examples=60)
@given(
    X=streams(least_points=100), params=online_params(most_structures=12), seed=st.integers(0, 99)
)
def test_streams_that_prune_much_agree_too(X, params, seed):
    """Clusters that come and go under a short memory: most structures end by being pruned."""
    jumps = np.random.default_rng(seed).normal(scale=50.0, size=(10, X.shape[1]))
    X = X + np.repeat(jumps, -(-len(X) // 10), axis=0)[: len(X)]
    oracle, model = run_both(X, {**params, "w_min": 0.2147, "beta": 0.3})
    assume(oracle.narrowest > TIE)
    assert_same_structures(oracle, model)


def test_pruning_and_merging_by_weight_both_happen():
    """Guards the test above: were nothing pruned, it would compare less than it says."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(centre, 1.0, (60, 2)) for centre in (0.0, 30.0, 60.0, 0.0)])
    params = {"n_structures": 10, "w_min": 0.2, "beta": 0.3, "nlt_max": 2.0}
    oracle, model = run_both(X, params)
    assert_same_structures(oracle, model)
    assert oracle.pruned > 0
    overfull = len(X) - params["n_structures"]
    assert len(oracle.S) + oracle.merges < len(X)
    assert oracle.merges < overfull  # room was made by pruning
