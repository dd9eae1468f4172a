"""The set S of the automatic mode: masses, means, scatters and the metric, in one block of memory.

Coordinates. A point x is learnt as y = (x - origin) / unit - displacement. There is one unit for
each feature, a power of two, so that no digit is lost and no square overflows. The displacement is
that of an origin that moves with the stream (`auto.common_drift`). `mean` and `scatter` are in
coordinates. Distances are measured in the metric: z = A y, with A lower triangular (`metric`). The
z of the means are stored in blocks of eight slots, as `numerics.eight` reads them: slot i is lane
i % 8 of block i // 8.

Masses. A point that arrives has the mass `point_mass`, which doubles with every half-life; no mass
is ever multiplied by a decay. The faded count of a structure is mass / point_mass. If points have
weights, `point_mass` is the mass of one that has the mean weight of all that are remembered.
"""

from typing import Any

import numpy as np
from numba.extending import intrinsic

from spclust.array_types import Floats, Integers
from spclust.jit.decorators import COMPILED, part
from spclust.numerics.eight import LANES
from spclust.parameters import Params
from spclust.state.kinds import FULL
from spclust.state.record import Array, Extent, Flag, Integer, Real, Record, RecordType

RECENT = 1000  # points whose distances calibrate the typicality
LONGEST_TIME = 1e100  # between two arrivals: its square is a number


class AutomaticStructures(Record):
    """Parameters, counters, structures, clusters and metric of the automatic mode."""

    # Parameters
    capacity = Integer(constant=True)  # N
    half_life = Real(constant=True)  # in points, or in the unit of time stamps; infinite without
    exponent = Real(constant=True)  # 1 / (m - 1)
    diagonal = Flag(constant=True)  # scatters have no covariances, and the metric is a diagonal

    # What has happened so far
    live = Integer()  # structures
    seen = Integer()  # points learnt
    merged = Integer()  # merges
    removed = Integer()  # points of structures that were removed
    measured = Integer()  # distances computed while learning
    rescans = Integer()  # searches for another partner
    timed = Flag(constant=True)  # points have time stamps
    clock = Real()  # the last time stamp
    drift_clock = Real()  # points, or time, since the first; a silence is a half-life at most
    point_mass = Real()  # mass of the last point, if it has the mean weight
    weighted = Flag(constant=True)  # points had different weights
    mean_weight = Real()  # of the points that are remembered
    renewal_due = Integer()  # points learnt when what is forgotten is removed
    metric_due = Integer()  # points learnt when the metric, too, is renewed
    calm = Integer()  # renewals of the metric are due as many times later: nothing has changed
    near = Integer()  # of the last points, those nearer home than `home_median`
    strange = Integer()  # and those farther from it than `home_rare`
    agreeing = Integer()  # windows whose drift agrees: see `auto.common_drift`
    drift_evidence = Real()  # sum of squared offsets in time that `drift` was found from
    window_began = Real()  # time at which the last window ended
    home_median = Real()  # just below the median of squared distances from home, at a renewal
    home_rare = Real()  # just above their quantile of 95 %
    clusters = Integer()  # clusters that structures were assigned to at the last reading
    groups = Integer()  # the same when the last window of the drift ended
    point_is_strange = Flag()  # it is farther from home than `home_rare`
    point_cluster = Integer()  # cluster of the structure that is nearest to the last point
    point_group = Integer()  # and its group

    # Lengths of axes
    n = Extent()  # slots
    blocks = Extent()  # n / 8
    d = Extent()  # features
    rows = Extent()  # of a scatter: d, or 1
    recents = Extent()

    # Structures, a slot each
    z = Array("blocks d 8")  # mean in the metric
    mean = Array("n d")  # in coordinates
    scatter = Array(
        "n rows d"
    )  # sum of masses times squared offsets from the mean; or its diagonal
    mass = Array("n")
    time = Array("n")  # mean arrival of its points, by `drift_clock`
    count = Array("n")  # points absorbed
    id = Array("n", np.int64)  # number of the point that founded it
    cluster = Array("n", np.int64)  # index of its cluster at the last reading
    group = Array("n", np.int64)  # that of when the last window ended, or NO_GROUP
    missed = Array("n")  # points that it should have had since its last one, until `clock_then`
    clock_then = Array("n")  # the clock of its cluster when `missed` was computed
    reach = Array("n")  # squared distance within which it finds enough mass: see `auto.home`

    # Costs of merging two structures
    least = Array("n")  # smallest cost of a structure with any other
    partner = Array("n")  # slot of the structure that this is the cost with

    # Clusters, as they were read last
    cluster_mass = Array("n")
    cluster_clock = Array("n")  # grows by 1 / mass with each point of the cluster

    # Points that arrived in the window, by groups: a regression of their places on their times
    arrivals = Array("n")  # points
    arrival_time = Array("n")  # their mean time
    arrival_squares = Array("n")  # sum of squared offsets from it
    arrival_place = Array("n d")  # their mean place
    arrival_motion = Array("n d")  # sum of products of both offsets
    arrival_scatter = Array("n d")  # sum of squared offsets from the mean place

    # Common to all structures
    origin = Array("d")  # in the unit of the data
    unit = Array("d")  # length of a coordinate of 1, in the unit of the data; 0 if not known yet
    metric = Array("rows d")  # A, lower triangular; or its diagonal
    displacement = Array("d")  # of the origin, in coordinates
    velocity = Array("d")  # of the origin, in coordinates a point, or a unit of time
    drift = Array("d")  # velocity of the clusters, by the windows that agree
    width = Array("d")  # standard deviation of most points, in coordinates
    recent = Array("recents")  # squared distances of the last points from home: see `auto.home`

    # Working memory
    point = Array("d")  # the point, in coordinates
    point_z = Array("d")  # the point, in the metric
    point_distance = Array("n")  # squared distances to all structures
    point_cost = Array("n")  # costs of merging it with each
    slot_cost = Array("n")  # costs of a structure that has changed
    spare_cost = Array("n")  # costs of one whose partner has changed


