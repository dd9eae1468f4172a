"""The union with a fresh point, by one scalar equation, is the union by eigendecomposition."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from numba import njit

from spclust.covariance.point_union import UnionScratch, covers, stretch_by_factor, union_with_point
from spclust.numerics.cholesky import (
    invert_transposed,
    least_eigenvalue_bound,
    shifted_cholesky,
    times_vector,
)
from tests.parts import compiled
from tests.reference.algorithm1 import covariance_union
from tests.strategies import examples, seeds

covers_from_python = compiled(covers)
invert_transposed = compiled(invert_transposed)
least_eigenvalue_bound = compiled(least_eigenvalue_bound)
shifted_cholesky = compiled(shifted_cholesky)
times_vector = compiled(times_vector)


@njit
def in_place(S, e, rho, R, vectors, least=1.0):
    scratch = UnionScratch(R, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4])
    return union_with_point(S, e, rho, least, scratch)


def union(S, e, rho):
    """The union, in memory that holds garbage before."""
    d = len(e)
    got, least = S.copy(), np.linalg.eigvalsh(S)[0] * (1 - 1e-9)
    if not in_place(got, e, rho, np.full((d, d), np.nan), np.full((5, d), np.nan), least):
        # Left to the general union: only where rounding hides the I in S.
        assert S.max() * d > 4e4
        assert np.array_equal(got, S)
        reject()
    return got


@st.composite
def grown_structures(draw):
    """A spread of at least I, as streams make them: some directions grown, others not."""
    d = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(seeds))
    S = np.eye(d)
    for _ in range(draw(st.integers(0, 2 * d))):
        v = rng.normal(size=d) * 10 ** rng.uniform(-3, 2)
        S += np.outer(v, v)
    return S, rng.normal(size=d) * 10 ** draw(st.floats(-3, 3))


@examples(500)
@given(grown_structures(), st.one_of(st.floats(0, 1), st.floats(1e-6, 1e-2)))
def test_it_is_eq_16(structure, rho):
    S, e = structure
    expected = covariance_union(S, np.zeros(len(e)), np.eye(len(e)), e, rho * e)
    got = union(S, e, rho)
    assert np.linalg.norm(got - expected) <= 1e-9 * np.linalg.norm(expected)
    assert np.array_equal(got, got.T)


@given(grown_structures(), st.floats(0, 1))
def test_it_covers_both(structure, rho):
    S, e = structure
    got = union(S, e, rho)
    size = np.linalg.norm(got)
    for U in (S + np.outer(rho * e, rho * e), np.eye(len(e)) + np.outer(e, e) * (1 - rho) ** 2):
        assert np.linalg.eigvalsh(got - U)[0] >= -1e-9 * max(size, 1.0)


@given(grown_structures(), st.floats(0, 1))
def test_a_point_at_the_mean_changes_no_bit(structure, rho):
    S, e = structure
    assert np.array_equal(union(S, 0.0 * e, rho), S)


@examples(60)
@given(d=st.integers(2, 32), width=st.floats(0.5, 4.0), count=st.integers(3, 40), seed=seeds)
def test_structures_grown_point_by_point_stay_exact(d, width, count, seed):
    """With fewer points than features most directions are still those of a fresh structure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, d)) @ rng.normal(size=(d, d)) * 10.0**width / np.sqrt(d)
    S, mu = np.eye(d), X[0]
    for n, x in enumerate(X[1:], start=1):
        rho = 1.0 / (n + 1)
        expected = covariance_union(S, mu, np.eye(d), x, mu + rho * (x - mu))
        S = union(S, x - mu, rho)
        mu = mu + rho * (x - mu)
        assert np.linalg.norm(S - expected) <= 1e-8 * np.linalg.norm(expected)
        S = (S + S.T) / 2


def test_where_rounding_eats_the_identity_the_caller_is_told():
    S = 1e20 * np.ones((3, 3)) + np.eye(3)
    before = S.copy()
    assert not in_place(S, np.array([1e10, -1e10, 0.0]), 0.1, np.empty((3, 3)), np.empty((5, 3)))
    assert np.array_equal(S, before)


def test_a_covered_point_adds_its_share_alone():
    S, e = np.diag([100.0, 100.0]), np.array([3.0, 4.0])
    np.testing.assert_allclose(union(S, e, 0.1), S + 0.01 * np.outer(e, e), rtol=1e-14)


@pytest.mark.parametrize("far", [1e10, 1e75, 1e150])
def test_points_out_of_all_proportion_are_covered(far):
    got = union(np.eye(2), np.array([far, -far]), 0.5)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(np.diag(got), 1 + 0.25 * far**2)


