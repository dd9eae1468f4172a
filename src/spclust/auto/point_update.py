"""The online phase of the automatic mode, from the top down: what one point changes.

Follow one point: `learn_points` hands it to `update`. Masses of older points fade (`pass_time`).
Its distances to all structures are measured (`measure_point`), and the clock of the nearest cluster
advances (`note_arrival`). While there are fewer than N structures it becomes a structure of its
own. Otherwise the two structures that cost least to merge are merged, the point being one of them:
either a structure absorbs the point, or two structures become one and the point gets the free slot.

Every so many points what is forgotten is removed (`auto.removal`), and the metric and the clusters
are renewed (`auto.renewal`).
"""

import numpy as np

from spclust.array_types import Floats
from spclust.auto.common_drift import FAR, NO_GROUP, add_arrival, move_origin
from spclust.auto.home import (
    distance_from_home,
    into_metric,
    reach_of_point,
    write_coordinates,
    write_distances,
)
from spclust.auto.merge_cost import (
    cheapest_pair,
    connect_point,
    measure_costs,
    merge_costs,
    refresh_costs,
)
from spclust.auto.moments import add_moments, add_point, write_point
from spclust.auto.removal import leave_cluster, remove_forgotten, restart_clocks
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import LANES, load, same, store
from spclust.numerics.smallest import NOWHERE, first_smallest
from spclust.state.automatic_structures import (
    LONGEST_TIME,
    AutomaticStructures,
    missed_points,
)
from spclust.state.structures import POINT

_LARGEST_POINT_MASS = 2.0**20  # then all masses are divided by a power of two, which is exact
_SMALLEST_POINT_MASS = 2.0**-20  # with weights only: the mean weight has become smaller
_LONGEST_GAP = 500.0  # half-lives: what is older has no influence left
_LEAST_MASS = 1e-100  # of a structure that faded long ago
# Of N points, what shows that the stream has changed: a twentieth should be strange, half near.
_STRANGE, _NEAR = 0.2, 0.8


@part
def learn_points(rows: int, X: Floats, s: AutomaticStructures) -> int:
    """Learn the rows of X until a renewal is due, or one cannot be learnt yet.

    X holds just so many rows, one after the other, each behind its time stamp and its weight, if
    points have them; if not, none is learnt. Returns the number of rows learnt. A row is not learnt
    if it is not finite, or if it is the first to differ in a feature, which then needs a unit.
    Modified in place: s.
    """
    width = s.timed + s.weighted + s.d
    if X.size != rows * width or (X.size > 1 and X.strides[0] != X.itemsize):
        return 0
    for row in range(rows):
        start = row * width
        if s.seen >= s.renewal_due and not (is_finite(X, start, s) and forget(s)):
            return row
        if not write_coordinates(X, start + s.timed + s.weighted, s.point, s):
            return row
        if s.seen > 0:
            pass_time(X[start], s)
        unweighted = s.point_mass
        if s.weighted:
            unweighted = weigh(X[start + s.timed], s)
        update(s)
        s.point_mass = unweighted
    return rows


@part
def is_finite(X: Floats, start: int, s: AutomaticStructures) -> bool:
    """True if all numbers of the row at `start` are finite. If not, nothing may change."""
    finite = True
    for c in range(s.timed + s.weighted + s.d):
        finite &= abs(X[start + c]) < np.inf
    return finite


@part
def forget(s: AutomaticStructures) -> bool:
    """Remove what is forgotten; False if the metric has to be renewed. Modified in place: s."""
    if s.strange > _STRANGE * s.capacity or s.near > _NEAR * s.capacity:
        s.metric_due = s.seen
    s.near = s.strange = 0
    if s.seen >= s.metric_due:
        return False
    if s.half_life < np.inf:
        remove_forgotten(s)
    s.renewal_due = min(s.seen + s.capacity, s.metric_due)
    return True


@part
def update(s: AutomaticStructures) -> None:
    """Learn the point s.point. Modified in place: s."""
    measure_point(s)
    note_arrival(s)
    keeper, slot, reach = NOWHERE, s.live, 0.0
    if s.live == s.capacity:
        keeper, slot, reach = merge_cheapest(s)
    else:
        reach = reach_of_point(s)
    if slot != NOWHERE:
        insert(slot, reach, s)
    if keeper != NOWHERE:
        refresh_costs(keeper, s)
    s.seen += 1


@part
def merge_cheapest(s: AutomaticStructures) -> tuple[int, int, float]:
    """Merge the two structures that cost least, the point being one: who keeps them.

    And which slot the point gets, NOWHERE if it is merged, and its reach. Modified in place: s.
    """
    older, newer = cheapest_pair(s)
    if newer == POINT:
        absorb(older, s)
        return older, NOWHERE, 0.0
    reach = reach_of_point(s)
    keeper, free = merge(older, newer, s)
    return keeper, free, reach


@part
def pass_time(now: float, s: AutomaticStructures) -> None:
    """Let the masses of all points fade beside that of the next one, which arrives `now`.

    Without time stamps, one point after the last. Modified in place: s.
    """
    gap = 1.0
    if s.timed:
        gap = now - s.clock
        s.clock = now
    step = min(gap, s.half_life, LONGEST_TIME)
    s.drift_clock += step
    if s.half_life < np.inf:
        move_origin(step, s)
        s.point_mass *= 2.0 ** min(gap / s.half_life, _LONGEST_GAP)
        if s.point_mass > _LARGEST_POINT_MASS:
            divide_masses(s)


