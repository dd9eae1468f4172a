"""Distances of a point to all structures, and from home; and its typicality by the latter.

    y = (x - origin) / unit - displacement          z = A y          q_i = |z - z_i|^2

The difference to the origin comes first, so that a stream far from 0 loses no digits. q_i is the
squared Mahalanobis distance of Eq. 2, with one covariance for all structures: see `auto.metric`.

Home is where enough points are. A structure's reach is the distance within which it finds 3.5
times the mass that structures have on average, its own included; N / 4 times, if N is small. So a
lone point is no home: its reach ends where other points are. The squared distance of a point from
home is

    q = min over structures of max(|z - z_i|^2, reach_i^2)

Two quantiles of the q of the last points calibrate it, each q taken before the point was learnt: of
the last half-life, or, without one, of the later half of all points; at most 1,000. q is replaced
by the power of it that is 1/5 for the median and 1 for the quantile of 95 %. The latter is that of
the points which are not strange: log(q) is at most four times as far above its median as its
quantile of 80 % is. So up to a fifth of recent points may be outliers, or the first of a new
cluster. With that distance typicality is Eq. 1, odds = q^(1/(m-1)), whatever the unit, N and the
number of features: with m = 1.5, 0.96 for the median of recent points, and less than 1/2 for one in
twenty.
"""

import math

import numpy as np

from spclust.array_types import Floats
from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import (
    LANES,
    larger_of,
    load,
    same,
    smaller_of,
    smallest_of,
    store,
)
from spclust.numerics.smallest import first_smallest, smallest
from spclust.state.automatic_structures import AutomaticStructures

FARTHEST = 1e140  # coordinate: larger ones are taken to be this large
OUT_OF_SIGHT = 1e6  # coordinate of a value that is the first to differ in its feature
_ENOUGH, _SHARE = 3.5, 0.25  # of the mean mass of structures; of N times that, at most
_MEDIAN, _UPPER, _RARE = 0.5, 0.8, 0.95
_STRANGE = 4.0  # times the distance, in logarithms, of the upper quantile from the median
_OF_MEDIAN = 0.2  # what the distance of the median becomes
_LARGEST_POWER = 16.0  # if recent distances hardly differ
_SMALLEST = 1e-300
_TIE = 1e-9  # of a distance: the same reach in two places differs by rounding
_FEWEST = 100  # points whose median says something
_FEWEST_CALIBRATING = 200  # points: ten of them are beyond the quantile of 95 %


@part
def write_coordinates(X: Floats, start: int, y: Floats, s: AutomaticStructures) -> bool:
    """Coordinates y (d,) of the numbers of X from `start` on; False if they cannot be learnt.

    That is if one is not finite, or the first to differ in its feature. Modified in place: y.
    """
    known = True
    for c in range(s.d):
        offset = X[start + c] - s.origin[c]
        if not abs(offset) < np.inf:
            known = False
            offset = np.copysign(FARTHEST, offset)
        elif s.unit[c] > 0.0:
            offset = min(max(offset / s.unit[c], -FARTHEST), FARTHEST) - s.displacement[c]
        elif offset != 0.0:
            known = False
            offset = np.copysign(OUT_OF_SIGHT, offset)
        y[c] = offset
    return known


@part
def into_metric(y: Floats, z: Floats, s: AutomaticStructures) -> None:
    """The point of coordinates y (d,) in the metric: z = A y. Modified in place: z."""
    A = s.metric
    for r in range(s.d):
        if s.diagonal:
            z[r] = A[0, r] * y[r]
        else:
            total = 0.0
            for c in range(r + 1):
                total += A[r, c] * y[c]
            z[r] = total


