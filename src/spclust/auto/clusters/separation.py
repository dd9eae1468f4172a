"""Separation: whether two groups of structures are two clusters, or one cut in two.

Both are projected onto the line through their centres, in many dimensions onto their discriminant
(`discriminant`). There the density of their points is the sum of a normal density for each
structure, with its mass and its variance along the line, in many dimensions that of an average
direction, widened by a bandwidth. Two clusters have a valley between two peaks. How much deeper it
is than counting explains: with the kernels K_p and K_v of the structures at the lower peak and in
the valley, the difference sum n (K_p - K_v) has the variance sum n (K_p - K_v)^2, because the
number of points of a structure is a Poisson variable. The largest ratio between the centres is
`separation`; beyond them a ring would have peaks.

In many dimensions the same test finds clusters that touch: a cluster is divided into halves, by
2-means, if they are separate (`divide_by_halves`). But a cluster whose density is a product, with a
valley along many directions, would be divided without an end. So it stays whole if what divides one
half divides the other one, too.

A group of few structures shows the gaps between them. So in more than three dimensions a valley
beside it separates only if almost nothing is in it.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.border import RESOLVED, RIPPLE
from spclust.auto.clusters.discriminant import apart_beyond_chance, turn
from spclust.jit.decorators import allocating, kernel, outlined
from spclust.numerics.cholesky import dot
from spclust.numerics.euclidean_distances import square_distance

_PLACES = 41  # along the line, where the density is computed
_NEGLIGIBLE = 40.0  # e^-40 is no density
_FEWEST_STRUCTURES = 4  # structures of a cluster that is divided
FEWEST_WITHOUT_GAPS = 4  # structures of a group: fewer show the gaps between them
# What a valley that separates has at most of the density of the lower peak:
DEEP = 0.5
SHALLOW = 0.55  # in more dimensions than borders show valleys in
EMPTY = 0.1  # of the density of the lower peak: with less there is nothing between two groups
_STEPS = 20  # of 2-means, at most


class Placement(NamedTuple):
    """Where structures are in the metric, and how their points scatter around them."""

    z: Floats  # (k, d) means
    mass: Floats  # (k,) faded counts
    variance: Floats  # (k,) of the points, a direction on average
    covariance: Floats  # (k, d, d) of the points; (k, 0, 0) in many dimensions


@allocating
def separation_of(a: int, b: int, labels: Integers, placed: Placement) -> tuple[float, float]:
    """`separation` of two groups on the line through their centres, or on their discriminant."""
    z, mass = placed.z, placed.mass
    k, many, d = labels.size, 0, placed.z.shape[1]
    for i in range(k):
        many += int(labels[i] == a or labels[i] == b)
    start, end = centre(a, labels, placed), centre(b, labels, placed)
    place, variance, n = np.empty(many), np.empty(many), np.empty(many)
    second, member = np.empty(many, np.bool_), np.empty(many, np.int64)
    line, offset = np.empty(d), np.empty((many, d))
    for c in range(d):
        line[c] = end[c] - start[c]
    many = 0
    for i in range(k):
        if labels[i] == a or labels[i] == b:
            member[many], second[many] = i, labels[i] == b
            n[many], variance[many] = mass[i], placed.variance[i]
            for c in range(d):
                offset[many, c] = z[i, c] - (end[c] if second[many] else start[c])
            many += 1
    nearer = 1.0
    if d > RESOLVED:
        nearer = apart_beyond_chance(line, offset, variance, n, second)
        if nearer > 0.0:
            turn(line, offset, variance, n)
    length = np.sqrt(dot(line, line, 0))
    if length == 0.0 or nearer == 0.0:
        return 0.0, 1.0
    for c in range(d):
        line[c] /= length
    by_chance = (1.0 - nearer) * (dot(line, end, 0) - dot(line, start, 0))
    for i in range(many):
        place[i] = dot(line, z[member[i]], 0) - (by_chance if second[i] else 0.0)
    if d <= RESOLVED:
        for i in range(many):
            variance[i] = variance_along(line, placed.covariance[member[i]])
    return separation(place, variance, n, second)


@allocating
def centre(label: int, labels: Integers, placed: Placement) -> Floats:
    """Mean (d,) of the structures with a label."""
    z, mass = placed.z, placed.mass
    total, found = 0.0, np.empty(z.shape[1])
    for c in range(found.size):
        found[c] = 0.0
    for i in range(labels.size):
        if labels[i] == label:
            total += mass[i]
            for c in range(found.size):
                found[c] += mass[i] * z[i, c]
    for c in range(found.size):
        found[c] /= total
    return found


@outlined
def variance_along(line: Floats, covariance: Floats) -> float:
    """Variance of the points of a structure along a line (d,) of length 1."""
    total = 0.0
    for r in range(line.size):
        total += line[r] * dot(line, covariance[r], 0)
    return max(total, 0.0)


@allocating
def separation(place: Floats, variance: Floats, n: Floats, second: Booleans) -> tuple[float, float]:
    """How much deeper a valley is than counting explains, and the density in the emptiest one.

    The first in standard deviations, the second as a share of the lower peak.

    Of structures at places (k,) on a line, with variances (k,) and masses n (k,), in two groups.
    """
    k = place.size
    mass1, mass2, low, high, within = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        if second[i]:
            mass2 += n[i]
            high += n[i] * place[i]
        else:
            mass1 += n[i]
            low += n[i] * place[i]
    low, high = low / mass1, high / mass2
    for i in range(k):
        offset = place[i] - (high if second[i] else low)
        within += n[i] * (variance[i] + offset * offset)
    within /= mass1 + mass2
    step = (high - low) / (_PLACES - 1)
    if not step * step > 0.0:  # both centres are in one place
        return 0.0, 1.0
    # The bandwidth that is best for a normal density of so many points, but for a factor near 1;
    # so wide that copies of one point are seen from the nearest place.
    bandwidth = max(within * min(mass1, mass2) ** -0.4, 0.25 * step * step)
    K, density = np.empty((_PLACES, k)), np.empty(_PLACES)
    for g in range(_PLACES):
        density[g] = 0.0
    for i in range(k):
        write_normal_density((low - place[i]) / step, variance[i] + bandwidth, step, K[:, i])
        for g in range(_PLACES):
            density[g] += n[i] * K[g, i]
    return deepest_valley(density, K, n)


@outlined
def write_normal_density(start: float, width: float, step: float, K: Floats) -> None:
    """A normal density around 0 at the places start, start + 1, ..., in units of a step.

    `width` is its variance, not in that unit. From one place to the next the density changes by a
    factor, which itself changes by a factor: four exponentials are enough. Modified in place: K.
    """
    nearest = int(min(max(-start, 0.0) + 0.5, K.size - 1.0))
    offset, square = start + nearest, step * step / width
    change = np.exp(-square)
    x = 0.5 * offset * offset * square
    K[nearest] = np.exp(-x) / np.sqrt(width) if x < _NEGLIGIBLE else 0.0
    up, down = np.exp(-square * (0.5 + offset)), np.exp(-square * (0.5 - offset))
    for g in range(nearest + 1, K.size):
        K[g] = K[g - 1] * up
        up *= change
    for g in range(nearest - 1, -1, -1):
        K[g] = K[g + 1] * down
        down *= change


@allocating
def deepest_valley(density: Floats, K: Floats, n: Floats) -> tuple[float, float]:
    """The largest ratio of a depth to its standard deviation, and the least share of a peak."""
    places = density.size
    peak_after = np.empty(places, np.int64)
    highest = places - 1
    for g in range(places - 1, -1, -1):
        highest = g if density[g] > density[highest] else highest
        peak_after[g] = highest
    best, emptiest, before = 0.0, 1.0, 0
    for g in range(1, places - 1):
        before = g - 1 if density[g - 1] > density[before] else before
        after = peak_after[g]
        peak = before if density[before] < density[after] else after
        if density[g] >= density[peak]:
            continue
        depth, variance = 0.0, 0.0
        for i in range(n.size):
            difference = K[peak, i] - K[g, i]
            depth += n[i] * difference
            variance += n[i] * difference * difference
        ripple = RIPPLE * density[peak]
        best = max(best, (depth - ripple) / np.sqrt(variance + 1e-300))
        emptiest = min(emptiest, density[g] / density[peak])
    return best, emptiest


def divide_by_halves(labels: Integers, placed: Placement, limit: float, share: float) -> Integers:
    """Labels (k,) after clusters whose halves are separate were divided, until none has any."""
    labels, at = labels.copy(), 0
    while at <= labels.max():
        half = halves_of(at, labels, placed)
        fewest = min(int((half == 0).sum()), int((half == 1).sum()))
        apart = are_apart(half, placed, limit, share if fewest >= FEWEST_WITHOUT_GAPS else EMPTY)
        if apart and not is_product(half, placed, limit, share):
            labels[half == 1] = labels.max() + 1
        else:
            at += 1
    return labels


@kernel
def halves_of(label: int, labels: Integers, placed: Placement) -> Integers:
    """Half (k,), 0 or 1, of each structure with a label, by 2-means; -1 for all others.

    It begins with the structures that weigh most at a distance from the mean, and from each other.
    """
    z, half, many = placed.z, np.empty(labels.size, np.int64), 0
    for i in range(labels.size):
        half[i] = -1
        many += int(labels[i] == label)
    if many < _FEWEST_STRUCTURES:
        return half
    first = weightiest(label, labels, placed, centre(label, labels, placed))
    low, high = z[first], z[weightiest(label, labels, placed, z[first])]
    for _ in range(_STEPS):
        changed, seconds = False, 0
        for i in range(labels.size):
            if labels[i] == label:
                nearer = int(square_distance(z[i], high) < square_distance(z[i], low))
                changed |= nearer != half[i]
                half[i] = nearer
                seconds += nearer
        if not changed or seconds in (0, many):
            break
        low, high = centre(0, half, placed), centre(1, half, placed)
    return half


@outlined
def weightiest(label: int, labels: Integers, placed: Placement, place: Floats) -> int:
    """The structure with a label whose mass times squared distance from a place is largest."""
    best, most = -1, -1.0
    for i in range(labels.size):
        if labels[i] == label:
            weight = placed.mass[i] * square_distance(placed.z[i], place)
            if weight > most:
                best, most = i, weight
    return best


def are_apart(half: Integers, placed: Placement, limit: float, share: float) -> bool:
    """True if a valley separates two halves (k,)."""
    if not (half == 0).any() or not (half == 1).any():
        return False
    ratio, in_valley = separation_of_halves(half, placed)
    return bool(ratio > limit and in_valley < share)


@kernel
def separation_of_halves(half: Integers, placed: Placement) -> tuple[float, float]:
    """`separation` of two halves (k,) on the line through their centres."""
    return separation_of(0, 1, half, placed)


def is_product(half: Integers, placed: Placement, limit: float, share: float) -> bool:
    """True if the plane that divides one of two halves (k,) divides the other one, too."""
    for side in range(2):
        quarter = halves_of(side, half, placed)
        if are_apart(quarter, placed, limit, share):
            other = divided_alike(1 - side, half, quarter, placed)
            if are_apart(other, placed, limit, share):
                return True
    return False


@kernel
def divided_alike(side: int, half: Integers, quarter: Integers, placed: Placement) -> Integers:
    """One side of halves (k,) divided by the plane between two quarters (k,); -1 for all others."""
    z, other = placed.z, np.empty(half.size, np.int64)
    low, high = centre(0, quarter, placed), centre(1, quarter, placed)
    for i in range(half.size):
        nearer = int(square_distance(z[i], high) < square_distance(z[i], low))
        other[i] = nearer if half[i] == side else -1
    return other
