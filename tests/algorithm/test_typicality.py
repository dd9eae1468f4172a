import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust import typicality
from spclust.algorithm import typicality as typicality_module
from spclust.algorithm.typicality import (
    LARGEST_ODDS,
    SMALLEST_ODDS,
    mahalanobis_sq,
    nlt_from_odds,
)
from spclust.numerics.eight import load, store
from spclust.numerics.powers import halves_in
from spclust.parameters import exponent_of
from tests.parts import compiled
from tests.strategies import seeds, spd_matrices

linear_pair_odds = compiled(typicality_module.pair_odds)
linear_typicality = compiled(typicality_module.typicality_from_odds)
mahalanobis_sq = compiled(mahalanobis_sq)
nlt_from_odds = compiled(nlt_from_odds)

ms = st.floats(1.01, 5.0)
qs = st.floats(1e-30, 1e30)


def typicality_eq1(distance, eta, m):
    """Eq. 1 as printed."""
    return 1.0 / (1.0 + (distance**2 / eta) ** (1.0 / (m - 1.0)))


def typicality_eq2(x, mu, Sigma, m):
    """Eq. 2 as printed."""
    delta = x - mu
    return 1.0 / (1.0 + (delta @ np.linalg.inv(Sigma) @ delta) ** (1.0 / (m - 1.0)))


@njit
def eight_odds(q, p, in_logs, out):
    store(typicality_module.odds_of(load(q, 0), p, halves_in(p), in_logs), out, 0)


@njit
def eight_log_pair_odds(a, b, out):
    store(typicality_module.log_pair_odds(load(a, 0), load(b, 0)), out, 0)


@njit
def relation_fits(q, q_back, in_logs, out, n):
    r = typicality_module.Relation(q, q_back, out[0], out[1], out[2])
    return typicality_module.relation_odds(r, 2.0, in_logs, n)


def odds_of(q, m, in_logs):
    out = np.empty(8)
    eight_odds(np.full(8, q), exponent_of(m), in_logs, out)
    assert (out == out[0]).all()
    return out[0]


def pair_odds(a, b, in_logs):
    if not in_logs:
        return linear_pair_odds(a, b)
    out = np.empty(8)
    eight_log_pair_odds(np.full(8, a), np.full(8, b), out)
    return out[0]


def typicality_from_odds(odds, in_logs):
    return linear_typicality(np.exp(odds) if in_logs else odds)


def distance(odds, in_logs):
    """D from its odds D / (1 - D)."""
    if in_logs:
        return 1.0 / (1.0 + np.exp(-odds)) if odds > -700 else 0.0
    return 1.0 if odds == np.inf else odds / (1.0 + odds)


@given(eta=st.floats(0.1, 10.0), m=st.floats(1.2, 3.0), seed=seeds)
def test_eq_1_is_eq_2_for_a_spherical_structure(eta, m, seed):
    x, mu = np.random.default_rng(seed).normal(size=(2, 3))
    expected = typicality_eq1(np.linalg.norm(x - mu), eta, m)
    assert typicality(x, mu, eta * np.eye(3), m) == pytest.approx(expected, rel=1e-12)


@given(S=st.integers(1, 6).flatmap(spd_matrices), m=st.floats(1.2, 3.0), seed=seeds)
def test_eq_2_is_the_printed_formula(S, m, seed):
    x, mu = np.random.default_rng(seed).normal(size=(2, len(S)))
    expected = typicality_eq2(x, mu, S, m)
    assert typicality(x, mu, S, m) == pytest.approx(expected, rel=1e-7)
    q = (x - mu) @ np.linalg.solve(S, x - mu)
    assert typicality_from_odds(odds_of(q, m, False), False) == pytest.approx(expected, rel=1e-7)
    assert typicality_from_odds(odds_of(q, m, True), True) == pytest.approx(expected, rel=1e-7)


@given(S=st.integers(1, 6).flatmap(spd_matrices), seed=seeds)
def test_whitened_offset_gives_the_mahalanobis_distance(S, seed):
    delta = np.random.default_rng(seed).normal(size=len(S))
    W = np.linalg.inv(np.linalg.cholesky(S))
    q = mahalanobis_sq(delta, W[np.tril_indices(len(S))])
    assert q == pytest.approx(delta @ np.linalg.solve(S, delta), rel=1e-9)


