"""Moments: mass, mean and scatter of structures, and of what is merged of two.

With f = M2 / (M1 + M2) and the offset e = mu2 - mu1 of the means,

    mu = mu1 + f e          S = S1 + S2 + M1 f e e^T          M = M1 + M2

Both sides enter alike: there is no older and newer one, as in Eq. 10 to 12.
"""

from spclust.array_types import Floats
from spclust.jit.decorators import part
from spclust.numerics.eight import LANES
from spclust.state.automatic_structures import AutomaticStructures, time_between


@part
def write_point(slot: int, s: AutomaticStructures) -> None:
    """Give a slot the moments of the point alone. Modified in place: s."""
    block, lane = s.z[slot // LANES], slot % LANES
    for c in range(s.d):
        s.mean[slot, c] = s.point[c]
        block[c, lane] = s.point_z[c]
        for r in range(s.rows):
            s.scatter[slot, r, c] = 0.0
    s.time[slot] = s.drift_clock
    s.mass[slot], s.count[slot] = s.point_mass, 1.0


@part
def add_point(slot: int, s: AutomaticStructures) -> None:
    """Add the point to the moments of a slot. Modified in place: s."""
    f = s.point_mass / (s.mass[slot] + s.point_mass)
    add_scatter(slot, s.point, s.mass[slot] * f, s)
    block, lane = s.z[slot // LANES], slot % LANES
    for c in range(s.d):
        s.mean[slot, c] += f * (s.point[c] - s.mean[slot, c])
        block[c, lane] += f * (s.point_z[c] - block[c, lane])
    s.time[slot] += f * time_between(s.time[slot], s.drift_clock)
    s.mass[slot] += s.point_mass
    s.count[slot] += 1.0


@part
def add_moments(keeper: int, other: int, s: AutomaticStructures) -> None:
    """Add the moments of another slot to those of `keeper`. Modified in place: s."""
    f = s.mass[other] / (s.mass[keeper] + s.mass[other])
    add_scatter(keeper, s.mean[other], s.mass[keeper] * f, s)
    block, lane = s.z[keeper // LANES], keeper % LANES
    others, other_lane = s.z[other // LANES], other % LANES
    for c in range(s.d):
        s.mean[keeper, c] += f * (s.mean[other, c] - s.mean[keeper, c])
        block[c, lane] += f * (others[c, other_lane] - block[c, lane])
        for r in range(s.rows):
            s.scatter[keeper, r, c] += s.scatter[other, r, c]
    s.time[keeper] += f * time_between(s.time[keeper], s.time[other])
    s.mass[keeper] += s.mass[other]
    s.count[keeper] += s.count[other]


@part
def add_scatter(slot: int, place: Floats, factor: float, s: AutomaticStructures) -> None:
    """Add factor e e^T to a scatter, e being the offset of a place (d,) from the mean.

    Modified in place: s.
    """
    mean, scatter = s.mean[slot], s.scatter[slot]
    for r in range(s.d):
        of_row = factor * (place[r] - mean[r])
        if s.diagonal:
            scatter[0, r] += of_row * (place[r] - mean[r])
        else:
            for c in range(s.d):
                scatter[r, c] += of_row * (place[c] - mean[c])
