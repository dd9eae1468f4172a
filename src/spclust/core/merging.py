"""Merge of Algorithm 1: two structures become one, and its place among the others is measured."""

import numpy as np

from spclust.core.compile import leaf, paragraph
from spclust.core.distances import difference, distances_in_structure, distances_of_point
from spclust.core.factor import (
    copy_matrix,
    invert_transposed,
    raise_diagonal,
    shifted_cholesky,
    write_identity,
)
from spclust.core.footprint import merged_mean, merged_total, newer_share, updated_total
from spclust.core.lanes import LANES
from spclust.core.neighbours import connect, take_logarithms
from spclust.core.point_union import union_with_point
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
    read_mean,
    write_factor,
)
from spclust.core.typicality import relation_odds, relation_odds_of_squares
from spclust.core.union import unite
from spclust.core.workspace import Workspace

POINT = -1  # in place of a slot: the point that is being learnt
POINT_AGE = 2.0  # its age, once weights were refreshed: it has lived through itself
_FLOOR = 1.0  # in units of scale every spread is at least the identity


@paragraph
def merge(older: int, newer: int, s: Structures, work: Workspace) -> None:
    """Merge: the older of two structures takes in the newer one, or the point (E7).

    Writes the footprint of the union to the older one's slot. Modified in place: s, work.
    """
    count, age = 1.0, POINT_AGE
    total = mass = point_mass(s)
    if newer == POINT:
        copy_matrix(work.x, work.mu)
    else:
        read_mean(newer, s, work.mu)
        count, age, total, mass = s.count[newer], s.age[newer], s.total[newer], s.mass[newer]
    share = newer_share(s.head[GAMMA], s.count[older], count)
    step_to_merged_mean(older, share, s, work)  # Eq. 10
    Sigma, other = s.Sigma[older], s.Sigma[max(newer, 0)]  # the point has none in the set
    united = False
    if count == 1.0 or s.count[older] == 1.0:
        if count > 1.0:  # it is the older one that is a single point
            copy_matrix(other, Sigma)
            share = 1.0 - share
        united = union_with_point(Sigma, work.e, share, work.union)  # Eq. 14 to 16
        if not united:
            other = work.union.R
            write_identity(other)
    if not united:
        delta1, delta2 = work.union.v, work.union.w
        for c in range(work.e.size):
            delta1[c], delta2[c] = share * work.e[c], (share - 1.0) * work.e[c]
        unite(Sigma, delta1, other, delta2, _FLOOR)  # Eq. 14 to 16
    s.total[older] = merged_total(s.total[older], total, s.head[BETA], age)  # Eq. 12
    s.mass[older] = merged_total(s.mass[older], mass, s.head[BETA], age)  # Eq. 9
    s.age[older] += age
    s.count[older] += count
    s.head[MERGED] += 1


@leaf
def point_mass(s: Structures) -> float:
    """Mass, and total, of a point that has lived through itself: its weight stays 1. Eq. 13."""
    return updated_total(1.0, 1.0, np.exp(-s.head[BETA]))


@leaf
def step_to_merged_mean(older: int, share: float, s: Structures, work: Workspace) -> None:
    """Mean of the union of `older` and a newer structure, whose mean is work.mu. Eq. 10.

    Also work.e, the offset of the newer mean from the older one. Modified in place: s, work.
    """
    b, lane = older // LANES, older % LANES
    for c in range(work.e.size):
        anchors = work.mu[0, c] - s.anchor[b, c, lane]
        drifts = work.mu[1, c] - s.drift[b, c, lane]
        work.e[c] = difference(anchors, drifts, work.unit)
        step = work.e[c] * s.head[SCALE]
        s.drift[b, c, lane] = merged_mean(s.drift[b, c, lane], step, share)


@paragraph
def relate(slot: int, s: Structures, work: Workspace) -> None:
    """Factor a structure that changed, and measure it against all others, both ways.

    Modified in place: s, work.
    """
    R, inverse = work.union.R, work.union.inverse
    shifted_cholesky(s.Sigma[slot], 0.0, _FLOOR, R, inverse)
    raise_diagonal(s.Sigma[slot], R)
    invert_transposed(R, inverse, work.W)
    write_factor(slot, s.whiten, work.W)
    read_mean(slot, s, work.mu)
    live = int(s.head[LIVE])
    distances_of_point(work.mu, s, live, work.unit, work.to_all, work.offset)
    distances_in_structure(work.mu, work.W, s, live, work.unit, work.to_all, work.offset)
    fill_all_odds(s, work)
    connect(slot, work.to_all, s)


@leaf
def fill_all_odds(s: Structures, work: Workspace) -> None:
    """Odds of all distances, and of the pairs. Modified in place: work; s if in logs from now on.

    Odds become logarithms, once and for all, where they leave the range of floating point.
    """
    live, p = int(s.head[LIVE]), s.head[EXPONENT]
    s.head[EVALUATIONS] += 2 * live
    in_logs = s.head[IN_LOGS] == 1.0
    if p == 2.0 and not in_logs:
        in_range = relation_odds_of_squares(work.to_all, live)
    else:
        in_range = relation_odds(work.to_all, p, in_logs, live)
    if not in_range:
        take_logarithms(s)
        s.head[IN_LOGS] = 1.0
        relation_odds(work.to_all, p, True, live)
