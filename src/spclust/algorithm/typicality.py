"""Typicality with Mahalanobis distance: Eq. 1 to 4 (section III-A). First odds, then distances.

Everything is computed in *odds*. With q the squared Mahalanobis distance of a point to a structure,

    odds = q^(1/(m-1)) = (1 - u) / u        u = 1 / (1 + odds)        NLT = log(1 + odds)

and for a pair of structures D / (1 - D) = odds_12 + odds_21 + odds_12 odds_21. Odds order exactly
as NLT and D do, they need no logarithm, and unlike D they never saturate at 1 (in 1024 dimensions
every D is exactly 1.0 in floating point). Where odds themselves would leave the floating-point
range, their logarithms take their place; `in_logs` says which of the two an array holds.

The distances are where the time goes: N d^2 multiplications each way. Differences are taken first,
so that a stream far from the origin loses no digits.
"""

from typing import Any

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import (
    ALL,
    LANES,
    Eight,
    below_bits,
    larger_of,
    largest_of,
    load,
    same,
    smaller_of,
    smallest_of,
    store,
)
from spclust.numerics.powers import exponential, halves_in, logarithm, power
from spclust.state.relations import take_logarithms
from spclust.state.scratch import Relation, Scratch
from spclust.state.structures import NOBODY, Structures

# Odds of a pair multiply, so each is kept below the square root of what can be represented.
LARGEST_ODDS, SMALLEST_ODDS = 1e145, 1e-290
LARGEST_LOG = 1e300


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
    """True if n odds of squared distances q are in the linear range, or 0, those of copies."""
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
    """`pair_odds` in logarithms: log(e^a + e^b + e^(a + b)), safe from overflow."""
    top = larger_of(larger_of(a, b), a + b)
    top = larger_of(top, same(-LARGEST_LOG))  # where all three are -inf
    terms = exponential(a - top) + exponential(b - top) + exponential(a + b - top)
    return top + logarithm(terms)