@outlined
def weigh(weight: float, s: AutomaticStructures) -> float:
    """Let the point that arrives have a weight. Returns the mass of a point of the mean weight.

    The mean is that of all points that are remembered: what is a point, and what a faded count of
    1, does not depend on the unit of the weights. Modified in place: s; its `point_mass` becomes
    that of the point.
    """
    total = 0.0
    for i in range(s.live):
        total += s.mass[i]
    others = total / s.point_mass
    mean = (weight + others * s.mean_weight) / (1.0 + others)
    if s.seen > 0:
        s.point_mass *= mean / s.mean_weight
    s.mean_weight = mean
    if not _SMALLEST_POINT_MASS <= s.point_mass <= _LARGEST_POINT_MASS:
        divide_masses(s)
    mean_mass = s.point_mass
    s.point_mass = max(mean_mass * (weight / mean), _LEAST_MASS)
    return mean_mass


@outlined
def divide_masses(s: AutomaticStructures) -> None:
    """Divide all masses by a power of two, so that a point has one of 1 to 2.

    Clocks start anew: beside the inverse of masses of long ago those of today would not count.
    Modified in place: s.
    """
    restart_clocks(s)
    factor = 2.0 ** -np.floor(np.log2(s.point_mass))
    s.point_mass *= factor
    for i in range(s.live):
        s.mass[i] = max(s.mass[i] * factor, _LEAST_MASS)
        for r in range(s.rows):
            for c in range(s.d):
                s.scatter[i, r, c] *= factor
    for k in range(s.clusters):
        s.cluster_mass[k] = max(s.cluster_mass[k] * factor, _LEAST_MASS)
    measure_costs(s)  # those of masses that are kept from 0 have not changed by the same factor


@part
def measure_point(s: AutomaticStructures) -> None:
    """The point in the metric, its distances, and its costs of merging. Modified in place: s."""
    into_metric(s.point, s.point_z, s)
    write_distances(s.point_z, s.point_distance, s)
    mass, distance, cost = same(s.point_mass), s.point_distance, s.point_cost
    fades = s.half_life < np.inf
    for b in range(0, s.live, LANES):
        store(merge_costs(mass, load(s.mass, b), load(distance, b), fades), cost, b)
    s.measured += s.live


@part
def note_arrival(s: AutomaticStructures) -> None:
    """Keep the distance from home, and advance the clock of the nearest cluster.

    The clock grows by 1 / mass, so that a structure of mass M should have had
    M (clock - clock_then) of its points since then. Modified in place: s.
    """
    cluster = group = 0
    if s.live > 0:
        nearest = first_smallest(s.point_distance, s.id, s.live)
        cluster, group = s.cluster[nearest], s.group[nearest]
    if s.seen > 1:  # before the first renewal there is no metric
        home = distance_from_home(s.point_distance, s)
        s.recent[s.seen % s.recents] = home
        s.near += int(home < s.home_median)
        s.point_is_strange = home > s.home_rare
        s.strange += int(s.point_is_strange)
        group = NO_GROUP if home > FAR * s.home_rare else group
    s.cluster_mass[cluster] += s.point_mass
    s.cluster_clock[cluster] += 1.0 / s.cluster_mass[cluster]
    s.point_cluster, s.point_group = cluster, group
    if s.half_life < np.inf and group != NO_GROUP and not s.point_is_strange:
        add_arrival(s)


@part
def absorb(slot: int, s: AutomaticStructures) -> None:
    """The structure in a slot absorbs the point. Modified in place: s."""
    own, theirs = s.cluster[slot], s.point_cluster
    if own != theirs:
        leave_cluster(theirs, s.point_mass, s)
        s.cluster_mass[own] += s.point_mass
    if s.point_is_strange:
        s.reach[slot] = min(s.reach[slot], reach_of_point(s))
    add_point(slot, s)
    s.missed[slot], s.clock_then[slot] = 0.0, s.cluster_clock[own]
    s.merged += 1


@part
def merge(older: int, newer: int, s: AutomaticStructures) -> tuple[int, int]:
    """Merge two structures; the slot of the heavier one keeps both, the other becomes free.

    Modified in place: s.
    """
    keeper, other = (older, newer) if s.mass[older] >= s.mass[newer] else (newer, older)
    own, theirs = s.cluster[keeper], s.cluster[other]
    if own != theirs:
        leave_cluster(theirs, s.mass[other], s)
        s.cluster_mass[own] += s.mass[other]
    s.missed[keeper] = min(missed_points(keeper, s), missed_points(other, s))
    s.clock_then[keeper] = s.cluster_clock[own]
    s.reach[keeper] = min(s.reach[keeper], s.reach[other])
    add_moments(keeper, other, s)
    s.id[keeper] = s.id[older]
    s.merged += 1
    return keeper, other


@part
def insert(slot: int, reach: float, s: AutomaticStructures) -> None:
    """Give the point a structure of its own. Modified in place: s."""
    write_point(slot, s)
    s.id[slot], s.cluster[slot] = s.seen, s.point_cluster
    s.group[slot] = s.point_group
    s.missed[slot], s.clock_then[slot] = 0.0, s.cluster_clock[s.point_cluster]
    s.reach[slot] = reach
    if slot == s.live:
        s.live += 1
    connect_point(slot, s)
