import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spclust.numerics.cholesky import (
    dot,
    invert_transposed,
    least_eigenvalue_bound,
    raise_diagonal,
    renew_inverse,
    shifted_cholesky,
    solve,
    times_vector,
    transposed_times_vector,
)
from tests.parts import compiled
from tests.strategies import seeds, spd_matrices

dot = compiled(dot)
invert_transposed = compiled(invert_transposed)
least_eigenvalue_bound = compiled(least_eigenvalue_bound)
raise_diagonal = compiled(raise_diagonal)
renew_inverse = compiled(renew_inverse)
shifted_cholesky = compiled(shifted_cholesky)
solve = compiled(solve)
times_vector = compiled(times_vector)
transposed_times_vector = compiled(transposed_times_vector)

sizes = st.integers(1, 26)


def factor(S, shift=0.0, floor=0.0):
    R, inverse = np.zeros_like(S), np.empty(len(S))
    shifted_cholesky(S, shift, floor, R, inverse)
    return R, inverse


@given(sizes.flatmap(spd_matrices))
def test_cholesky_is_numpys(S):
    R, inverse = factor(S)
    np.testing.assert_allclose(R.T, np.linalg.cholesky(S), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(inverse, 1.0 / np.diag(R))


@given(sizes.flatmap(spd_matrices), st.floats(0, 0.9))
def test_a_shift_is_subtracted_from_the_diagonal(S, part):
    shift = part * np.linalg.eigvalsh(S)[0]
    R, _ = factor(S, shift)
    np.testing.assert_allclose(R.T @ R, S - shift * np.eye(len(S)), rtol=1e-9, atol=1e-9)


@given(sizes.flatmap(spd_matrices), seeds)
def test_inverse_and_solution_are_what_they_say(S, seed):
    d = len(S)
    R, inverse = factor(S)
    packed = np.empty(d * (d + 1) // 2)
    invert_transposed(R, inverse, packed)
    W = np.zeros((d, d))
    W[np.tril_indices(d)] = packed
    np.testing.assert_allclose(W @ R.T, np.eye(d), atol=1e-8)
    b, x = np.random.default_rng(seed).normal(size=d), np.empty(d)
    solve(R, inverse, b, x)
    np.testing.assert_allclose(S @ x, b, atol=1e-8)
    assert dot(b, x, 0) > 0


def test_the_floor_keeps_a_factor_whole_where_rounding_ate_a_direction():
    huge = np.full((2, 2), 1e300)  # plus the identity, which 1e300 swallows
    R, inverse = factor(huge, floor=1.0)
    assert (np.diag(R) >= 1.0).all()
    assert np.isfinite(inverse).all()
    raised = huge.copy()
    raise_diagonal(raised, R)
    np.linalg.cholesky(raised)
    assert (raised >= huge).all()
    np.testing.assert_allclose(raised, huge, rtol=1e-13)


@given(sizes.flatmap(spd_matrices))
def test_a_sound_matrix_is_not_raised(S):
    R, _ = factor(S, floor=0.0)
    raised = S.copy()
    raise_diagonal(raised, R)
    assert np.array_equal(raised, S)


def inverse_factor(S):
    packed = np.empty(len(S) * (len(S) + 1) // 2)
    invert_transposed(*factor(S), packed)
    return packed


def unpacked(packed, d):
    W = np.zeros((d, d))
    W[np.tril_indices(d)] = packed
    return W


@given(sizes.flatmap(spd_matrices), seeds)
def test_products_with_a_packed_factor(S, seed):
    d = len(S)
    packed = inverse_factor(S)
    W, e = unpacked(packed, d), np.random.default_rng(seed).normal(size=d)
    p, v = np.empty(d), np.full(d, np.nan)
    square = times_vector(packed, e, p)
    np.testing.assert_allclose(p, W @ e, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(square, p @ p)
    transposed_times_vector(packed, p, v)
    np.testing.assert_allclose(v, W.T @ p, rtol=1e-12, atol=1e-12)


@given(sizes.flatmap(spd_matrices), seeds, st.floats(0, 3))
def test_a_renewed_factor_is_that_of_the_grown_spread(S, seed, size):
    """Many times in a row, as in a stream, and never computed anew."""
    d, rng = len(S), np.random.default_rng(seed)
    packed, p = inverse_factor(S), np.empty(d)
    for _ in range(40):
        v = size * rng.normal(size=d)
        times_vector(packed, v, p)
        renew_inverse(packed, p, np.full(d, np.nan), np.full(d, np.nan))
        S = S + np.outer(v, v)
    W = unpacked(packed, d)
    np.testing.assert_allclose(W @ S @ W.T, np.eye(d), atol=1e-8)
    assert (np.diag(W) > 0).all()


@given(sizes, seeds, st.floats(0, 1e3))
def test_from_the_identity_a_factor_is_renewed_without_loss(d, seed, length):
    """However much is added: each number of it is right to a few units in its last place."""
    v = np.random.default_rng(seed).normal(size=d)
    v *= length / np.linalg.norm(v)
    packed, expected = np.eye(d)[np.tril_indices(d)], np.zeros((d, d))
    renew_inverse(packed, v, np.empty(d), np.empty(d))
    squares = 1.0 + np.cumsum(np.append(0.0, v * v))
    for r in range(d):
        expected[r, :r] = -v[r] * v[:r] / np.sqrt(squares[r] * squares[r + 1])
        expected[r, r] = np.sqrt(squares[r] / squares[r + 1])
    np.testing.assert_allclose(unpacked(packed, d), expected, rtol=1e-14, atol=0)
    grown = expected @ np.outer(v, v) @ expected.T + expected @ expected.T
    np.testing.assert_allclose(grown, np.eye(d), atol=1e-9)


@given(sizes.flatmap(spd_matrices))
def test_no_eigenvalue_is_below_the_bound(S):
    assert least_eigenvalue_bound(inverse_factor(S)) <= np.linalg.eigvalsh(S)[0] * (1 + 1e-9)
