import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import covariance_union
from spclust.covariance import union as general
from tests.parts import compiled
from tests.reference import algorithm1
from tests.strategies import seeds, spd_matrices

pad, unite = compiled(general.pad), compiled(general.union_of_covariances)
surely_covered_by, surely_holds = compiled(general.surely_covered), compiled(general.surely_holds)


def padded_covariance(Sigma, delta):
    U = np.full(Sigma.shape, np.nan)
    pad(Sigma, delta, U)
    return U


def union_of_covariances(U1, U2):
    U1, U2 = U1.copy(), U2.copy()
    unite(U1, U2, 1.0, np.full(general.union_memory(len(U1)), np.nan))
    return U1


def surely_covered(A):
    return surely_covered_by(A, A.reshape(-1))


@st.composite
def two_structures(draw):
    """Sigma1, mu1, Sigma2, mu2, mu; mu lies between the means, as Eq. 10 puts it."""
    d = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(seeds))
    mu1, mu2 = rng.normal(scale=3.0, size=(2, d))
    mu = mu1 + draw(st.floats(0, 1)) * (mu2 - mu1)
    return draw(spd_matrices(d)), mu1, draw(spd_matrices(d)), mu2, mu


def smallest_eigenvalue(A):
    return np.linalg.eigvalsh(A)[0]


@given(two_structures())
def test_union_is_at_least_both_padded_covariances(pair):
    Sigma1, mu1, Sigma2, mu2, mu = pair
    union = covariance_union(*pair)
    for Sigma, own in ((Sigma1, mu1), (Sigma2, mu2)):
        U = padded_covariance(Sigma, mu - own)
        np.testing.assert_allclose(U, Sigma + np.outer(mu - own, mu - own))  # Eq. 14 and 15
        assert smallest_eigenvalue(union - U) >= -1e-9
        assert smallest_eigenvalue(union - Sigma) >= -1e-9


@given(two_structures())
def test_union_is_eq_16_with_the_corrected_whitening(pair):
    expected = algorithm1.covariance_union(*pair)
    assert np.linalg.norm(covariance_union(*pair) - expected) <= 1e-9 * np.linalg.norm(expected)


@given(two_structures())
def test_union_does_not_depend_on_which_structure_comes_first(pair):
    Sigma1, mu1, Sigma2, mu2, mu = pair
    there, back = covariance_union(*pair), covariance_union(Sigma2, mu2, Sigma1, mu1, mu)
    assert np.linalg.norm(there - back) <= 1e-12 * np.linalg.norm(there)
    assert np.array_equal(there, there.T)


@given(two_structures())
def test_union_is_no_larger_than_it_must_be(pair):
    """In every eigendirection of the pencil it equals one of the two padded spreads."""
    Sigma1, mu1, Sigma2, mu2, mu = pair
    U1, U2 = padded_covariance(Sigma1, mu - mu1), padded_covariance(Sigma2, mu - mu2)
    union = covariance_union(*pair)
    residual = (union - U1) @ np.linalg.solve(union, union - U2)
    assert np.linalg.norm(residual) <= 1e-8 * np.linalg.norm(union)


@given(st.integers(1, 6).flatmap(spd_matrices), seeds)
def test_union_of_equal_structures_is_what_they_are_to_the_last_bit(S, seed):
    mu = np.random.default_rng(seed).normal(size=len(S))
    assert np.array_equal(covariance_union(S, mu, S, mu, mu), S)


def test_the_whitening_as_printed_is_not_conservative():
    """E1: with L^-T U1 L^-1 in place of L^-1 U1 L^-T most unions fail to cover U1."""
    rng = np.random.default_rng(0)
    failures = {"printed": 0, "corrected": 0}
    for _ in range(200):
        A, B = rng.normal(size=(2, 3, 3))
        U1, U2 = A @ A.T + 0.1 * np.eye(3), B @ B.T + 0.1 * np.eye(3)
        L = np.linalg.cholesky(U2)
        inverse = np.linalg.inv(L)
        for reading, white in (
            ("printed", inverse.T @ U1 @ inverse),
            ("corrected", inverse @ U1 @ inverse.T),
        ):
            eigenvalues, Q = np.linalg.eigh(white)
            union = L @ Q @ np.diag(np.maximum(eigenvalues, 1)) @ Q.T @ L.T
            failures[reading] += smallest_eigenvalue(union - U1) < -1e-9
    assert failures["corrected"] == 0
    assert failures["printed"] > 180


