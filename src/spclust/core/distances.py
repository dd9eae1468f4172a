"""Squared Mahalanobis distances of a point, or of a structure, with all structures, both ways.

The bracket of Eq. (2). They are where the time goes: N d^2 multiplications each way.
Differences are taken first, so that a stream far from the origin loses no digits.
"""

from spclust.arrays import Floats
from spclust.core.compile import inner, separate
from spclust.core.lanes import (
    ALL,
    LANES,
    Eight,
    below_bits,
    larger_of,
    load,
    same,
    same_at,
    smaller_of,
    store,
)
from spclust.core.structures import GROWN, LIVE, Structures
from spclust.core.typicality import Relation
from spclust.core.workspace import Unit, Workspace


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


@inner
def squares_in_each(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8), each in the metric of its own W (t, 8)."""
    d, squares = offset.shape[0], same(0.0)
    t = 0
    for r in range(0, d - 1, 2):  # two rows of W for one reading of the offsets
        y, z = same(0.0), same(0.0)
        for c in range(r + 1):
            e = load(offset, c)
            y += load(W, t + c) * e
            z += load(W, t + r + 1 + c) * e
        z += load(W, t + 2 * r + 2) * load(offset, r + 1)
        squares += y * y
        squares += z * z
        t += 2 * r + 3
    if d % 2 == 1:
        y = same(0.0)
        for c in range(d):
            y += load(W, t + c) * load(offset, c)
        squares += y * y
    return squares


@inner
def two_squares_in_each(W: Floats, first: Floats, second: Floats) -> tuple[Eight, Eight]:
    """What `squares_in_each` gives for two sets of offsets; W is read once for both."""
    d, squares1, squares2 = first.shape[0], same(0.0), same(0.0)
    t = 0
    for r in range(0, d - 1, 2):
        y1, y2, z1, z2 = same(0.0), same(0.0), same(0.0), same(0.0)
        for c in range(r + 1):
            e1, e2 = load(first, c), load(second, c)
            w, v = load(W, t + c), load(W, t + r + 1 + c)
            y1 += w * e1
            y2 += w * e2
            z1 += v * e1
            z2 += v * e2
        v = load(W, t + 2 * r + 2)
        z1 += v * load(first, r + 1)
        z2 += v * load(second, r + 1)
        squares1 += y1 * y1
        squares2 += y2 * y2
        squares1 += z1 * z1
        squares2 += z2 * z2
        t += 2 * r + 3
    if d % 2 == 1:
        y1, y2 = same(0.0), same(0.0)
        for c in range(d):
            w = load(W, t + c)
            y1 += w * load(first, c)
            y2 += w * load(second, c)
        squares1 += y1 * y1
        squares2 += y2 * y2
    return squares1, squares2


@inner
def squares_in_one(W: Floats, offset: Floats) -> Eight:
    """Squared distances of eight offsets (d, 8) in the metric of one W (t,)."""
    d, squares = offset.shape[0], same(0.0)
    t = 0
    for r in range(0, d - 1, 2):
        y, z, y_odd, z_odd = same(0.0), same(0.0), same(0.0), same(0.0)
        below = t + r + 1
        for c in range(0, r, 2):  # four sums at once: each waits for its own last term
            e, f = load(offset, c), load(offset, c + 1)
            y += same_at(W, t + c) * e
            z += same_at(W, below + c) * e
            y_odd += same_at(W, t + c + 1) * f
            z_odd += same_at(W, below + c + 1) * f
        e = load(offset, r)
        y += same_at(W, t + r) * e
        z += same_at(W, below + r) * e
        z_odd += same_at(W, below + r + 1) * load(offset, r + 1)
        y, z = y + y_odd, z + z_odd
        squares += y * y
        squares += z * z
        t += 2 * r + 3
    if d % 2 == 1:
        y = same(0.0)
        for c in range(d):
            y += same_at(W, t + c) * load(offset, c)
        squares += y * y
    return squares


@inner
def distances_of_point(x: Floats, s: Structures, unit: Unit, out: Relation, ahead: Floats) -> None:
    """Squared distances of a point x (2, d) in every live structure, in the metric of each.

    Into out.q. Modified in place: out; ahead (d, 8) is scratch.
    """
    for b in range((int(s.head[LIVE]) + LANES - 1) // LANES):
        squares = write_offsets(s.anchor[b], s.drift[b], x, unit, ahead)
        if b * LANES < int(s.head[GROWN]):
            squares = squares_in_each(s.whiten[b], ahead)
        store(squares, out.q, b * LANES)


@inner
def distances_both_ways(changed: bool, next_too: bool, s: Structures, work: Workspace) -> None:
    """Squared distances, both ways, of a structure that changed, of the next point, or of both.

    The structure, of mean work.mu and factor work.W: of its mean in every live structure, into
    work.changed.q, and of their means in it, into q_back. The point work.x: likewise into
    work.point, where q_back are plain squared distances, those in a fresh structure at x. If there
    are both, every factor is read once for both: reading them is what takes the time. No bit of the
    result depends on whether there is one or both. Modified in place: work.
    """
    offset = work.offset if changed else work.ahead
    for b in range((int(s.head[LIVE]) + LANES - 1) // LANES):
        at, W = b * LANES, s.whiten[b]
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
            store(squares_in_one(work.W, work.offset), work.changed.q_back, at)
        if next_too:
            store(squares_next, work.point.q_back, at)
        if at < int(s.head[GROWN]):
            if changed and next_too:
                squares, squares_next = two_squares_in_each(W, work.offset, work.ahead)
            else:
                squares = squares_next = squares_in_each(W, offset)
        if changed:
            store(squares, work.changed.q, at)
        if next_too:
            store(squares_next, work.point.q, at)
