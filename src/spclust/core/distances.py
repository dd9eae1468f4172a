"""Squared Mahalanobis distances of one point in all structures, and of all means in one structure.

The bracket of Eq. (2). They are where the time goes: N d^2 multiplications each.
Differences are taken first, so that a stream far from the origin loses no digits.
"""

from typing import NamedTuple

from spclust.arrays import Floats
from spclust.core.compile import leaf, paragraph
from spclust.core.lanes import (
    LANES,
    ZEROS,
    Eight,
    plus_multiple,
    plus_products,
    plus_squares,
    store,
)
from spclust.core.structures import Structures
from spclust.core.typicality import Relation


class Unit(NamedTuple):
    """What a difference of two points is measured in."""

    per_scale: float  # 1 / scale
    reach: float  # the largest difference, in units of scale


@leaf
def difference(anchors: float, drifts: float, unit: Unit) -> float:
    """Difference of two points in units of scale, from those of their anchors and drifts."""
    d = (anchors + drifts) * unit.per_scale
    d = d if d < unit.reach else unit.reach
    return d if d > -unit.reach else -unit.reach


@paragraph
def differences(anchor: Floats, drift: Floats, c: int, mu: Floats, unit: Unit) -> Eight:
    """Feature c of eight means (anchor and drift (d, 8)) minus that of mu (2, d)."""
    a, b = mu[0, c], mu[1, c]
    return (
        difference(anchor[c, 0] - a, drift[c, 0] - b, unit),
        difference(anchor[c, 1] - a, drift[c, 1] - b, unit),
        difference(anchor[c, 2] - a, drift[c, 2] - b, unit),
        difference(anchor[c, 3] - a, drift[c, 3] - b, unit),
        difference(anchor[c, 4] - a, drift[c, 4] - b, unit),
        difference(anchor[c, 5] - a, drift[c, 5] - b, unit),
        difference(anchor[c, 6] - a, drift[c, 6] - b, unit),
        difference(anchor[c, 7] - a, drift[c, 7] - b, unit),
    )


@leaf
def distances_of_point(
    mu: Floats, s: Structures, live: int, unit: Unit, out: Relation, offset: Floats
) -> None:
    """Squared distances of the point mu (2, d) in every live structure, in the metric of each.

    Into out.q; and into out.q_back the plain squared distances, which are those of every mean in a
    fresh structure at mu, whose spread is the identity. Modified in place: out; offset (d, 8) is
    scratch.
    """
    for b in range((live + LANES - 1) // LANES):
        anchor, drift, W = s.anchor[b], s.drift[b], s.whiten[b]
        for c in range(mu.shape[1]):
            store(differences(anchor, drift, c, mu, unit), offset[c], 0)
        squares, plain = ZEROS, ZEROS
        t = 0
        for r in range(mu.shape[1]):
            y = ZEROS
            for c in range(r + 1):
                y = plus_products(y, W, t, offset, c)
                t += 1
            squares = plus_squares(squares, y)
            plain = plus_products(plain, offset, r, offset, r)
        store(squares, out.q, b * LANES)
        store(plain, out.q_back, b * LANES)


@leaf
def distances_in_structure(
    mu: Floats, W: Floats, s: Structures, live: int, unit: Unit, out: Relation, offset: Floats
) -> None:
    """Squared distances of every live mean in one structure, of mean mu (2, d) and factor W (t,).

    Into out.q_back. Modified in place: out; offset (d, 8) is scratch.
    """
    for b in range((live + LANES - 1) // LANES):
        anchor, drift = s.anchor[b], s.drift[b]
        for c in range(mu.shape[1]):
            store(differences(anchor, drift, c, mu, unit), offset[c], 0)
        squares = ZEROS
        t = 0
        for r in range(mu.shape[1]):
            y = ZEROS
            for c in range(r + 1):
                y = plus_multiple(y, W[t], offset, c)
                t += 1
            squares = plus_squares(squares, y)
        store(squares, out.q_back, b * LANES)
