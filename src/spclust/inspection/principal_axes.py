"""Principal axes of structures: the directions along which their means differ most."""

import numpy as np

from spclust.array_types import Floats


def standardised_means(mean: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Means (k, d) as rows of a PCA, and the unit (d,) of each feature.

    Rows are relative to the common mean, in units of the features, times the root of their share
    in all weights (k,). A unit is the standard deviation of the means, 1 where they are all equal.
    """
    share = weight / weight.sum()
    centred = mean - share @ mean
    deviation = np.sqrt(share @ centred**2)
    unit = np.where(deviation > 0.0, deviation, 1.0)
    return centred / unit * np.sqrt(share)[:, np.newaxis], unit


def principal_axes(weighted: Floats) -> Floats:
    """The first two principal axes (2, d) of rows (k, d), which are 0 where there are no more."""
    found = np.linalg.svd(weighted, full_matrices=False)[2][:2]
    axes = np.zeros((2, weighted.shape[1]))
    axes[: len(found)] = found
    return axes


def turned(axes: Floats, side: Floats) -> Floats:
    """The axes (2, d), each of which points the other way if its side (2,) is negative."""
    other_way: Floats = axes * np.where(side < 0.0, -1.0, 1.0)[:, np.newaxis]
    return other_way


def upright(axes: Floats) -> Floats:
    """The axes (2, d), turned so that the largest coefficient of each is positive."""
    return turned(axes, axes[np.arange(2), np.argmax(np.abs(axes), axis=1)])
