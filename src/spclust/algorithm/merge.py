"""Merge of Algorithm 1: two structures become one."""

from spclust.algorithm.footprint import fading, merged_mean, merged_total, share_of, updated_total
from spclust.algorithm.typicality import difference
from spclust.jit.decorators import part
from spclust.numerics.eight import LANES
from spclust.state.scratch import Scratch
from spclust.state.structures import POINT, Structures, copy_mean, read_mean


@part
def merge(keeper: int, other: int, s: Structures, work: Scratch) -> bool:
    """Merge: the structure in slot `keeper` becomes the union with another one, or the point.

    False, and nothing changed, if that takes the general union of covariances, which is rare: see
    `merge_in_general`. Modified in place: s, work.
    """
    share = approach(keeper, other, s, work)
    if not s.covariance.unite(keeper, other, share, s, work):
        return False
    join(keeper, other, share, s, work)
    return True


@part
def merge_in_general(keeper: int, other: int, s: Structures, work: Scratch) -> None:
    """Merge by the general union of covariances. Modified in place: s, work."""
    share = approach(keeper, other, s, work)
    s.covariance.unite_in_general(keeper, other, share, s, work)
    join(keeper, other, share, s, work)


@part
def point_damping(s: Structures) -> float:
    """B of a point after its own weight update; also its total: its weight stays 1. Eq. 13."""
    return updated_total(1.0, 1.0, fading(s.beta, s.gap))


@part
def point_age(s: Structures) -> float:
    """Age of a point after its own weight update: twice the time since the point before."""
    return 2.0 * s.gap


@part
def approach(keeper: int, other: int, s: Structures, work: Scratch) -> float:
    """Share of the other one in the merged mean; work.e becomes the offset of its mean.

    Modified in place: work.
    """
    if other == POINT:
        copy_mean(work.x, work.mu)
    else:
        read_mean(other, s, work.mu)
    anchor, drift, lane = s.anchor[keeper // LANES], s.drift[keeper // LANES], keeper % LANES
    mu, e = work.mu, work.e
    for c in range(e.size):
        anchors = mu[0, c] - anchor[c, lane]
        drifts = mu[1, c] - drift[c, lane]
        e[c] = difference(anchors, drifts, s)
    return share_of(other, keeper, s)


@part
def join(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> None:
    """Mean, weight and clocks of the union. Modified in place: s."""
    drift, lane, e = s.drift[keeper // LANES], keeper % LANES, work.e
    for c in range(e.size):
        step = e[c] * s.scale
        drift[c, lane] = merged_mean(drift[c, lane], step, share)  # Eq. 10
    count, recent, age, total = 1.0, 1.0, point_age(s), point_damping(s)
    damping, newer = total, True
    if other != POINT:
        count, recent, age = s.count[other], s.recent[other], s.age[other]
        total, damping, newer = s.total[other], s.damping[other], s.id[other] > s.id[keeper]
    if newer:
        faded = fading(s.beta, age)
        s.total[keeper] = merged_total(s.total[keeper], total, faded)  # Eq. 12
        s.damping[keeper] = merged_total(s.damping[keeper], damping, faded)  # Eq. 9
    else:
        faded = fading(s.beta, s.age[keeper])
        s.total[keeper] = merged_total(total, s.total[keeper], faded)
        s.damping[keeper] = merged_total(damping, s.damping[keeper], faded)
        s.id[keeper] = s.id[other]
    s.age[keeper] += age
    s.count[keeper] += count
    s.recent[keeper] += recent
    s.merged += 1
