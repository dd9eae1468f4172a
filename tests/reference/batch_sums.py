"""Eq. 5 to 9 as they define a footprint: damped sums over a stream that is stored as a whole."""

import numpy as np


def damping(rate, T):
    """e^(-rate (T - t)) for t = 1 .. T."""
    return np.exp(-rate * (T - np.arange(1, T + 1)))


def damping_sum_eq8(rate, T):
    """Gamma of Eq. 8, or with beta for rate B of Eq. 9."""
    return damping(rate, T).sum()


def mean_eq5(x, gamma):
    """mu of Eq. 5 over the points x (T, d)."""
    return damping(gamma, len(x)) @ x / damping_sum_eq8(gamma, len(x))


def covariance_eq6(deviations, gamma):
    """Sigma of Eq. 6 over the deviations x - mu (T, d)."""
    weights = damping(gamma, len(deviations)) / damping_sum_eq8(gamma, len(deviations))
    return (deviations.T * weights) @ deviations


def weight_eq7(u, beta):
    """w of Eq. 7 over the typicalities u (T,)."""
    return damping(beta, len(u)) @ u / damping_sum_eq8(beta, len(u))
