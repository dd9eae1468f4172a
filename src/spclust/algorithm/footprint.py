"""Damped-window footprints: Eq. 8 to 13 (section III-B).

Eq. 5, 6 and 7 define a footprint as sums over the whole stream; they are written out in the tests,
where the closed forms below must agree with them. "1" is always the older of two structures (E7).

Time. The paper counts points. Its weights fade at every point (Eq. 13), so there a time stamp only
says how long the step was. A mean, though, fades by the points that its own structure absorbs
(Eq. 10): such a clock has no unit of time. With time stamps a point's share in a mean fades as
Eq. 5 is written, by the time since the point came, e^(-gamma (now - t)). The sum of these shares is
kept for each structure (`recent`); on one common clock nothing else is needed to merge two of them.
"""

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import allocating, kernel, part
from spclust.numerics.eight import LANES, larger_of, load, same, store
from spclust.state.structures import POINT, Structures

# Shares that faded long ago count as equal: two such structures meet halfway.
_FADED = 1e-300


@part
def damping_sum(rate: float, T: float) -> float:
    """Gamma (Eq. 8, rate gamma) or B (Eq. 9, rate beta): sum of e^(-rate (T - t)) for t = 1..T.

    §III-B. The printed closed form overflows and is 0/0 at rate 0; this is the same number (E10).
    """
    return T if rate == 0.0 else np.expm1(-rate * T) / np.expm1(-rate)


@kernel
def damping_sums(rate: float, T: Floats) -> Floats:
    """`damping_sum` for each of T (k,)."""
    sums = np.empty(T.size)
    for i in range(T.size):
        sums[i] = damping_sum(rate, T[i])
    return sums


@part
def newer_share(rate: float, T1: float, T2: float) -> float:
    """Share of the newer of two windows in their union, Gamma(T2) / Gamma(T1 + T2).

    The older one has the rest: e^(-rate T2) Gamma(T1) / Gamma(T1 + T2). Used by Eq. 10 and 11.
    """
    return damping_sum(rate, T2) / damping_sum(rate, T1 + T2)


@part
def merged_mean(mu1: float, difference: float, share: float) -> float:
    """Mean of the union of two windows. Eq. (10), §III-B; difference is mu2 - mu1.

    `share` is that of the newer window, mu2's. Equal means stay exactly what they are.
    """
    return mu1 + share * difference


@allocating
def merged_covariance(Sigma1: Floats, Sigma2: Floats, share: float) -> Floats:
    """Covariance of the union of two windows of the same mean. Eq. (11), §III-B.

    Algorithm 1 does not use it (it merges by covariance union); it is here to compare.
    """
    return Sigma1 + share * (Sigma2 - Sigma1)


@part
def updated_total(total: float, u: float, decay: float) -> float:
    """B(T + 1) w(T + 1) after one more point of typicality u; with u = 1, B(T + 1) itself.

    Eq. (13), §III-B, before its division by B(T + 1). Totals are what is kept: nothing is
    multiplied and divided again at every point, and with beta = 0 they are plain sums.
    `decay` is e^-beta.
    """
    return decay * total + u


@part
def fading(rate: float, T: float) -> float:
    """Influence e^(-rate T) that is left after T points; without a rate it takes no effort."""
    return 1.0 if rate == 0.0 else np.exp(-rate * T)


@part
def merged_total(total1: float, total2: float, faded: float) -> float:
    """B(T1 + T2) w of the union of two windows; from B(T1) and B(T2), B(T1 + T2) itself.

    Eq. (12), §III-B (E2), before its division by B(T1 + T2). `faded` is e^(-beta T2).
    """
    return faded * total1 + total2


@part
def fade_shares(s: Structures) -> None:
    """Fade the shares of all points in their means, with time stamps. Modified in place: s.

    The first point fades nothing: there are no structures.
    """
    if not s.timed or s.gamma == 0.0:
        return
    left, recent = fading(s.gamma, s.gap), s.recent
    for i in range(0, s.live, LANES):
        store(larger_of(load(recent, i) * left, same(_FADED)), recent, i)


@part
def share_of(other: int, keeper: int, s: Structures) -> float:
    """Share of another structure, or of the point, in the mean of its union with slot `keeper`.

    Eq. 10 speaks of the older and the newer one (E7); the point is the newest.
    """
    if s.timed:
        theirs = 1.0 if other == POINT else s.recent[other]
        return theirs / (s.recent[keeper] + theirs)
    count, newer = 1.0, True
    if other != POINT:
        count, newer = s.count[other], s.id[other] > s.id[keeper]
    if newer:
        return newer_share(s.gamma, s.count[keeper], count)
    return 1.0 - newer_share(s.gamma, count, s.count[keeper])


def faded_to(now: float, clock: float, rate: float, what: Floats) -> Floats:
    """A quantity that had the value `what` at the time `clock`, at a later time `now`."""
    if rate == 0.0:
        return what
    faded: Floats = np.maximum(what * np.exp(-rate * (now - clock)), _FADED)
    return faded
