"""Damped-window footprints: Eq. 8 to 13 (section III-B).

Eq. 5, 6 and 7 define a footprint as sums over the whole stream; they are written out in the tests,
where the closed forms below must agree with them. "1" is always the older of two structures (E7).
"""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel


@kernel
def damping_sum(rate: float, T: float) -> float:
    """Gamma (Eq. 8, rate gamma) or B (Eq. 9, rate beta): sum of e^(-rate (T - t)) for t = 1..T.

    §III-B. The printed closed form overflows and is 0/0 at rate 0; this is the same number (E10).
    """
    return T if rate == 0.0 else np.expm1(-rate * T) / np.expm1(-rate)


@kernel
def newer_share(rate: float, T1: float, T2: float) -> float:
    """Share of the newer of two windows in their union, Gamma(T2) / Gamma(T1 + T2).

    The older one has the rest: e^(-rate T2) Gamma(T1) / Gamma(T1 + T2). Used by Eq. 10 and 11.
    """
    if rate == 0.0:
        return T2 / (T1 + T2)
    return np.expm1(-rate * T2) / np.expm1(-rate * (T1 + T2))


@kernel
def merged_mean(mu1: Floats, mu2: Floats, share: float) -> Floats:
    """Mean of the union of two windows. Eq. (10), §III-B; `share` is the newer one's, mu2's.

    Written as a step from mu1, so that equal means stay exactly what they are.
    """
    return mu1 + share * (mu2 - mu1)


@kernel
def merged_spread(Sigma1: Floats, Sigma2: Floats, share: float) -> Floats:
    """Spread of the union of two windows of the same mean. Eq. (11), §III-B.

    Algorithm 1 does not use it (it fuses spreads by covariance union); it is here to compare.
    """
    return Sigma1 + share * (Sigma2 - Sigma1)


@kernel
def updated_total(total: float, u: float, beta: float) -> float:
    """B(T + 1) w(T + 1) after one more point of typicality u; with u = 1, B(T + 1) itself.

    Eq. (13), §III-B, before its division by B(T + 1). Totals are what is kept: nothing is
    multiplied and divided again at every point, and with beta = 0 they are plain sums.
    """
    return np.exp(-beta) * total + u


@kernel
def merged_total(total1: float, total2: float, beta: float, T2: float) -> float:
    """B(T1 + T2) w of the union of two windows; from B(T1) and B(T2), B(T1 + T2) itself.

    Eq. (12), §III-B (E2), before its division by B(T1 + T2).
    """
    return np.exp(-beta * T2) * total1 + total2
