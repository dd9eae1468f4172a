"""The compiled path and the plain-Python Algorithm 1 must see the same stream the same way."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fixed import SPC
from tests.reference.algorithm1 import Algorithm1
from tests.strategies import examples, online_params, streams

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


@st.composite
def streams_past_burn_in(draw, least_points=20):
    """Parameters, and a stream that goes on for a while after there are N structures."""
    params = draw(online_params())
    n = params["n_structures"]
    return draw(streams(least_points=n + least_points, most_points=n + 160)), params


@examples(100)
@given(streams_past_burn_in())
def test_the_compiled_path_gives_the_structures_of_algorithm_1(stream):
    X, params = stream
    oracle, model = run_both(X, params)
    assume(oracle.narrowest > TIE)
    assert_same_structures(oracle, model)
    assert model._stream.pruned == oracle.pruned
    assert model._stream.merges == oracle.merges


@examples(60)
@given(streams(least_points=10, most_points=40, most_features=24), st.integers(1, 3))
def test_few_structures_of_many_features_agree_too(X, n_structures):
    """Merges of structures with fewer points than features, and of two grown structures."""
    oracle, model = run_both(X, {"n_structures": n_structures, "scale": 0.3, "w_min": 0.0})
    assume(oracle.narrowest > TIE)
    assert_same_structures(oracle, model)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("width", [1e2, 1e4, 1e5])
def test_points_far_apart_are_merged_by_what_is_known_of_them(d, width):
    """Unions of them are left to the general one, by which time their seats were exchanged."""
    for seed in range(25):
        X = np.random.default_rng(seed).uniform(size=(9, d)) * width
        oracle, model = run_both(X, {"n_structures": 7, "w_min": 0.0})
        if oracle.narrowest > TIE:
            assert model.structures_.id.tolist() == [s.id for s in oracle.S]
            assert model.structures_.count.tolist() == [s.count for s in oracle.S]


def test_streams_that_prune_much_agree_too():
    """Clusters that come and go under a short memory: most structures end by being pruned."""
    lost, made_room = [], []

    @examples(80)
    @given(
        X=streams(least_points=100),
        params=online_params(most_structures=12),
        seed=st.integers(0, 99),
    )
    def agree(X, params, seed):
        jumps = np.random.default_rng(seed).normal(scale=50.0, size=(10, X.shape[1]))
        X = X + np.repeat(jumps, -(-len(X) // 10), axis=0)[: len(X)]
        oracle, model = run_both(X, {**params, "w_min": 0.2147, "beta": 0.3})
        assume(oracle.narrowest > TIE)
        assert_same_structures(oracle, model)
        lost.append(oracle.pruned)
        made_room.append(oracle.merges < len(X) - params["n_structures"])

    agree()
    assert np.mean(lost) > 20  # or it would compare less than it says
    assert np.mean(made_room) > 0.2


def lattice(d, side):
    """The points of a small cube of integers, row by row: nearly all distances tie."""
    return np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d).astype(float)


@pytest.mark.parametrize("n_structures", [3, 8, 15])
@pytest.mark.parametrize(("d", "side"), [(1, 20), (2, 4), (3, 3)])
def test_exact_ties_go_to_the_pair_that_was_created_first(d, side, n_structures):
    """E12. As long as only whole numbers are involved, both sides compute the same ones."""
    X = lattice(d, side)
    steps = n_structures + 1  # up to the first merge
    oracle, model = run_both(X[:steps], {"n_structures": n_structures})
    assert_same_structures(oracle, model)
    assert oracle.merges == 1
    distances = [np.abs(a - b).sum() for i, a in enumerate(X[:steps]) for b in X[:i]]
    assert distances.count(1.0) > 1
