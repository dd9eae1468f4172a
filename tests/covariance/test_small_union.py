import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.covariance import small_union
from tests.covariance.test_union import padded_covariance, union_of_covariances
from tests.parts import compiled
from tests.strategies import seeds

unite_in_place, find_in_place = (
    compiled(small_union.unite_small),
    compiled(small_union.find_squares),
)


def unite_small(Sigma, other, share, e):
    memory = np.full(small_union.small_union_memory(len(e)), np.nan)
    return unite_in_place(Sigma, other, share, e, 1.0, memory)


def spread_of(squares):
    return np.eye(squares.shape[1]) + squares.T @ squares


@given(
    d=st.integers(4, 40),
    parts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    size=st.floats(-2, 1),
    share=st.floats(0, 1),
    seed=seeds,
)
def test_in_few_directions_it_is_the_union(d, parts, size, share, seed):
    rng = np.random.default_rng(seed)
    own, other = (10**size * rng.normal(size=(round(part * (d // 4)), d)) for part in parts)
    e = 10**size * rng.normal(size=d)
    own, other = spread_of(own), spread_of(other)
    expected = union_of_covariances(
        padded_covariance(own, share * e), padded_covariance(other, (share - 1) * e)
    )
    assert unite_small(own, other, share, e)
    np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9 * np.trace(expected) / d)


@given(d=st.integers(4, 30), seed=seeds, duplicates=st.booleans())
def test_squares_add_up_to_the_spread(d, seed, duplicates):
    rng = np.random.default_rng(seed)
    squares = rng.normal(size=(rng.integers(0, 6), d))
    if duplicates:
        squares = np.concatenate((squares, squares))
    Sigma, found = spread_of(squares), np.zeros((6, d))
    number = find_in_place(Sigma, found, np.empty(d))
    assert number == min(np.linalg.matrix_rank(squares) if squares.size else 0, d)
    np.testing.assert_allclose(spread_of(found[:number]), Sigma, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("variance", [3.0, 2e4])
def test_many_squares_or_large_ones_are_left_to_the_general_union(variance):
    d = 20
    many, few = np.diag(np.linspace(2.0, 4.0, d)), np.eye(d)
    few[3, 3] = variance
    before = few.copy()
    assert not unite_small(few, many, 0.3, np.ones(d))
    assert np.array_equal(few, before)
    assert unite_small(few, np.eye(d), 0.3, np.ones(d)) == (variance < 1e4)