@part
def relation_odds(r: Relation, p: float, in_logs: bool, n: int) -> bool:
    """Odds of n distances, both ways, and of the pairs; False if they left the linear range.

    Entries of the last block of eight behind n are computed, too; if these are out of range, all n
    are checked one by one. Modified in place: r.
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


@part
def fill_odds(to_all: Relation, s: Structures) -> None:
    """Odds of all distances, and of the pairs. Modified in place: to_all; s if in logs from now on.

    Odds become logarithms, for the rest of the stream, where they leave the floating-point range.
    """
    s.evaluations += 2 * s.live
    while not relation_odds(to_all, s.exponent, s.in_logs, s.live):
        take_logarithms(s)


@part
def difference(anchors: float, drifts: float, s: Structures) -> float:
    """Difference of two points in units of scale, from those of their anchors and drifts."""
    d = (anchors + drifts) * s.per_scale
    d = d if d < s.reach else s.reach
    return d if d > -s.reach else -s.reach


@part
def write_offsets(b: int, mu: Floats, s: Structures, offset: Floats) -> Eight:
    """Differences of the eight means of block b to mu (2, d), as above, into offset (d, 8).

    Returns their squared lengths, which are the distances in the metric of a single point, I.
    Modified in place: offset.
    """
    anchor, drift, squares = s.anchor[b], s.drift[b], same(0.0)
    for c in range(mu.shape[1]):
        a = (load(anchor, c) - mu[0, c] + (load(drift, c) - mu[1, c])) * s.per_scale
        store(a, offset, c)
        squares += a * a
    return squares if within_reach(squares, s) else limited_offsets(b, mu, s, offset)


@part
def write_two_offsets(b: int, s: Structures, work: Scratch) -> tuple[Eight, Eight]:
    """`write_offsets` for the two points work.mu and work.x; the means are read once for both.

    Modified in place: work.
    """
    anchor, drift, mu, x = s.anchor[b], s.drift[b], work.mu, work.x
    offset, ahead = work.offset, work.ahead
    squares, squares_next = same(0.0), same(0.0)
    for c in range(mu.shape[1]):
        anchors, drifts = load(anchor, c), load(drift, c)
        a = (anchors - mu[0, c] + (drifts - mu[1, c])) * s.per_scale
        a_next = (anchors - x[0, c] + drifts) * s.per_scale  # the drift of a point is 0
        store(a, offset, c)
        store(a_next, ahead, c)
        squares += a * a
        squares_next += a_next * a_next
    if not within_reach(squares, s):
        squares = limited_offsets(b, mu, s, offset)
    if not within_reach(squares_next, s):
        squares_next = limited_offsets(b, x, s, ahead)
    return squares, squares_next


@part
def within_reach(squares: Eight, s: Structures) -> bool:
    """True if eight squared lengths show that no difference is out of reach."""
    return below_bits(squares, same(s.reach * s.reach)) == ALL


@outlined
def limited_offsets(b: int, mu: Floats, s: Structures, offset: Floats) -> Eight:
    """`write_offsets` where a difference is out of reach. Modified in place: offset."""
    anchor, drift, squares = s.anchor[b], s.drift[b], same(0.0)
    for c in range(mu.shape[1]):
        anchors, drifts = load(anchor, c) - mu[0, c], load(drift, c) - mu[1, c]
        d = smaller_of((anchors + drifts) * s.per_scale, same(s.reach))
        d = larger_of(d, same(-s.reach))
        store(d, offset, c)
        squares += d * d
    return squares


@part
def distances_of_point(x: Floats, s: Structures, q: Floats, ahead: Floats, spare: Floats) -> None:
    """Squared distances q (n,) of a point x (2, d) in every live structure, in the metric of each.

    Modified in place: q; ahead (d, 8) and spare are scratch.
    """
    for b in range((s.live + LANES - 1) // LANES):
        squares = write_offsets(b, x, s, ahead)
        if b * LANES < s.grown:
            squares = s.covariance.squares_in_each(b, s, ahead, squares, spare)
        store(squares, q, b * LANES)


@part
def distances_both_ways(slot: int, next_too: bool, s: Structures, work: Scratch) -> None:
    """Squared distances, both ways, of a structure that changed, of the next point, or of both.

    The structure in `slot`, or NOBODY, of mean work.mu and factor work.W: of its mean in every live
    structure, into work.changed_q, and of their means in it, into changed_q_back. The point work.x:
    into point_q and point_q_back; the latter are plain squared distances, those in a fresh
    structure at x. If there are both, every factor is read once for both: reading them takes the
    time. No bit of the result depends on whether there is one or both. Modified in place:
    work.
    """
    changed, live, grown = slot != NOBODY, s.live, s.grown
    # In the plane both are measured even if only one is asked for: compilers fuse other products
    # with sums in the shorter code, and a last bit would depend on where a batch ends.
    both = changed and (next_too or s.d == 2)
    for b in range((live + LANES - 1) // LANES):
        at = b * LANES
        squares, squares_next = same(0.0), same(0.0)
        if both:
            squares, squares_next = write_two_offsets(b, s, work)
        elif changed:
            squares = write_offsets(b, work.mu, s, work.offset)
        elif next_too:
            squares_next = write_offsets(b, work.x, s, work.ahead)
        if changed:
            store(s.covariance.squares_in_one(slot, s, work, squares), work.changed_q_back, at)
        if next_too:
            store(squares_next, work.point_q_back, at)
        if at < grown:
            if both:
                squares, squares_next = s.covariance.two_squares_in_each(
                    b, s, work, squares, squares_next
                )
            elif changed:
                squares = s.covariance.squares_in_each(b, s, work.offset, squares, work.spare)
            else:
                squares_next = s.covariance.squares_in_each(
                    b, s, work.ahead, squares_next, work.spare
                )
        if changed:
            store(squares, work.changed_q, at)
        if next_too:
            store(squares_next, work.point_q, at)