def union_in_sixty_digits(U1, U2):
    """Eq. 16, on mpmath matrices."""
    L = mpmath.cholesky(U2)
    inverse = L**-1
    white = inverse * U1 * inverse.T
    eigenvalues, Q = mpmath.eigsy((white + white.T) / 2)
    return L * Q * mpmath.diag([max(value, 1) for value in eigenvalues]) * Q.T * L.T


@pytest.mark.parametrize("width", [1e2, 1e7])
@pytest.mark.parametrize("turned", [False, True])
def test_no_digits_are_lost_between_spreads_of_very_different_size(width, turned):
    """A structure 10^7 scales wide, in few directions, and a fresh point far from it."""
    d = 8
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, d)) @ rng.normal(size=(d, d)) * width
    with mpmath.workdps(60):
        wide, point = mpmath.eye(d), mpmath.eye(d)
        for x in points[:5]:
            wide += mpmath.matrix(x.tolist()) * mpmath.matrix(x.tolist()).T
        x = mpmath.matrix(points[5].tolist())
        point += x * x.T
        exact = np.array(union_in_sixty_digits(wide, point).tolist(), dtype=float)
    pair = [np.array(U.tolist(), dtype=float) for U in (wide, point)]
    got = union_of_covariances(*(reversed(pair) if turned else pair))
    assert np.linalg.norm(got - exact) <= 1e-12 * np.linalg.norm(exact)


def test_a_union_of_covariances_that_differ_beyond_rounding_is_finite_and_covers_both():
    huge = np.full((2, 2), 1e300)  # plus the identity, which 1e300 swallows
    for U1, U2 in ((huge, np.eye(2)), (np.eye(2), huge)):
        union = union_of_covariances(U1, U2)
        assert np.isfinite(union).all()
        np.linalg.cholesky(union)
        assert (np.diag(union) >= 1e300).all()


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_union_at_any_size(size):
    union = covariance_union(size * np.eye(2), [0, 0], 2 * size * np.eye(2), [0, 0], [0, 0])
    np.testing.assert_allclose(union, 2 * size * np.eye(2))


@given(d=st.integers(1, 12), seed=seeds, size=st.floats(-2, 0.5))
def test_what_is_surely_covered_has_no_eigenvalue_above_1(d, seed, size):
    eigenvalues = np.random.default_rng(seed).uniform(0, 10**size, d)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    A = (Q * eigenvalues) @ Q.T
    if surely_covered((A + A.T) / 2):
        assert eigenvalues.max() <= 1 + 1e-9
    if np.sum(eigenvalues**4) < 0.99 and np.sum(eigenvalues**2) < d:
        assert surely_covered((A + A.T) / 2)


@given(d=st.integers(1, 12), seed=seeds, size=st.floats(-1, 4), far=st.floats(-1, 2))
def test_a_spread_that_surely_holds_another_one_is_the_union(d, seed, size, far):
    rng = np.random.default_rng(seed)
    small, large = (np.eye(d) + A @ A.T for A in rng.normal(size=(2, d, d)))
    large *= 10**size
    delta = rng.normal(size=d) * 10**far
    share = rng.uniform()
    own, other = share * delta, (share - 1) * delta
    padded = padded_covariance(large, own)
    rest = np.linalg.eigvalsh(padded - padded_covariance(small, other))[0]
    if surely_holds(large, small, share, delta, np.empty((d, d))):
        assert rest > 0
        union = union_of_covariances(padded, padded_covariance(small, other))
        np.testing.assert_allclose(union, padded, rtol=1e-9)
    else:
        assert rest < 1e-9 * np.trace(padded)
