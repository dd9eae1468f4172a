"""Rounding: features whose values lie on a lattice, such as integers or readings of few digits.

Structures of copies have no width, and between two values of a lattice there is no point: in up to
three dimensions, where the density shows valleys, these gaps would divide every cluster. So when
clusters are computed there, each point of a rounded feature counts as evenly distributed from the
value before its own to the one behind it. The variance of that is a third of the square of the
step. Evenly occupied values then have an even density.

A feature is rounded if a quarter of the structures, and one of several points, have a single value
in it, if these are at least seven values, and if most of the differences between one value and the
next are equal to the smallest one, the step. Fewer values may be classes, which are clusters.
Structures of several values are wide enough.
"""

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.border import RESOLVED
from spclust.state.automatic_structures import AutomaticStructures, scatter_by_feature

_NARROW = 0.25  # of all structures hold one value; wider ones have no gaps between them
_FEWEST_VALUES = 7
_MOST = 0.5  # of all differences: so many are one step
_EQUAL = 1e-6  # of a step; of the range, for values: what rounding errors make of equal numbers


def rounding_variances(s: AutomaticStructures, slots: Integers) -> Floats:
    """Variance (d,) that rounding adds to each feature, in coordinates; 0 if it is not rounded.

    In many dimensions, where borders do not show valleys, it is 0.
    """
    variance = np.zeros(s.d)
    if s.d > RESOLVED:
        return variance
    exact = scatter_by_feature(s, slots) == 0.0
    copied = (exact & (s.count[slots] > 1.0)[:, np.newaxis]).any(axis=0)
    narrow = exact.mean(axis=0) >= _NARROW
    for c in np.flatnonzero(copied & narrow & (s.width > 0.0)):
        variance[c] = step_of(s.mean[slots[exact[:, c]], c]) ** 2 / 3.0
    return variance


def step_of(values: Floats) -> float:
    """The step of the lattice on which values (k,) lie; 0 if they do not lie on one."""
    ordered = np.sort(values)
    differences = np.diff(ordered)
    differences = differences[differences > _EQUAL * (ordered[-1] - ordered[0])]
    if differences.size < _FEWEST_VALUES - 1:
        return 0.0
    step = float(differences.min())
    together = np.mean(differences <= (1.0 + _EQUAL) * step)
    return step if together > _MOST else 0.0
