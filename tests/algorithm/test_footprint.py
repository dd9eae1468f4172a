import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.algorithm.footprint import (
    damping_sum,
    merged_covariance,
    merged_mean,
    merged_total,
    newer_share,
    updated_total,
)
from tests.parts import compiled
from tests.reference.batch_sums import (
    covariance_eq6,
    damping_sum_eq8,
    mean_eq5,
    weight_eq7,
)
from tests.strategies import rates, seeds, windows

damping_sum = compiled(damping_sum)
merged_mean = compiled(merged_mean)
merged_covariance = compiled(merged_covariance)
merged_total = compiled(merged_total)
newer_share = compiled(newer_share)
updated_total = compiled(updated_total)

any_rate = st.one_of(rates, st.sampled_from([1e-12, 1e-300, 5.0, 300.0]))


@given(rate=any_rate, T=windows)
def test_eq_8_and_9_closed_form_is_the_sum(rate, T):
    assert damping_sum(rate, float(T)) == pytest.approx(damping_sum_eq8(rate, T), rel=1e-12)


@pytest.mark.parametrize("T", [1.0, 7.0, 1e6, 1e15])
def test_damping_sum_tends_to_the_plain_count(T):
    assert damping_sum(0.0, T) == T
    assert damping_sum(1e-30, T) == pytest.approx(T, rel=1e-12)


@given(rate=any_rate, T1=windows, T2=windows)
def test_newer_share_and_the_older_rest_are_the_factors_of_eq_10(rate, T1, T2):
    whole = damping_sum_eq8(rate, T1 + T2)
    share = newer_share(rate, float(T1), float(T2))
    assert share == pytest.approx(damping_sum_eq8(rate, T2) / whole, rel=1e-12)
    older = np.exp(-rate * T2) * damping_sum_eq8(rate, T1) / whole
    assert 1 - share == pytest.approx(older, rel=1e-9, abs=1e-14)


@given(gamma=any_rate, T1=windows, T2=windows, seed=seeds)
def test_eq_10_over_two_segments_is_eq_5_over_both(gamma, T1, T2, seed):
    x = np.random.default_rng(seed).normal(size=(T1 + T2, 3))
    share = newer_share(gamma, float(T1), float(T2))
    mu1, mu2 = mean_eq5(x[:T1], gamma), mean_eq5(x[T1:], gamma)
    merged = [merged_mean(a, b - a, share) for a, b in zip(mu1, mu2, strict=True)]
    np.testing.assert_allclose(merged, mean_eq5(x, gamma), rtol=1e-9, atol=1e-12)


@given(gamma=any_rate, T1=windows, T2=windows, seed=seeds)
def test_eq_11_over_two_segments_of_one_mean_is_eq_6_over_both(gamma, T1, T2, seed):
    deviations = np.random.default_rng(seed).normal(size=(T1 + T2, 3))
    share = newer_share(gamma, float(T1), float(T2))
    parts = covariance_eq6(deviations[:T1], gamma), covariance_eq6(deviations[T1:], gamma)
    merged = merged_covariance(*parts, share)
    np.testing.assert_allclose(merged, covariance_eq6(deviations, gamma), rtol=1e-9, atol=1e-12)


@given(beta=any_rate, T1=windows, T2=windows, seed=seeds)
def test_eq_12_over_two_segments_is_eq_7_over_both(beta, T1, T2, seed):
    u = np.random.default_rng(seed).uniform(size=T1 + T2)
    B1, B2 = damping_sum(beta, float(T1)), damping_sum(beta, float(T2))
    totals = B1 * weight_eq7(u[:T1], beta), B2 * weight_eq7(u[T1:], beta)
    mass = merged_total(B1, B2, np.exp(-beta * T2))
    assert mass == pytest.approx(damping_sum_eq8(beta, T1 + T2), rel=1e-12)
    weight = merged_total(*totals, np.exp(-beta * T2)) / mass
    assert weight == pytest.approx(weight_eq7(u, beta), rel=1e-9, abs=1e-12)


@given(beta=any_rate, T=windows, seed=seeds)
def test_eq_13_point_by_point_is_eq_7(beta, T, seed):
    u = np.random.default_rng(seed).uniform(size=T)
    total, mass, decay = 0.0, 0.0, np.exp(-beta)
    for t in range(T):
        total, mass = updated_total(total, u[t], decay), updated_total(mass, 1.0, decay)
        assert mass == pytest.approx(damping_sum(beta, float(t + 1)), rel=1e-12)
    assert total / mass == pytest.approx(weight_eq7(u, beta), rel=1e-9, abs=1e-12)


@given(mu=st.floats(-1e8, 1e8), share=st.floats(0, 1))
def test_merging_equal_means_changes_no_bit(mu, share):
    assert merged_mean(mu, 0.0, share) == mu