@part
def write_distances(z: Floats, distance: Floats, s: AutomaticStructures) -> None:
    """Squared distances (n,) of a point z (d,) to all structures. Modified in place: distance."""
    for b in range((s.live + LANES - 1) // LANES):
        total, block = same(0.0), s.z[b]
        for c in range(s.d):
            offset = load(block, c) - z[c]
            total += offset * offset
        store(total, distance, b * LANES)


@part
def distance_from_home(distance: Floats, s: AutomaticStructures) -> float:
    """Squared distance from home of a point, from those to all structures (n,)."""
    least, k = same(np.inf), s.live // LANES * LANES
    for b in range(0, k, LANES):
        least = smaller_of(least, larger_of(load(distance, b), load(s.reach, b)))
    found = smallest_of(least)
    for i in range(k, s.live):
        found = min(found, max(distance[i], s.reach[i]))
    return found


@part
def enough_mass(s: AutomaticStructures) -> float:
    """What a reach includes, in mean masses of structures."""
    return min(_ENOUGH, _SHARE * s.capacity)


@outlined
def reach_of_point(s: AutomaticStructures) -> float:
    """Squared distance within which the point finds enough mass.

    Modified in place: s.point_distance, which is not needed any more.
    """
    total, mass, reach = 0.0, s.point_mass, 0.0
    if s.seen < 2:  # before the first renewal there is no metric
        return reach
    for i in range(s.live):
        total += s.mass[i]
    enough = enough_mass(s) * total
    while mass * s.live < enough:
        nearest = first_smallest(s.point_distance, s.id, s.live)
        if s.point_distance[nearest] == np.inf:
            break
        reach = s.point_distance[nearest]
        mass += s.mass[nearest]
        s.point_distance[nearest] = np.inf
    return reach


@outlined
def find_reaches(s: AutomaticStructures) -> None:
    """Find the reach of every structure. Modified in place: s."""
    live, total_mass, squares = s.live, 0.0, s.point_distance
    for i in range(live):
        total_mass += s.mass[i]
    enough = enough_mass(s) * total_mass
    for i in range(live):
        block, lane, mass, reach = s.z[i // LANES], i % LANES, 0.0, 0.0
        for j in range(live):
            total = 0.0
            for c in range(s.d):
                offset = s.z[j // LANES, c, j % LANES] - block[c, lane]
                total += offset * offset
            squares[j] = total
        while mass * live < enough:
            least = smallest(squares, 0, live)
            if least == np.inf:
                break
            reach = least
            for j in range(live):
                if squares[j] == least:
                    mass += s.mass[j]
                    squares[j] = np.inf
        s.reach[i] = reach


def quantiles(s: AutomaticStructures, points: int, strange: float = _RARE) -> tuple[float, float]:
    """Median, and quantile of 95 %, of the squared distances of so many last points from home.

    Strange points are left out of the latter if there are enough of them: if the quantile of the
    share `strange` is one.
    """
    recent = np.sort(last_distances(s, points))
    if recent.size == 0:
        return 1.0, 1.0
    median, upper, rare = (_quantile(recent, share) for share in (_MEDIAN, _UPPER, _RARE))
    if 0.0 < median * (1.0 + _TIE) < upper:
        try:
            limit = median * (upper / median) ** _STRANGE
        except OverflowError:  # no distance is that large
            limit = math.inf
        if _quantile(recent, strange) > limit:
            rare = _quantile(recent[: np.searchsorted(recent, limit, side="right")], _RARE)
    return median, max(rare, _SMALLEST)


def last_distances(s: AutomaticStructures, points: int) -> Floats:
    """Squared distances from home of so many last points, oldest first, as far as they are kept."""
    ring, seen = s.recent, s.seen
    end = seen % ring.size  # where the next one is written
    start = end - min(points, seen, ring.size)
    last = ring[start:end] if start >= 0 else np.concatenate((ring[start:], ring[:end]))
    distances: Floats = last[last < np.inf]
    return distances


def calibrating_points(s: AutomaticStructures) -> int:
    """How many of the last points calibrate distances, as far as these are kept.

    Those of the last half-life, which is when half of the mass remembered arrived: earlier ones say
    little about what is typical now. Without a half-life the later half: the first points were far
    from all structures.
    """
    remembered = float(s.mass[: s.live].sum()) / s.point_mass
    points = math.log(2.0) * remembered if s.half_life < np.inf else 0.5 * s.seen
    return max(int(points), _FEWEST_CALIBRATING)


def _quantile(ordered: Floats, share: float) -> float:
    """The number that `np.quantile` returns, in a fraction of the time: every query needs it."""
    place = (ordered.size - 1) * share
    i = int(place)
    low, high, part = ordered.item(i), ordered.item(min(i + 1, ordered.size - 1)), place - i
    step = high - low
    found: float = low + step * part if part < 0.5 else high - step * (1.0 - part)
    return found


def latest_median(s: AutomaticStructures) -> float:
    """Median of the squared distances of the last N points from home."""
    return float(np.median(last_distances(s, max(s.capacity, _FEWEST))))


def calibration(s: AutomaticStructures, strange: float = _RARE) -> tuple[float, float]:
    """Scale and power (eta, p) with which (q / eta)^p is the calibrated squared distance."""
    median, rare = quantiles(s, calibrating_points(s), strange)
    ratio = median / rare
    power = _LARGEST_POWER
    if ratio < _OF_MEDIAN ** (1.0 / _LARGEST_POWER):
        power = float(np.log(_OF_MEDIAN) / np.log(max(ratio, _SMALLEST)))
    return rare, power


def calibrated_odds(q: Floats, s: AutomaticStructures) -> Floats:
    """Odds (1 - u) / u of typicalities, of squared distances from home; Eq. 1."""
    eta, power = calibration(s)
    with np.errstate(over="ignore"):  # infinite odds are a typicality of 0
        odds: Floats = (q / eta) ** (power * s.exponent)
    return odds


def calibrated_nlt(q: Floats, s: AutomaticStructures, strange: float = _RARE) -> Floats:
    """Negative log typicality, log(1 + odds), of squared distances from home: finite if these are.

    Odds may overflow where their logarithms do not.
    """
    eta, power = calibration(s, strange)
    with np.errstate(divide="ignore"):
        log_odds = power * s.exponent * (np.log(q) - np.log(eta))
    nlt: Floats = np.logaddexp(0.0, log_odds)
    return nlt
