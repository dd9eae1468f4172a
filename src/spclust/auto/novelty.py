"""Novelty: how far from its nearest structure a row is that belongs to no cluster.

A row is novel if its NLT, by the distance to the nearest structure, is above a limit. One limit for
all clusters would be wrong: in a cluster that is much wider than most, its own rows are that far
from each other. So a row is measured by the width of the cluster of its nearest structure, if that
is wider than most: q / w in place of q, where

    w = max(1, reach^2 of the cluster / reach^2 of all)

and both are medians of structures by mass. With Eq. 1 that is another limit of the NLT.

Scattered outliers are structures, too, and what is near them need not belong to their cluster. A
structure of fewer than three points is lone if no other one with three is within that limit: a row
at its place would be novel without it. A row whose nearest structure is lone is novel. Where
structures have fewer than three points on average, this says nothing, and none is lone.
"""

import numpy as np
from scipy.spatial.distance import cdist

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.home import calibrated_nlt, calibration
from spclust.jit.decorators import kernel, outlined
from spclust.state.automatic_structures import AutomaticStructures, read_z

FEWEST_POINTS = 3.0  # of a structure that is not lone: a point, and a pair, may be outliers


def novelty_limits(s: AutomaticStructures, labels: Integers, nlt: float) -> Floats:
    """The NLT (k,) above which a row is novel whose nearest structure is each one, oldest first.

    `nlt` is that of clusters which are no wider than most; `labels` (k,) are those of structures.
    Every row is above that of a lone structure.
    """
    widths, limits = relative_widths(s, labels), np.full(s.live, nlt)
    if widths.max() > 1.0:
        _, power = calibration(s)
        of_width = power * s.exponent * np.log(widths)
        limits = np.logaddexp(0.0, np.log(np.expm1(nlt)) + of_width)
    limits[lone_structures(s, limits)] = -np.inf
    return limits


def lone_structures(s: AutomaticStructures, limits: Floats) -> Booleans:
    """True for each structure (k,), oldest first, of few points that is far from all others.

    By the NLT (k,) above which a row is novel that is nearest to it.
    """
    slots = np.argsort(s.id[: s.live])
    z, count = read_z(s, slots), s.mass[slots] / s.point_mass
    light, lone = np.flatnonzero(count < FEWEST_POINTS), np.zeros(s.live, dtype=np.bool_)
    if light.size and count.mean() >= FEWEST_POINTS:
        others = np.ascontiguousarray(z[count >= FEWEST_POINTS])
        squares = cdist(z[light], others, "sqeuclidean").min(axis=1)
        lone[light] = calibrated_nlt(squares, s) > limits[light]
    return lone


def relative_widths(s: AutomaticStructures, labels: Integers) -> Floats:
    """How much wider, as a ratio of squares, (k,) the cluster of each structure is than most."""
    slots = np.argsort(s.id[: s.live])
    reach = s.reach[slots]
    return widths_of(np.ascontiguousarray(labels), reach, s.mass[slots], np.argsort(reach))


@kernel
def widths_of(labels: Integers, reach: Floats, mass: Floats, order: Integers) -> Floats:
    """`relative_widths` (k,) of structures, of which `order` (k,) is that of their reaches."""
    k = labels.size
    widths = np.zeros(k)
    usual = median(-1, labels, reach, mass, order)
    for i in range(k):
        if widths[i] == 0.0:
            width = 1.0
            if labels[i] >= 0 and 0.0 < usual < np.inf:
                width = max(1.0, median(labels[i], labels, reach, mass, order) / usual)
            for j in range(i, k):
                if labels[j] == labels[i]:
                    widths[j] = width
    return widths


@outlined
def median(label: int, labels: Integers, reach: Floats, mass: Floats, order: Integers) -> float:
    """The median of the reaches of a cluster, or, of -1, of all clusters; 0 if there is none."""
    total, upto = 0.0, 0.0
    for i in range(labels.size):
        if labels[i] >= 0 and label in (-1, labels[i]):
            total += mass[i]
    for i in order:
        if labels[i] >= 0 and label in (-1, labels[i]):
            upto += mass[i]
            if upto >= 0.5 * total:
                return reach[i]
    return 0.0
