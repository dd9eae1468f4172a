"""The formulas for two dimensions give what the general ways give."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spclust.covariance.plane import unite_in_plane
from tests.parts import compiled
from tests.reference.algorithm1 import covariance_union
from tests.strategies import examples, seeds

unite_in_plane = compiled(unite_in_plane)


def spread(rng):
    """A spread of at least I, round or less so."""
    v = rng.normal(size=(3, 2)) * 10 ** rng.uniform(-2, 2, size=(3, 1))
    return np.eye(2) + v.T @ v


@examples(400)
@given(seed=seeds, share=st.floats(0, 1), fresh=st.booleans(), far=st.floats(-3, 3))
def test_it_is_eq_16_and_its_factor(seed, share, fresh, far):
    rng = np.random.default_rng(seed)
    S, other = spread(rng), np.eye(2) if fresh else spread(rng)
    e = rng.normal(size=2) * 10**far
    expected = covariance_union(S, np.zeros(2), other, e, share * e)
    got, W = S.copy(), np.full(3, np.nan)
    if not unite_in_plane(got, (other[0, 0], other[0, 1], other[1, 1]), share, e, W):
        assert np.array_equal(got, S)  # too flat: nothing was done
        assert np.isnan(W).all()
        return
    assert np.linalg.norm(got - expected) <= 1e-9 * np.linalg.norm(expected)
    assert np.array_equal(got, got.T)
    factor = np.array([[W[0], 0.0], [W[1], W[2]]])
    np.testing.assert_allclose(factor @ got @ factor.T, np.eye(2), atol=1e-10)


@given(seed=seeds, share=st.floats(0, 1))
def test_a_spread_that_covers_the_other_only_moves(seed, share):
    rng = np.random.default_rng(seed)
    S, e = 1e4 * spread(rng), rng.normal(size=2)
    got, W = S.copy(), np.empty(3)
    if unite_in_plane(got, (1.0, 0.0, 1.0), share, e, W):
        np.testing.assert_allclose(got, S + share**2 * np.outer(e, e), rtol=1e-13)


def test_what_is_too_flat_or_too_far_is_left_to_the_general_way():
    S, W = np.eye(2), np.empty(3)
    for e in (np.array([1e4, 1e4]), np.array([1e150, 1e150])):
        assert not unite_in_plane(S, (1.0, 0.0, 1.0), 0.5, e, W)
        assert np.array_equal(S, np.eye(2))
