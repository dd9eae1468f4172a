"""Merge of Algorithm 1: two structures become one, and its place among the others is measured."""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import inner, leaf, paragraph
from spclust.core.distances import difference, distances_both_ways
from spclust.core.factor import (
    invert_transposed,
    least_eigenvalue_bound,
    raise_diagonal,
    renew_inverse,
    shifted_cholesky,
    write_identity,
)
from spclust.core.footprint import fading, merged_mean, merged_total, newer_share, updated_total
from spclust.core.lanes import LANES
from spclust.core.neighbours import NOBODY, note_connection, take_logarithms
from spclust.core.plane import cover_in_plane
from spclust.core.point_union import covers, union_with_point
from spclust.core.structures import (
    BETA,
    EVALUATIONS,
    EXPONENT,
    GAMMA,
    IN_LOGS,
    LIVE,
    MERGED,
    SCALE,
    Structures,
    copy_mean,
    read_factor,
    read_mean,
    write_factor,
)
from spclust.core.typicality import Relation, relation_odds
from spclust.core.union import unite
from spclust.core.workspace import Workspace

POINT = -1  # in place of a slot: the point that is being learnt
POINT_AGE = 2.0  # its age, once weights were refreshed: it has lived through itself
_FLOOR = 1.0  # in units of scale every spread is at least the identity

# A factor is computed anew after so many renewals, each of which adds a rounding error, and where
# one adds more than this to the spread, in units of the spread: the error would be as large.
_MOST_RENEWALS = 32.0
_LARGEST_RENEWAL = 1.0


@paragraph
def merge(keeper: int, other: int, s: Structures, work: Workspace) -> None:
    """Merge: the structure in slot `keeper` becomes the union with another one, or the point.

    Formulas speak of the older and the newer of the two (E7). Modified in place: s, work.
    """
    count, age, total = 1.0, POINT_AGE, point_mass(s)
    mass, id_ = total, np.inf
    if other == POINT:
        copy_mean(work.x, work.mu)
    else:
        read_mean(other, s, work.mu)
        count, age, total = s.count[other], s.age[other], s.total[other]
        mass, id_ = s.mass[other], s.id[other]
    beta = s.head[BETA]
    if id_ > s.id[keeper]:
        share = newer_share(s.head[GAMMA], s.count[keeper], count)
        faded = fading(beta, age)
        s.total[keeper] = merged_total(s.total[keeper], total, faded)  # Eq. 12
        s.mass[keeper] = merged_total(s.mass[keeper], mass, faded)  # Eq. 9
    else:
        share = 1.0 - newer_share(s.head[GAMMA], count, s.count[keeper])
        faded = fading(beta, s.age[keeper])
        s.total[keeper] = merged_total(total, s.total[keeper], faded)
        s.mass[keeper] = merged_total(mass, s.mass[keeper], faded)
        s.id[keeper] = id_
    step_to_merged_mean(keeper, share, s, work)  # Eq. 10
    cover(keeper, other, share, count, s, work)  # Eq. 14 to 16
    s.age[keeper] += age
    s.count[keeper] += count
    s.head[MERGED] += 1


@inner
def point_mass(s: Structures) -> float:
    """Mass, and total, of a point that has lived through itself: its weight stays 1. Eq. 13."""
    return updated_total(1.0, 1.0, fading(s.head[BETA], 1.0))


@inner
def step_to_merged_mean(keeper: int, share: float, s: Structures, work: Workspace) -> None:
    """Mean of the union of `keeper` and another structure, whose mean is work.mu. Eq. 10.

    `share` is that of the other one. Also work.e, the offset of its mean. Modified in place: s,
    work.
    """
    b, lane = keeper // LANES, keeper % LANES
    for c in range(work.e.size):
        anchors = work.mu[0, c] - s.anchor[b, c, lane]
        drifts = work.mu[1, c] - s.drift[b, c, lane]
        work.e[c] = difference(anchors, drifts, work.unit)
        step = work.e[c] * s.head[SCALE]
        s.drift[b, c, lane] = merged_mean(s.drift[b, c, lane], step, share)


@paragraph
def cover(
    keeper: int, other: int, share: float, count: float, s: Structures, work: Workspace
) -> None:
    """Make the spread of `keeper` cover the other structure, of `count` points. Eq. 14 to 16.

    Its factor, with which all distances are measured, comes to lie in work.W, too. Modified in
    place: s, work.
    """
    Sigma, W, e = s.Sigma[keeper], work.W, work.e
    spread, single = s.Sigma[max(other, 0)], count == 1.0
    if e.size == 2:
        entries = (1.0, 0.0, 1.0) if single else (spread[0, 0], spread[0, 1], spread[1, 1])
        if cover_in_plane(Sigma, entries, share, e, W):
            write_factor(keeper, s.whiten, W)
            return
    read_factor(keeper, s.whiten, W)
    united = False
    if single:
        p = work.union.p
        if covers(W, e, share, s.least[keeper], p, work.union.v):
            add_square(Sigma, share, e)
            if renewable(s.renewals[keeper], p, share):
                for c in range(p.size):
                    p[c] *= share
                renew_inverse(W, p, work.union.v)
                write_factor(keeper, s.whiten, W)
                s.renewals[keeper] += 1.0
                return
            united = True
        else:
            united = union_with_point(Sigma, e, share, work.union)
    if not united:
        if single:
            spread = work.union.R
            write_identity(spread)
        delta1, delta2 = work.union.v, work.union.w
        for c in range(e.size):
            delta1[c], delta2[c] = share * e[c], (share - 1.0) * e[c]
        unite(Sigma, delta1, spread, delta2, _FLOOR)
    shifted_cholesky(Sigma, 0.0, _FLOOR, work.union.R, work.union.inverse)
    raise_diagonal(Sigma, work.union.R)
    invert_transposed(work.union.R, work.union.inverse, W)
    write_factor(keeper, s.whiten, W)
    s.least[keeper], s.renewals[keeper] = least_eigenvalue_bound(W), 0.0


@leaf
def add_square(Sigma: Floats, share: float, e: Floats) -> None:
    """Add share^2 e e^T, Eq. 14, to Sigma (d, d). Modified in place: Sigma."""
    for r in range(e.size):
        for c in range(e.size):
            Sigma[r, c] += (share * e[r]) * (share * e[c])


@leaf
def renewable(renewals: float, p: Floats, share: float) -> bool:
    """Whether a factor may be changed for share^2 e e^T instead of computed; p (d,) is W e."""
    added = 0.0
    for c in range(p.size):
        added += p[c] * p[c]
    return renewals < _MOST_RENEWALS and share * share * added <= _LARGEST_RENEWAL


@paragraph
def measure(changed: int, next_too: bool, s: Structures, work: Workspace) -> None:
    """Odds of a structure that changed, and of the next point, with every structure, both ways.

    Eq. 2 and 3. The structure in slot `changed` (or NOBODY), of factor work.W, is also connected.
    Modified in place: s, work.
    """
    if changed != NOBODY:
        read_mean(changed, s, work.mu)
    distances_both_ways(changed != NOBODY, next_too, s, work)
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
