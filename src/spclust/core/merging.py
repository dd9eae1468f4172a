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
    times_vector,
    write_identity,
)
from spclust.core.footprint import fading, merged_mean, merged_total, newer_share, updated_total
from spclust.core.lanes import LANES
from spclust.core.neighbours import NOBODY, note_connection, take_logarithms
from spclust.core.plane import unite_in_plane
from spclust.core.point_union import covers, stretch_by_factor, union_with_point
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
from spclust.core.union import surely_holds, unite
from spclust.core.workspace import Workspace

POINT = -1  # in place of a slot: the point that is being learnt
POINT_AGE = 2.0  # its age, once weights were refreshed: it has lived through itself
_FLOOR = 1.0  # in units of scale every spread is at least the identity

# A factor is computed anew after so many renewals, each of which adds a rounding error, and where
# one adds more than this to the spread, in units of the spread: the error would be as large.
_MOST_RENEWALS = 32.0
_LARGEST_RENEWAL = 1.0


@paragraph
def merge(keeper: int, other: int, s: Structures, work: Workspace, plane: bool) -> bool:
    """Merge: the structure in slot `keeper` becomes the union with another one, or the point.

    False, and nothing changed, if that takes the general union of spreads, which is rare: see
    `merge_any`. Modified in place: s, work.
    """
    share = approach(keeper, other, s, work)
    if plane and not cover_in_plane(keeper, other, share, s, work):
        return False
    if not plane and not cover(keeper, other, share, s, work):
        return False
    join(keeper, other, share, s, work)
    return True


@paragraph
def merge_any(keeper: int, other: int, s: Structures, work: Workspace) -> None:
    """Merge, whatever it takes: twice the code to compile. Modified in place: s, work."""
    share = approach(keeper, other, s, work)
    if not cover(keeper, other, share, s, work):
        cover_in_general(keeper, other, share, s, work)
    join(keeper, other, share, s, work)


@inner
def point_mass(s: Structures) -> float:
    """Mass, and total, of a point that has lived through itself: its weight stays 1. Eq. 13."""
    return updated_total(1.0, 1.0, fading(s.head[BETA], 1.0))


@paragraph
def approach(keeper: int, other: int, s: Structures, work: Workspace) -> float:
    """Share of the other one in the merged mean; and work.e, the offset of its mean.

    Eq. 10 speaks of the older and the newer one (E7); the point is the newest. Modified in place:
    work.
    """
    count, newer = 1.0, True
    if other == POINT:
        copy_mean(work.x, work.mu)
    else:
        read_mean(other, s, work.mu)
        count, newer = s.count[other], s.id[other] > s.id[keeper]
    b, lane = keeper // LANES, keeper % LANES
    for c in range(work.e.size):
        anchors = work.mu[0, c] - s.anchor[b, c, lane]
        drifts = work.mu[1, c] - s.drift[b, c, lane]
        work.e[c] = difference(anchors, drifts, work.unit)
    if newer:
        return newer_share(s.head[GAMMA], s.count[keeper], count)
    return 1.0 - newer_share(s.head[GAMMA], count, s.count[keeper])


