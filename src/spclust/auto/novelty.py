"""Novelty: how far from its nearest structure a row is that belongs to no cluster.

Scattered outliers are structures, too, and what is near them need not belong to their cluster. So
only structures of three points or more are solid, and a row is novel if its NLT, by the distance to
the nearest solid structure, is above a limit. Where little is remembered, so that structures of
fewer points have more than three tenths of all, each structure counts as solid.

One limit for all clusters would be wrong: in a cluster that is much wider than most, its own rows
are that far from each other. So a row is measured by the width of the cluster of its nearest
structure, if that is wider than most: q / w in place of q, where

    w = max(1, reach^2 of the cluster / reach^2 of all)

and both are medians of structures by mass. With Eq. 1 that is another limit of the NLT.

The NLT is calibrated as the typicality is (`auto.home`), but without the strange ones of recent
points if a fiftieth is strange: a limit that few usual rows exceed depends most on the rarest ones.
"""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.home import calibrated_nlt, calibration
from spclust.jit.decorators import kernel, outlined
from spclust.state.automatic_structures import AutomaticStructures

_FEWEST_POINTS = 3.0  # of a solid structure: a point, and a pair, may be outliers
_STRANGE = 0.98  # quantile of recent distances: if it is strange, a fiftieth are outliers
_MOST_LIGHT = 0.3  # of all points in structures of fewer: with more all structures are small


def are_solid(count: Floats) -> Booleans:
    """True (k,) for structures whose faded counts (k,) are no outliers; all, if most are small."""
    solid: Booleans = count >= _FEWEST_POINTS
    if count[~solid].sum() > _MOST_LIGHT * count.sum():
        solid = np.ones_like(solid)
    return solid


def novelty_nlt(q: Floats, s: AutomaticStructures) -> Floats:
    """NLT (n,) of rows by their squared distances (n,) to the nearest solid structure."""
    return calibrated_nlt(q, s, _STRANGE)


def novelty_limits(s: AutomaticStructures, labels: Integers, nlt: float) -> Floats:
    """The NLT (k,) above which a row is novel whose nearest structure is each one, oldest first.

    By its distance to the nearest solid structure. `nlt` is that of clusters which are no wider
    than most; `labels` (k,) are those of structures.
    """
    widths, limits = relative_widths(s, labels), np.full(s.live, nlt)
    if widths.max() > 1.0:
        _, power = calibration(s, _STRANGE)
        of_width = power * s.exponent * np.log(widths)
        limits = np.logaddexp(0.0, np.log(np.expm1(nlt)) + of_width)
    return limits


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