@examples(500)
@given(grown_structures(), st.one_of(st.floats(0, 1), st.floats(1e-6, 1e-2)), st.floats(0, 1))
def test_what_is_said_to_be_covered_adds_its_share_alone(structure, rho, part):
    """Nothing is said of a point that sticks out; how often something is said is counted below."""
    S, e = structure
    d = len(e)
    R, inverse, W = np.zeros((d, d)), np.empty(d), np.empty(d * (d + 1) // 2)
    shifted_cholesky(S, 0.0, 1.0, R, inverse)
    invert_transposed(R, inverse, W)
    least = part * least_eigenvalue_bound(W)  # the spread may have grown since it was bounded
    p = np.empty(d)
    if covers_from_python(W, e, rho, least, p, np.empty(d)):
        np.testing.assert_allclose(union(S, e, rho), S + rho**2 * np.outer(e, e), rtol=1e-9)
    np.testing.assert_allclose(p @ p, e @ np.linalg.solve(S, e), rtol=1e-6)


@pytest.mark.parametrize("d", [3, 10, 54])
def test_points_of_a_grown_structure_are_recognised_as_covered(d):
    rng = np.random.default_rng(d)
    S, rho, told, inside = 3.0 * d * np.eye(d), 0.001, 0, 0
    W = np.eye(d)[np.tril_indices(d)] / np.sqrt(3.0 * d)
    for e in rng.normal(size=(200, d)) * rng.uniform(0.5, 2.5, size=(200, 1)):
        told += covers_from_python(W, e, rho, 3.0, np.empty(d), np.empty(d))
        inside += np.allclose(union(S, e, rho), S + rho**2 * np.outer(e, e), rtol=1e-12)
    assert 0.9 * inside <= told <= inside
    assert inside > 50


@examples(300)
@given(
    d=st.integers(1, 6), size=st.floats(0, 13), far=st.floats(0, 7), rho=st.floats(0, 1), seed=seeds
)
def test_spreads_of_any_size_are_right_or_left_to_the_general_union(d, size, far, rho, seed):
    """Rounding hides eigenvalues close to 1 in a large spread: never so that it matters."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    S = np.eye(d) + 10**size * (np.eye(d) + A @ A.T)
    e = rng.normal(size=d) * 10**far
    for least in (1.0, np.linalg.eigvalsh(S)[0] * 0.9):
        got = S.copy()
        if in_place(got, e, rho, np.empty((d, d)), np.empty((5, d)), least):
            expected = covariance_union(S, np.zeros(d), np.eye(d), e, rho * e)
            assert np.linalg.norm(got - expected) <= 1e-8 * np.linalg.norm(expected)


@njit
def stretch(S, W, e, rho, R, vectors):
    scratch = UnionScratch(R, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4])
    times_vector(W, e, scratch.p)
    return stretch_by_factor(S, W, e, rho, scratch)


def packed_inverse_factor(S):
    d = len(S)
    R, inverse, W = np.zeros((d, d)), np.empty(d), np.empty(d * (d + 1) // 2)
    shifted_cholesky(S, 0.0, 1.0, R, inverse)
    invert_transposed(R, inverse, W)
    return W


@examples(500)
@given(grown_structures(), st.one_of(st.floats(0, 1), st.floats(1e-6, 1e-2)))
def test_a_spread_stretched_by_its_factor_is_eq_16(structure, rho):
    S, e = structure
    d, got, W = len(e), S.copy(), packed_inverse_factor(S)
    if not stretch(got, W, e, rho, np.full((d, d), np.nan), np.full((5, d), np.nan)):
        assert np.array_equal(got, S)
        return
    expected = covariance_union(S, np.zeros(d), np.eye(d), e, rho * e)
    assert np.linalg.norm(got - expected) <= 1e-10 * np.linalg.norm(expected)
    assert np.array_equal(got, got.T)
    factor = np.zeros((d, d))
    factor[np.tril_indices(d)] = W
    np.testing.assert_allclose(factor @ got @ factor.T, np.eye(d), atol=1e-8)


@pytest.mark.parametrize("d", [30, 54])
def test_points_that_stick_out_are_mostly_easy(d):
    """As in the first phase of a structure, which learns a cluster much wider than a point."""
    rng = np.random.default_rng(d)
    S, mu, easy, out = np.eye(d), np.zeros(d), 0, 0
    for n, x in enumerate(rng.normal(size=(3 * d, d)), start=1):
        e, rho = x - mu, 1.0 / (n + 1)
        grown, W = union(S, e, rho), packed_inverse_factor(S)
        out += not np.allclose(grown, S + rho**2 * np.outer(e, e), rtol=1e-9)
        easy += stretch(S.copy(), W, e, rho, np.empty((d, d)), np.empty((5, d)))
        S, mu = (grown + grown.T) / 2, mu + rho * e
    assert out > d
    assert easy >= 0.6 * out
