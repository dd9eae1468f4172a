"""Merge of Algorithm 1: two structures become one, and its place among the others is measured."""

import numpy as np

from spclust.algorithm.clock import share_of
from spclust.algorithm.distance import difference, distances_both_ways
from spclust.algorithm.footprint import fading, merged_mean, merged_total, updated_total
from spclust.algorithm.neighbours import note_connection, take_logarithms
from spclust.algorithm.typicality import Relation, relation_odds
from spclust.arrays import Floats
from spclust.covariance.dispatch import cover, cover_in_general
from spclust.jit.decorators import inner, paragraph
from spclust.numerics.eight import LANES
from spclust.state.scratch import Workspace
from spclust.state.structures import (
    BETA,
    EVALUATIONS,
    EXPONENT,
    FRAMED,
    GAP,
    IN_LOGS,
    LIVE,
    MERGED,
    NOBODY,
    POINT,
    SCALE,
    Structures,
    copy_mean,
    read_mean,
)


@paragraph
def merge(keeper: int, other: int, s: Structures, work: Workspace, kind: int) -> bool:
    """Merge: the structure in slot `keeper` becomes the union with another one, or the point.

    False, and nothing changed, if that takes the general union of spreads, which is rare: see
    `merge_any`. Modified in place: s, work.
    """
    share = approach(keeper, other, s, work)
    if not cover(keeper, other, share, s, work, kind):
        return False
    join(keeper, other, share, s, work)
    return True


@paragraph
def merge_any(keeper: int, other: int, s: Structures, work: Workspace, kind: int) -> None:
    """Merge, whatever it takes: twice the code to compile. Modified in place: s, work."""
    share = approach(keeper, other, s, work)
    if not cover(keeper, other, share, s, work, kind):
        cover_in_general(keeper, other, share, s, work, kind)
    join(keeper, other, share, s, work)


@inner
def point_mass(s: Structures) -> float:
    """Mass, and total, of a point that has lived through itself: its weight stays 1. Eq. 13."""
    return updated_total(1.0, 1.0, fading(s.head[BETA], s.head[GAP]))


@inner
def point_age(s: Structures) -> float:
    """Age of a point that has lived through itself: twice the time that it took."""
    return 2.0 * s.head[GAP]


@inner
def approach(keeper: int, other: int, s: Structures, work: Workspace) -> float:
    """Share of the other one in the merged mean; and work.e, the offset of its mean.

    Modified in place: work.
    """
    if other == POINT:
        copy_mean(work.x, work.mu)
    else:
        read_mean(other, s, work.mu)
    b, lane = keeper // LANES, keeper % LANES
    for c in range(work.e.size):
        anchors = work.mu[0, c] - s.anchor[b, c, lane]
        drifts = work.mu[1, c] - s.drift[b, c, lane]
        work.e[c] = difference(anchors, drifts, work.unit)
    return share_of(other, keeper, s)


@inner
def join(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> None:
    """Mean, weight and clocks of the union. Modified in place: s."""
    if s.head[FRAMED] == 1.0:
        add_scatter(keeper, other, s, work.e)
    b, lane = keeper // LANES, keeper % LANES
    for c in range(work.e.size):
        step = work.e[c] * s.head[SCALE]
        s.drift[b, c, lane] = merged_mean(s.drift[b, c, lane], step, share)  # Eq. 10
    count, recent, age, total = 1.0, 1.0, point_age(s), point_mass(s)
    mass, id_ = total, np.inf
    if other != POINT:
        count, recent, age = s.count[other], s.recent[other], s.age[other]
        total, mass, id_ = s.total[other], s.mass[other], s.id[other]
    if id_ > s.id[keeper]:
        faded = fading(s.head[BETA], age)
        s.total[keeper] = merged_total(s.total[keeper], total, faded)  # Eq. 12
        s.mass[keeper] = merged_total(s.mass[keeper], mass, faded)  # Eq. 9
    else:
        faded = fading(s.head[BETA], s.age[keeper])
        s.total[keeper] = merged_total(total, s.total[keeper], faded)
        s.mass[keeper] = merged_total(mass, s.mass[keeper], faded)
        s.id[keeper] = id_
        s.owner[keeper] = s.owner[other] if s.owner[other] > 0.0 else s.owner[keeper]
    s.age[keeper] += age
    s.count[keeper] += count
    s.recent[keeper] += recent
    s.head[MERGED] += 1


@inner
def add_scatter(keeper: int, other: int, s: Structures, e: Floats) -> None:
    """Scatter of the points of both around their common mean; e (d,) is the offset of the means.

    All points count alike, whether they fade or not. Modified in place: s.
    """
    ours, theirs = s.count[keeper], 1.0 if other == POINT else s.count[other]
    between = ours * theirs / (ours + theirs)
    for c in range(e.size):
        s.scatter[keeper, c] += between * e[c] * e[c]
        if other != POINT:
            s.scatter[keeper, c] += s.scatter[other, c]


@paragraph
def measure(changed: int, next_too: bool, s: Structures, work: Workspace, kind: int) -> None:
    """Odds of a structure that changed, and of the next point, with every structure, both ways.

    Eq. 2 and 3. The structure in slot `changed` (or NOBODY), of factor work.W, is also connected.
    Modified in place: s, work.
    """
    if changed != NOBODY:
        read_mean(changed, s, work.mu)
    distances_both_ways(changed, next_too, s, work, kind)
    if changed != NOBODY:
        # The distance to itself is never asked for, and 0 would look like a copy of the structure.
        work.changed.q[changed] = work.changed.q_back[changed] = 1.0
        odds, odds_back, pair = s.odds[changed], s.odds_back[changed], s.pair[changed]
        fill_all_odds(Relation(work.changed.q, work.changed.q_back, odds, odds_back, pair), s)
        note_connection(changed, s)
    if next_too:
        fill_all_odds(work.point, s)


@inner
def fill_all_odds(to_all: Relation, s: Structures) -> None:
    """Odds of all distances, and of the pairs. Modified in place: to_all; s if in logs from now on.

    Odds become logarithms, once and for all, where they leave the range of floating point.
    """
    live, p = int(s.head[LIVE]), s.head[EXPONENT]
    s.head[EVALUATIONS] += 2 * live
    while not relation_odds(to_all, p, s.head[IN_LOGS] == 1.0, live):
        take_logarithms(s)
        s.head[IN_LOGS] = 1.0
