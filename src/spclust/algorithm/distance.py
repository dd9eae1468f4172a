"""Squared Mahalanobis distances of a point, or of a structure, with all structures, both ways.

The bracket of Eq. (2). They are where the time goes: N d^2 multiplications each way.
Differences are taken first, so that a stream far from the origin loses no digits.
"""

from spclust.algorithm.typicality import Relation
from spclust.arrays import Floats
from spclust.covariance.dispatch import squares_in_each, squares_in_one, two_squares_in_each
from spclust.jit.decorators import inner, paragraph, separate
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
from spclust.state.scratch import Unit, Workspace
from spclust.state.structures import GROWN, LIVE, NOBODY, Structures


@inner
def difference(anchors: float, drifts: float, unit: Unit) -> float:
    """Difference of two points in units of scale, from those of their anchors and drifts."""
    d = (anchors + drifts) * unit.per_scale
    d = d if d < unit.reach else unit.reach
    return d if d > -unit.reach else -unit.reach


@inner
def write_offsets(anchor: Floats, drift: Floats, mu: Floats, unit: Unit, offset: Floats) -> Eight:
    """Differences of eight means (d, 8) and mu (2, d), as above. Modified in place: offset.

    Returns their squared lengths, which are the distances in the metric of a single point, I.
    """
    squares = same(0.0)
    for c in range(mu.shape[1]):
        a = (load(anchor, c) - mu[0, c] + (load(drift, c) - mu[1, c])) * unit.per_scale
        store(a, offset, c)
        squares += a * a
    return squares if within(squares, unit) else limited_offsets(anchor, drift, mu, unit, offset)


@inner
def write_two_offsets(
    b: int, s: Structures, mu: Floats, x: Floats, unit: Unit, offset: Floats, ahead: Floats
) -> tuple[Eight, Eight]:
    """What `write_offsets` does with the means of block b, for mu and for x; they are read once.

    Modified in place: offset, ahead.
    """
    anchor, drift = s.anchor[b], s.drift[b]
    squares, squares_next = same(0.0), same(0.0)
    for c in range(mu.shape[1]):
        anchors, drifts = load(anchor, c), load(drift, c)
        a = (anchors - mu[0, c] + (drifts - mu[1, c])) * unit.per_scale
        a_next = (anchors - x[0, c] + drifts) * unit.per_scale  # the drift of a point is 0
        store(a, offset, c)
        store(a_next, ahead, c)
        squares += a * a
        squares_next += a_next * a_next
    if not within(squares, unit):
        squares = limited_offsets(anchor, drift, mu, unit, offset)
    if not within(squares_next, unit):
        squares_next = limited_offsets(anchor, drift, x, unit, ahead)
    return squares, squares_next


@inner
def within(squares: Eight, unit: Unit) -> bool:
    """Whether eight squared lengths tell that no difference is out of reach."""
    return below_bits(squares, same(unit.reach * unit.reach)) == ALL


@separate
def limited_offsets(anchor: Floats, drift: Floats, mu: Floats, unit: Unit, offset: Floats) -> Eight:
    """What `write_offsets` does where a difference is out of reach. Modified in place: offset."""
    squares = same(0.0)
    for c in range(mu.shape[1]):
        anchors, drifts = load(anchor, c) - mu[0, c], load(drift, c) - mu[1, c]
        d = smaller_of((anchors + drifts) * unit.per_scale, same(unit.reach))
        d = larger_of(d, same(-unit.reach))
        store(d, offset, c)
        squares += d * d
    return squares


@paragraph
def distances_of_point(
    x: Floats, s: Structures, unit: Unit, out: Relation, ahead: Floats, spare: Floats, kind: int
) -> None:
    """Squared distances of a point x (2, d) in every live structure, in the metric of each.

    Into out.q. Modified in place: out; ahead (d, 8) and spare are scratch.
    """
    for b in range((int(s.head[LIVE]) + LANES - 1) // LANES):
        squares = write_offsets(s.anchor[b], s.drift[b], x, unit, ahead)
        if b * LANES < int(s.head[GROWN]):
            squares = squares_in_each(b, s, ahead, squares, spare, kind)
        store(squares, out.q, b * LANES)


@paragraph
def distances_both_ways(
    slot: int, next_too: bool, s: Structures, work: Workspace, kind: int
) -> None:
    """Squared distances, both ways, of a structure that changed, of the next point, or of both.

    The structure in `slot`, or NOBODY, of mean work.mu and factor work.W: of its mean in every live
    structure, into work.changed.q, and of their means in it, into q_back. The point work.x: into
    work.point, where q_back are plain squared distances, those in a fresh structure at x. If there
    are both, every factor is read once for both: reading them is what takes the time. No bit of the
    result depends on whether there is one or both. Modified in place: work.
    """
    changed = slot != NOBODY
    for b in range((int(s.head[LIVE]) + LANES - 1) // LANES):
        at = b * LANES
        squares, squares_next = same(0.0), same(0.0)
        if changed and next_too:
            squares, squares_next = write_two_offsets(
                b, s, work.mu, work.x, work.unit, work.offset, work.ahead
            )
        elif changed:
            squares = write_offsets(s.anchor[b], s.drift[b], work.mu, work.unit, work.offset)
        elif next_too:
            squares_next = write_offsets(s.anchor[b], s.drift[b], work.x, work.unit, work.ahead)
        if changed:
            own = squares_in_one(slot, s, work, squares, kind)
            store(own, work.changed.q_back, at)
        if next_too:
            store(squares_next, work.point.q_back, at)
        if at < int(s.head[GROWN]):
            if changed and next_too:
                squares, squares_next = two_squares_in_each(b, s, work, squares, squares_next, kind)
            elif changed:
                squares = squares_in_each(b, s, work.offset, squares, work.spare, kind)
            else:
                squares_next = squares_in_each(b, s, work.ahead, squares_next, work.spare, kind)
        if changed:
            store(squares, work.changed.q, at)
        if next_too:
            store(squares_next, work.point.q, at)
