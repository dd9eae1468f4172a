"""Typicality with Mahalanobis distance: Eq. 1 to 4 (section III-A).

Everything is said in *odds*. With q the squared Mahalanobis distance of a point to a structure,

    odds = q^(1/(m-1)) = (1 - u) / u        u = 1 / (1 + odds)        NLT = log(1 + odds)

and for a pair of structures D / (1 - D) = odds_12 + odds_21 + odds_12 odds_21. Odds order exactly
as NLT and D do, they need no logarithm, and unlike D they never saturate at 1 (in 1024 dimensions
every D is exactly 1.0 in floating point). Where odds themselves would leave the floating-point
range, their logarithms take their place; `in_logs` says which of the two an array holds.
"""

from typing import Any

import numpy as np

from spclust.arrays import Floats
from spclust.jit.decorators import part
from spclust.numerics.eight import (
    LANES,
    Eight,
    larger_of,
    largest_of,
    load,
    same,
    smaller_of,
    smallest_of,
    store,
)
from spclust.numerics.powers import exponential, halves_in, logarithm, power
from spclust.state.scratch import Relation

# Odds of a pair multiply, so each is kept below the square root of what can be represented.
LARGEST_ODDS, SMALLEST_ODDS = 1e145, 1e-290
LARGEST_LOG = 1e300


def exponent(m: float) -> float:
    """The exponent 1/(m-1) of Eq. (1), without the rounding error of m - 1 where it shows.

    m = 1.4 means 2.5, not 2.500000000000001: half-integers have a fast power.
    """
    p = 1.0 / (m - 1.0)
    nearest = round(2.0 * p) / 2.0
    rounding_error = 4.0 * float(np.finfo(float).eps) * p / (m - 1.0)
    return nearest if 0.0 < nearest < 50.0 and abs(p - nearest) <= rounding_error else p


@part
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


@part
def odds_of(q: Eight, p: float, halves: int, in_logs: bool) -> Eight:
    """Odds q^p, or their logarithms, of eight squared distances. Eq. (2), §III-A."""
    return logarithm(q) * p if in_logs else power(q, p, halves)


@part
def in_range(q: Floats, odds: Floats, n: int) -> bool:
    """Whether n odds of squared distances q are in the linear range, or those of copies, 0."""
    outside = 0
    for i in range(n):
        outside += (odds[i] > LARGEST_ODDS) | ((odds[i] < SMALLEST_ODDS) & (q[i] > 0.0))
    return outside == 0


@part
def typicality_from_odds(odds: float) -> float:
    """Typicality u = 1 / (1 + odds). Eq. (2), §III-A."""
    return 1.0 / (1.0 + odds)


@part
def nlt_from_odds(odds: float, in_logs: bool) -> float:
    """Negative log typicality NLT = log(1 + odds). Eq. (4), §III-A."""
    if not in_logs:
        return np.log1p(odds)
    if odds > 0.0:
        return odds + np.log1p(np.exp(-odds))
    return np.log1p(np.exp(odds))


@part
def pair_odds(a: Any, b: Any) -> Any:
    """Odds D / (1 - D) of the distance D = 1 - u_12 u_21 of two structures. Eq. (3), §III-A."""
    return a + b + a * b


@part
def log_pair_odds(a: Eight, b: Eight) -> Eight:
    """What `pair_odds` is, in logarithms: log(e^a + e^b + e^(a + b)), safe from overflow."""
    top = larger_of(larger_of(a, b), a + b)
    top = larger_of(top, same(-LARGEST_LOG))  # where all three are -inf
    terms = exponential(a - top) + exponential(b - top) + exponential(a + b - top)
    return top + logarithm(terms)


@part
def relation_odds(r: Relation, p: float, in_logs: bool, n: int) -> bool:
    """Odds of n distances, both ways, and of the pairs; False if they left the linear range.

    What lies in the last block of eight behind n is computed, too, and may call for an exact look.
    Modified in place: r.
    """
    least, most, halves = same(np.inf), same(0.0), halves_in(p)
    for start in range(0, n, LANES):
        odds = odds_of(load(r.q, start), p, halves, in_logs)
        odds_back = odds_of(load(r.q_back, start), p, halves, in_logs)
        pair = log_pair_odds(odds, odds_back) if in_logs else pair_odds(odds, odds_back)
        store(odds, r.odds, start)
        store(odds_back, r.odds_back, start)
        store(pair, r.pair, start)
        least = smaller_of(smaller_of(least, odds), odds_back)
        most = larger_of(most, pair)
    if in_logs or (smallest_of(least) >= SMALLEST_ODDS and largest_of(most) <= LARGEST_ODDS):
        return True
    return in_range(r.q, r.odds, n) and in_range(r.q_back, r.odds_back, n)
