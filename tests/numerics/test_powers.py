"""Logarithms, exponentials and powers of eight numbers at a time, against 60 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust.numerics import powers
from spclust.numerics.eight import load, store
from tests.parts import compiled

positive = st.floats(5e-324, 1e308)


@njit
def logarithms(a, out):
    store(powers.logarithm(load(a, 0)), out, 0)


@njit
def exponentials(a, out):
    store(powers.exponential(load(a, 0)), out, 0)


@njit
def to_the(a, p, out):
    store(powers.power(load(a, 0), p, powers.halves_in(p)), out, 0)


def eight(function, values, *arguments):
    """The function of up to eight values."""
    padded, out = np.ones(8), np.empty(8)
    padded[: len(values)] = values
    function(padded, *arguments, out)
    return out[: len(values)]


@given(st.lists(st.one_of(positive, st.floats(0.5, 2.0)), min_size=1, max_size=8))
def test_logarithms(values):
    with mpmath.workdps(60):
        exact = [float(mpmath.log(mpmath.mpf(a))) for a in values]
    np.testing.assert_allclose(eight(logarithms, values), exact, rtol=4e-16, atol=0)


@given(st.lists(st.floats(-708, 709), min_size=1, max_size=8))
def test_exponentials(values):
    with mpmath.workdps(60):
        exact = [float(mpmath.exp(mpmath.mpf(a))) for a in values]
    np.testing.assert_allclose(eight(exponentials, values), exact, rtol=1e-15, atol=0)


@given(st.lists(st.floats(1e-60, 1e60), min_size=1, max_size=8), st.floats(0.02, 4.7))
def test_powers(values, p):
    with mpmath.workdps(60):
        exact = [float(mpmath.mpf(a) ** mpmath.mpf(p)) for a in values]
    np.testing.assert_allclose(eight(to_the, values, p), exact, rtol=2e-13, atol=0)


@pytest.mark.parametrize("p", [0.5, 2.0, 2.5, 2.7])
def test_copies_of_a_point_and_points_out_of_range(p):
    assert eight(to_the, [0.0, 1.0], p).tolist() == [0.0, 1.0]
    assert eight(logarithms, [0.0, 1.0]).tolist() == [-np.inf, 0.0]
    assert eight(exponentials, [-np.inf, -800.0, 800.0, 0.0]).tolist() == [0.0, 0.0, np.inf, 1.0]


@given(st.floats(1e-3, 1e3))
def test_logarithms_do_not_cross_where_numbers_are_neighbours(a):
    values = [a]
    for _ in range(7):
        values.append(np.nextafter(values[-1], np.inf))
    assert (np.diff(eight(logarithms, values)) >= -2.3e-16 * max(abs(np.log(a)), 1e-3)).all()


def test_half_integers_are_recognised():
    halves_in = compiled(powers.halves_in)
    assert [halves_in(p) for p in (0.5, 2.0, 2.5, 2.7, 20.0, 20.5, 1e9)] == [
        1, 4, 5, 0, 40, 0, 0,
    ]  # fmt: skip