def automatic_in_kernel(memory: Any) -> AutomaticStructures:
    """Name the parts of a state. Kernels start with it."""
    return AutomaticStructures(memory)


if COMPILED:

    @intrinsic
    def automatic_in_kernel(typingctx: Any, memory: Any) -> Any:
        """The same in compiled code."""
        record = RecordType(AutomaticStructures, {}, {})

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return record(memory), build


def axes_of(capacity: int, d: int, *, diagonal: bool) -> dict[str, int]:
    """Lengths of the axes of a state."""
    n = (capacity + LANES - 1) // LANES * LANES
    return {"n": n, "blocks": n // LANES, "d": d, "rows": 1 if diagonal else d, "recents": RECENT}


def empty_automatic(params: Params, d: int) -> AutomaticStructures:
    """The state before the first point."""
    diagonal, capacity = params.kind != FULL, params.n_structures
    s: AutomaticStructures = AutomaticStructures.empty(axes_of(capacity, d, diagonal=diagonal))
    s.capacity, s.diagonal = capacity, diagonal
    s.half_life, s.exponent = params.half_life, params.exponent
    s.point_mass, s.mean_weight = 1.0, 1.0
    s.clusters = s.groups = 1
    s.calm, s.home_rare = 1, np.inf
    s.renewal_due = s.metric_due = 2
    s.metric[:] = 1.0 if diagonal else np.eye(d)
    s.least[:] = s.reach[:] = s.recent[:] = np.inf
    s.partner[:] = -1
    return s


def write_z(s: AutomaticStructures, z: Floats) -> None:
    """Make z (k, d) the means of the first k slots in the metric. Modified in place: s."""
    slots = np.arange(len(z))
    s.z[slots // LANES, :, slots % LANES] = z


def read_z(s: AutomaticStructures, slots: Integers) -> Floats:
    """Means (k, d) of some slots in the metric."""
    z: Floats = s.z[slots // LANES, :, slots % LANES]
    return z


def scatter_by_feature(s: AutomaticStructures, slots: Integers) -> Floats:
    """Diagonals (k, d) of the scatters in some slots: masses times variances."""
    scatter = s.scatter[slots]
    diagonals: Floats = scatter[:, 0] if s.diagonal else np.einsum("kcc->kc", scatter)
    return diagonals


@part
def missed_points(slot: int, s: AutomaticStructures) -> float:
    """How many points of its cluster a structure should have had since its last one."""
    clock = s.cluster_clock[s.cluster[slot]]
    return s.missed[slot] + s.mass[slot] * (clock - s.clock_then[slot])


@part
def time_between(earlier: float, later: float) -> float:
    """How long after one time another one is: so long at most that its square is a number."""
    return min(max(later - earlier, -LONGEST_TIME), LONGEST_TIME)
