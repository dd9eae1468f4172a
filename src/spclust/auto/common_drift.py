"""Common drift: where all clusters move alike, the origin of coordinates moves with them.

With a half-life only. A cluster that moves leaves a trail, and the trails of several clusters hide
the gaps between them. Seen from an origin that moves with the clusters nothing is left behind:

    y = (x - origin) / unit - displacement       the displacement grows by `velocity` a point

or a unit of time. The velocity is found by regression. In each cluster the places of the points are
regressed on their times of arrival (`add_arrival`). A silence counts for a half-life at most: for
longer the origin does not move on, because nothing is known of the clusters then. Strange points
have no part in it. Nor have clusters that begin far away, because a leap is no motion: a point that
is far from home has no group, nor has the structure that it founds, and points near such structures
are left out until the window ends. A window of arrivals ends at the first renewal at which the mean
slope of all clusters is precise enough (`follow_drift`). As long as the slopes of several windows
agree, up to chance, they are averaged. The origin takes this velocity if

- at least two windows agree, or it moves already;
- it is larger than chance explains; and
- the clusters differ from it by no more than chance explains, or by little.

A feature in which a cluster moves on by a good part of its deviation with every point is left out:
that is the trend of a clock or a counter, and places in it say nothing about clusters.

Velocities are measured by the scatter within clusters, which is that of heavy structures around the
mean of their cluster. When the velocity changes, structures go to where they would be if the origin
had moved so since the window began.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from spclust.array_types import Booleans, Floats
from spclust.auto.metric import NOISE, RIDGE
from spclust.jit.decorators import part
from spclust.state.automatic_structures import (
    LONGEST_TIME,
    AutomaticStructures,
    time_between,
)

_BY_CHANCE = 1e-4  # probability of a slope as large, or as different, that says something
_PRECISE = 0.3  # standard error of a slope, in deviations of a cluster per time that is remembered
_ALIKE = 10.0  # times the squares of how clusters differ, at most what they have in common
FEWEST_WINDOWS = 2  # that agree before the origin begins to move
_SLOW = 0.3  # deviations around its slope, by which a cluster moves on with a point, at most
_HEAVY = 0.5  # of the mean mass of structures
FAR = 4.0**2  # times `home_rare`, squares of distances: farther from home, a leap
_IN_GROUPS = 0.5  # of all mass, that groups have at least: if not, what was measured is gone
NO_GROUP = -1
_OF_WINDOW = (
    "arrivals",
    "arrival_time",
    "arrival_squares",
    "arrival_place",
    "arrival_motion",
    "arrival_scatter",
)


class ScatterWithin(NamedTuple):
    """The scatter within clusters: velocities are measured by it."""

    known: Booleans  # (d,) slow features that vary within clusters
    deviation: Floats  # (known,) within clusters
    precision: Floats  # (known, known) inverse of the correlations within clusters

    def squares(self, velocity: Floats) -> Floats:
        """Squared lengths of velocities (..., d), in standard deviations."""
        u = velocity[..., self.known] / self.deviation
        found: Floats = ((u @ self.precision) * u).sum(axis=-1)
        return found


@part
def move_origin(time: float, s: AutomaticStructures) -> None:
    """Let the origin move on for some time. Modified in place: s, the point included."""
    for c in range(s.d):
        step = s.velocity[c] * time
        s.displacement[c] += step
        s.point[c] -= step


@part
def add_arrival(s: AutomaticStructures) -> None:
    """Add the point to the regression of its cluster. Modified in place: s."""
    group, now = s.point_group, s.drift_clock
    s.arrivals[group] += 1.0
    share = 1.0 / s.arrivals[group]
    if share == 1.0:
        s.arrival_time[group] = now
    before = time_between(s.arrival_time[group], now)  # the mean time is without the point
    s.arrival_time[group] += share * before
    later = before - share * before
    s.arrival_squares[group] += before * later
    for c in range(s.d):
        offset = s.point[c] - s.arrival_place[group, c]
        s.arrival_place[group, c] += share * offset
        s.arrival_motion[group, c] += later * offset
        s.arrival_scatter[group, c] += offset * (offset - share * offset)


def stop_origin(s: AutomaticStructures) -> None:
    """Keep the origin where it is, if nothing is forgotten any more. Modified in place: s."""
    s.velocity[:] = s.drift[:] = 0.0
    s.agreeing, s.drift_evidence = 0, 0.0


def regroup(s: AutomaticStructures) -> None:
    """Let a window begin with the clusters as they are. Modified in place: s."""
    s.group[: s.live], s.groups = s.cluster[: s.live], s.clusters


def is_at_rest(s: AutomaticStructures) -> bool:
    """True if the origin does not move, and is not about to."""
    return not s.velocity.any() and s.agreeing != 1


def follow_drift(s: AutomaticStructures) -> float | None:
    """Follow the drift at a renewal: since when the velocity counts, by `drift_clock`.

    None if no window has ended. Modified in place: s.
    """
    now, began = s.drift_clock, s.window_began
    if are_gone(s):
        begin_window(s, now)
        stop_origin(s)
        return now
    groups = s.arrival_squares > 0.0
    squares, window = s.arrival_squares[groups], now - began
    remembered = s.half_life / np.log(2.0)
    if not remembered <= _PRECISE * np.sqrt(squares.sum()) < np.inf:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # such numbers decide for rest
        slopes = s.arrival_motion[groups] / squares[:, np.newaxis]
        slopes[~np.isfinite(slopes)] = 0.0
        slow = is_slow(s, slopes, groups, window)
        begin_window(s, now)
        velocity = common_velocity(s, slopes, squares, slow, window)
        if not np.array_equal(velocity, s.velocity):
            age = np.clip(now - s.time[: s.live], 0.0, min(window, LONGEST_TIME))
            s.mean[: s.live] += age[:, np.newaxis] * (velocity - s.velocity)
            s.velocity[:] = velocity
    return began


def is_slow(s: AutomaticStructures, slopes: Floats, groups: Booleans, window: float) -> Booleans:
    """True for each feature (d,) in which clusters overlap from one point to the next.

    Of a window with these slopes (groups, d): they are compared with the scatter around them.
    """
    squares, points = s.arrival_squares[groups, np.newaxis], s.arrivals[groups].sum()
    scatter = s.arrival_scatter[groups] - slopes**2 * squares
    around = np.maximum(scatter, 0.0).sum(axis=0) / points
    velocity = s.velocity + (squares * slopes).sum(axis=0) / squares.sum()
    slow: Booleans = np.abs(velocity) * (window / points) <= _SLOW * np.sqrt(around)
    return slow & (around > 0.0)


def are_gone(s: AutomaticStructures) -> bool:
    """True if most points are in no group, but in clusters that began far from all."""
    mass = s.mass[: s.live]
    return bool(mass[s.group[: s.live] != NO_GROUP].sum() < _IN_GROUPS * mass.sum())


def begin_window(s: AutomaticStructures, now: float) -> None:
    """Forget all arrivals. Modified in place: s."""
    s.window_began = now
    for name in _OF_WINDOW:
        s.views[name][:] = 0.0


def common_velocity(
    s: AutomaticStructures, slopes: Floats, squares: Floats, slow: Booleans, window: float
) -> Floats:
    """The velocity (d,) of the origin after a window with these slopes (groups, d) in it.

    `squares` (groups,) are sums of squared offsets in time: how precise slopes are. Features (d,)
    that are not `slow` do not count. Modified in place: s, what is known of the drift.
    """
    by = scatter_within(s, slow)
    s.drift[~by.known] = 0.0
    if not by.known.any():
        s.agreeing, s.drift_evidence = 0, 0.0
        return np.zeros(s.d)
    own = np.where(by.known, s.velocity + slopes, 0.0)
    total = squares.sum()
    found = squares @ own / total
    limit = chdtri(by.deviation.size, _BY_CHANCE)
    s.drift_evidence *= 0.5 ** (window / s.half_life)
    of_both = total * s.drift_evidence / (total + s.drift_evidence)
    if not of_both * by.squares(found - s.drift) <= limit:
        s.agreeing, s.drift_evidence = 0, 0.0
    elif s.agreeing == 1:  # the drift began within the window before: its slopes are of both
        s.drift_evidence = 0.0
    s.agreeing += 1
    s.drift_evidence += total
    s.drift += total / s.drift_evidence * (found - s.drift)
    length = by.squares(s.drift)
    begins = s.agreeing >= FEWEST_WINDOWS or s.velocity.any()
    apart = squares @ by.squares(own - found)
    by_chance = by.deviation.size * (squares.size - 1)
    alike = (
        apart <= chdtri(max(by_chance, 1), _BY_CHANCE)
        or _ALIKE * (apart - by_chance) < total * length
    )
    moves = begins and s.drift_evidence * length > limit and alike
    return s.drift.copy() if moves else np.zeros(s.d)


def scatter_within(s: AutomaticStructures, slow: Booleans) -> ScatterWithin:
    """The scatter within clusters, as they were when the window began, in features (d,)."""
    enough = _HEAVY * s.mass[: s.live].mean()
    heavy = np.flatnonzero((s.mass[: s.live] >= enough) & (s.group[: s.live] != NO_GROUP))
    mass, group, mean = s.mass[heavy], s.group[heavy], s.mean[heavy]
    centre = np.zeros((s.n, s.d))
    np.add.at(centre, group, mass[:, np.newaxis] * mean)
    offset = mean - centre[group] / np.bincount(group, mass)[group, np.newaxis]
    within = (mass[:, np.newaxis] * offset).T @ offset
    scatter = s.scatter[heavy].sum(axis=0)
    within += np.diag(scatter[0]) if s.diagonal else scatter
    widths = np.sqrt(np.diagonal(within) / mass.sum())
    known = slow & (widths > NOISE * np.abs(mean).max(axis=0))
    deviation = widths[known]
    correlation = within[np.ix_(known, known)] / mass.sum() / np.outer(deviation, deviation)
    if s.diagonal:
        correlation = np.eye(deviation.size)
    # As in the metric: the second term keeps thin clusters finite.
    precision = np.linalg.inv(correlation + RIDGE**2 * np.eye(deviation.size))
    return ScatterWithin(known, deviation, precision)
