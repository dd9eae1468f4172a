"""Squared Mahalanobis distances of a point, or of a structure, with all structures, both ways.

The bracket of Eq. (2). They are where the time goes: N d^2 multiplications each way.
Differences are taken first, so that a stream far from the origin loses no digits.
"""

from spclust.arrays import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import (
    ALL,
    LANES,
    Eight,
    below_bits,
    larger_of,
    load,
    same,
    smaller_of,
    store,
)
from spclust.state.scratch import Scratch
from spclust.state.structures import NOBODY, Structures


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
    structure at x. If there are both, every factor is read once for both: reading them is what
    takes the time. No bit of the result depends on whether there is one or both. Modified in place:
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