@pytest.mark.parametrize("small", [1e-300, 1e-150, 1.0])
def test_variances_may_differ_by_any_factor(small):
    Sigma = np.diag([small, 1e10])
    assert typicality([np.sqrt(small), 0.0], [0.0, 0.0], Sigma) == pytest.approx(0.5, rel=1e-9)
    assert typicality([1.7e308, 0.0], [-1.7e308, 0.0], Sigma) < 1e-200


def test_typicality_takes_one_point_or_many():
    one = typicality([2.0, 0.0], [0.0, 0.0], np.diag([4.0, 1.0]))
    many = typicality([[2.0, 0.0], [0.0, 0.0]], [0.0, 0.0], np.diag([4.0, 1.0]))
    assert isinstance(one, float)
    assert one == 0.5
    assert many.tolist() == [0.5, 1.0]


@given(q=qs, m=ms)
def test_eq_4_nlt_is_minus_log_typicality_at_any_size(q, m):
    exact = float(mpmath.log1p(mpmath.mpf(q) ** mpmath.mpf(exponent_of(m))))
    assert nlt_from_odds(odds_of(q, m, True), True) == pytest.approx(exact, rel=1e-11, abs=1e-300)
    odds = odds_of(q, m, False)
    if SMALLEST_ODDS < odds < LARGEST_ODDS:
        assert nlt_from_odds(odds, False) == pytest.approx(exact, rel=1e-11, abs=1e-300)
        u = typicality_from_odds(odds, False)
        assert u == pytest.approx(typicality_from_odds(np.log(odds), True), rel=1e-11)


@given(u1=st.floats(0.001, 0.999), u2=st.floats(0.001, 0.999))
def test_eq_3_distance_is_one_minus_the_product_of_typicalities(u1, u2):
    a, b = (1 - u1) / u1, (1 - u2) / u2
    D = 1 - u1 * u2
    assert distance(pair_odds(a, b, False), False) == pytest.approx(D, rel=1e-12)
    logs = pair_odds(np.log(a), np.log(b), True)
    assert distance(logs, True) == pytest.approx(D, rel=1e-12)


@given(pairs=st.lists(st.tuples(qs, qs), min_size=2, max_size=6), m=ms)
def test_pair_odds_order_as_exact_distances_do_even_where_they_saturate(pairs, m):
    p = exponent_of(m)
    with mpmath.workdps(60):
        powers = [(mpmath.mpf(a) ** p, mpmath.mpf(b) ** p) for a, b in pairs]
        exact = [a + b + a * b for a, b in powers]
    got = [pair_odds(odds_of(a, m, True), odds_of(b, m, True), True) for a, b in pairs]
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            if exact[i] * (1 + mpmath.mpf(10) ** -8) < exact[j]:
                assert got[i] < got[j]


def test_identical_structures_are_at_distance_zero_in_both_forms():
    assert distance(pair_odds(0.0, 0.0, False), False) == 0.0
    assert distance(pair_odds(-np.inf, -np.inf, True), True) == 0.0
    assert distance(np.inf, False) == 1.0


@pytest.mark.parametrize(
    ("m", "p"), [(1.5, 2.0), (1.4, 2.5), (2.0, 1.0), (1.1, 10.0), (3.0, 0.5), (1.2, 5.0)]
)
def test_exponent_is_the_number_that_the_decimal_m_means(m, p):
    assert exponent_of(m) == p


@given(m=st.floats(1.001, 100.0))
def test_exponent_is_otherwise_one_over_m_minus_one(m):
    assert exponent_of(m) == pytest.approx(1.0 / (m - 1.0), rel=1e-12 / (m - 1.0))


@given(q=st.floats(1e-10, 1e10), p=st.sampled_from([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.5, 2.7, 0.3]))
def test_fast_powers_are_powers(q, p):
    out = np.empty(8)
    eight_odds(np.full(8, q), p, False, out)
    np.testing.assert_allclose(out, q**p, rtol=1e-13)


@pytest.mark.parametrize(
    ("q", "fits"), [(0.0, True), (1e-140, True), (1e-160, False), (1e70, True), (1e80, False)]
)
def test_odds_say_whether_they_fit_into_the_linear_range(q, fits):
    for place in range(3):
        squares, others = np.ones((2, 8))
        squares[place] = q
        for r in ((squares, others), (others, squares)):
            assert relation_fits(*r, False, np.empty((3, 8)), 3) == fits
            assert relation_fits(*r, True, np.empty((3, 8)), 3)
        squares[:] = 1.0
        squares[7] = q  # behind the last one
        assert relation_fits(squares, others, False, np.empty((3, 8)), 3)
