"""Typicality with Mahalanobis distance: Eq. 1 to 4 (section III-A).

Everything is said in *odds*. With q the squared Mahalanobis distance of a point to a structure,

    odds = q^(1/(m-1)) = (1 - u) / u        u = 1 / (1 + odds)        NLT = log(1 + odds)

and for a pair of structures D / (1 - D) = odds_12 + odds_21 + odds_12 odds_21. Odds order exactly
as NLT and D do, they need no logarithm, and unlike D they never saturate at 1 (in 1024 dimensions
every D is exactly 1.0 in floating point). Where odds themselves would leave the floating-point
range, their logarithms take their place; `in_logs` says which of the two an array holds.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, leaf


class Relation(NamedTuple):
    """How one structure, or point, stands to all n slots."""

    q: Any  # (n,) squared distances of its mean in the others
    q_back: Any  # (n,) squared distances of the others' means in it
    odds: Any  # (n,) odds of q
    odds_back: Any  # (n,) odds of q_back
    pair: Any  # (n,) odds of the pairs


# Beyond this exponent (m < 1.2) odds of ordinary data overflow, so they are kept as logarithms.
LARGEST_LINEAR_EXPONENT = 5.0

# Odds of a pair multiply, so each is kept below the square root of what can be represented.
LARGEST_ODDS, SMALLEST_ODDS = 1e145, 1e-290


def exponent(m: float) -> float:
    """The exponent 1/(m-1) of Eq. (1), without the rounding error of m - 1 where it shows.

    m = 1.4 means 2.5, not 2.500000000000001: half-integers have a fast power.
    """
    p = 1.0 / (m - 1.0)
    nearest = round(2.0 * p) / 2.0
    rounding_error = 4.0 * float(np.finfo(float).eps) * p / (m - 1.0)
    return nearest if 0.0 < nearest < 50.0 and abs(p - nearest) <= rounding_error else p


@leaf
def mahalanobis_sq(offset: Floats, whiten: Floats) -> float:
    """Squared Mahalanobis distance of one offset x - mu (d,). The bracket of Eq. (2), §III-A.

    `whiten` (t,) is the lower triangular W with W^T W = Sigma^-1, row by row.
    """
    q, t = 0.0, 0
    for r in range(offset.size):
        y = 0.0
        for c in range(r + 1):
            y += whiten[t] * offset[c]
            t += 1
        q += y * y
    return q


@leaf
def fill_odds(q: Floats, p: float, in_logs: bool, odds: Floats, n: int) -> bool:
    """Odds q^p of n squared distances, into `odds`; False if they left the linear range.

    Modified in place: odds. Half-integers avoid the general power, which costs ten times as much.
    Odds of 0, of copies of one point, are in range.
    """
    twice = int(2.0 * p)
    if in_logs:
        for i in range(n):
            odds[i] = p * np.log(q[i])
        return True
    if twice == 2.0 * p:
        whole = twice // 2
        for i in range(n):
            odds[i] = 1.0 if twice == 2 * whole else np.sqrt(q[i])
        for _ in range(whole):
            for i in range(n):
                odds[i] *= q[i]
    else:
        for i in range(n):
            odds[i] = q[i] ** p
    outside = 0
    for i in range(n):
        outside += (odds[i] > LARGEST_ODDS) | ((odds[i] < SMALLEST_ODDS) & (q[i] > 0.0))
    return outside == 0


@leaf
def typicality_from_odds(odds: float, in_logs: bool) -> float:
    """Typicality u = 1 / (1 + odds). Eq. (2), §III-A."""
    return 1.0 / (1.0 + np.exp(odds)) if in_logs else 1.0 / (1.0 + odds)


@leaf
def nlt_from_odds(odds: float, in_logs: bool) -> float:
    """Negative log typicality NLT = log(1 + odds). Eq. (4), §III-A."""
    if not in_logs:
        return np.log1p(odds)
    if odds > 0.0:
        return odds + np.log1p(np.exp(-odds))
    return np.log1p(np.exp(odds))


@leaf
def pair_odds(a: float, b: float, in_logs: bool) -> float:
    """Odds D / (1 - D) of the distance D = 1 - u_12 u_21 of two structures. Eq. (3), §III-A."""
    if not in_logs:
        return a + b + a * b
    # log(e^a + e^b + e^(a + b)) with the largest term taken out.
    top = max(a, b, a + b)
    if top == -np.inf:
        return top
    return top + np.log(np.exp(a - top) + np.exp(b - top) + np.exp(a + b - top))


@leaf
def relation_odds_of_squares(r: Relation, n: int) -> bool:
    """What `relation_odds` does, for the exponent 2 of m = 1.5 and linear odds: one short loop."""
    outside = 0
    for i in range(n):
        a, b = r.q[i] * r.q[i], r.q_back[i] * r.q_back[i]
        outside += (a > LARGEST_ODDS) | ((a < SMALLEST_ODDS) & (r.q[i] > 0.0))
        outside += (b > LARGEST_ODDS) | ((b < SMALLEST_ODDS) & (r.q_back[i] > 0.0))
        r.odds[i], r.odds_back[i] = a, b
        r.pair[i] = pair_odds(a, b, False)
    return outside == 0


@kernel
def relation_odds(r: Relation, p: float, in_logs: bool, n: int) -> bool:
    """Odds of n distances, both ways, and of the pairs; False if they left the linear range.

    Modified in place: r.
    """
    there = fill_odds(r.q, p, in_logs, r.odds, n)
    back = fill_odds(r.q_back, p, in_logs, r.odds_back, n)
    for i in range(n):
        r.pair[i] = pair_odds(r.odds[i], r.odds_back[i], in_logs)
    return there and back