@paragraph
def join(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> None:
    """Mean, weight and clocks of the union. Modified in place: s."""
    b, lane = keeper // LANES, keeper % LANES
    for c in range(work.e.size):
        step = work.e[c] * s.head[SCALE]
        s.drift[b, c, lane] = merged_mean(s.drift[b, c, lane], step, share)  # Eq. 10
    count, age, total = 1.0, POINT_AGE, point_mass(s)
    mass, id_ = total, np.inf
    if other != POINT:
        count, age, total = s.count[other], s.age[other], s.total[other]
        mass, id_ = s.mass[other], s.id[other]
    if id_ > s.id[keeper]:
        faded = fading(s.head[BETA], age)
        s.total[keeper] = merged_total(s.total[keeper], total, faded)  # Eq. 12
        s.mass[keeper] = merged_total(s.mass[keeper], mass, faded)  # Eq. 9
    else:
        faded = fading(s.head[BETA], s.age[keeper])
        s.total[keeper] = merged_total(total, s.total[keeper], faded)
        s.mass[keeper] = merged_total(mass, s.mass[keeper], faded)
        s.id[keeper] = id_
    s.age[keeper] += age
    s.count[keeper] += count
    s.head[MERGED] += 1


@paragraph
def cover(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """Make the spread of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    Its factor, with which all distances are measured, comes to lie in work.W, too. False, and
    nothing changed, if it takes the general union. Modified in place: s, work.
    """
    Sigma, W, e = s.Sigma[keeper], work.W, work.e
    single = other == POINT or s.count[other] == 1.0
    if not single:
        return False
    read_factor(keeper, s.whiten, W)
    p = work.union.p
    if covers(W, e, share, s.least[keeper], p, work.union.v):
        grow_along(keeper, share, s, work)
        return True
    if s.renewals[keeper] < _MOST_RENEWALS and stretch_by_factor(Sigma, W, e, share, work.union):
        write_factor(keeper, s.whiten, W)
        s.renewals[keeper] += 2.0
        return True
    if not union_with_point(Sigma, e, share, s.least[keeper], work.union):
        return False
    factor_anew(keeper, s, work)
    return True


@paragraph
def cover_in_plane(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> bool:
    """What `cover` does, for any two structures of two features. Modified in place: s, work."""
    Sigma, spread = s.Sigma[keeper], s.Sigma[max(other, 0)]
    single = other == POINT or s.count[other] == 1.0
    entries = (1.0, 0.0, 1.0) if single else (spread[0, 0], spread[0, 1], spread[1, 1])
    if not unite_in_plane(Sigma, entries, share, work.e, work.W):
        return False
    write_factor(keeper, s.whiten, work.W)
    return True


@paragraph
def cover_in_general(keeper: int, other: int, share: float, s: Structures, work: Workspace) -> None:
    """What `cover` does, for any two structures. Modified in place: s, work."""
    e, spread = work.e, s.Sigma[max(other, 0)]
    if other == POINT or s.count[other] == 1.0:
        spread = work.union.R
        write_identity(spread)
    delta1, delta2 = work.union.v, work.union.w
    for c in range(e.size):
        delta1[c], delta2[c] = share * e[c], (share - 1.0) * e[c]
    read_factor(keeper, s.whiten, work.W)
    if surely_holds(work.W, spread, delta2):
        times_vector(work.W, e, work.union.p)
        grow_along(keeper, share, s, work)
        return
    unite(s.Sigma[keeper], delta1, spread, delta2, _FLOOR)
    factor_anew(keeper, s, work)


@inner
def grow_along(slot: int, share: float, s: Structures, work: Workspace) -> None:
    """Add to a spread what its own move adds, Eq. 14, and no more: it covers the other one.

    work.e is the offset of the other one, work.W the factor, work.union.p their product. Modified
    in place: s, work.
    """
    p = work.union.p
    add_square(s.Sigma[slot], share, work.e)
    if not renewable(s.renewals[slot], p, share):
        factor_anew(slot, s, work)
        return
    for c in range(p.size):
        p[c] *= share
    renew_inverse(work.W, p, work.union.v)
    write_factor(slot, s.whiten, work.W)
    s.renewals[slot] += 1.0


@inner
def factor_anew(slot: int, s: Structures, work: Workspace) -> None:
    """Compute the factor of a spread. Modified in place: s, work."""
    R, inverse, W = work.union.R, work.union.inverse, work.W
    shifted_cholesky(s.Sigma[slot], 0.0, _FLOOR, R, inverse)
    raise_diagonal(s.Sigma[slot], R)
    invert_transposed(R, inverse, W)
    write_factor(slot, s.whiten, W)
    s.least[slot], s.renewals[slot] = least_eigenvalue_bound(W), 0.0


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
