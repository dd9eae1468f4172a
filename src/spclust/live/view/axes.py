"""The two axes of the page: two features, or a projection of all of them."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats
from spclust.inspection.principal_axes import (
    principal_axes,
    standardised_means,
    turned,
    upright,
)

_WORSE = 0.8  # share of what the best axes would show, below which they are taken instead


class View(NamedTuple):
    """What a reader wants to see: two features by name, or what the service chooses."""

    x: str | None = None
    y: str | None = None


PROJECTION = View("", "")


class Axes(NamedTuple):
    """Two axes in the space of the features."""

    matrix: Floats  # (2, d)
    names: tuple[str, str]
    is_projection: bool


def default_view(names: list[str]) -> View:
    """The features themselves, if there are two or one, else a projection."""
    return View(names[0], names[-1]) if len(names) <= 2 else PROJECTION


def feature_axes(view: View, names: list[str]) -> Axes:
    """The axes of two features; ValueError if one of them is not there."""
    matrix, found = np.zeros((2, len(names))), []
    for row, name in enumerate((view.x, view.y)):
        if name not in names:
            raise ValueError(f"There is no feature {name!r}: there are {', '.join(names[:20])}.")
        matrix[row, names.index(name)] = 1.0
        found.append(name)
    return Axes(matrix, (found[0], found[1]), is_projection=False)


class Projection:
    """The two axes along which the structures differ most, each feature in its own unit.

    They stay as they are until others show far more: a picture whose axes turn cannot be read.
    """

    def __init__(self) -> None:
        self._matrix: Floats | None = None  # (2, d)

    def axes(self, mean: Floats, weight: Floats) -> Axes:
        """The axes for structures with means (k, d) and weights (k,)."""
        weighted, unit = standardised_means(mean, weight)
        best, before = principal_axes(weighted), self._matrix
        if before is None or before.shape != best.shape:
            self._matrix = upright(best) / unit
        elif _shown(before * unit, weighted) < _WORSE * _shown(best, weighted):
            self._matrix = turned(best, np.sum(best * before * unit, axis=1)) / unit
        matrix = best if self._matrix is None else self._matrix
        return Axes(matrix, ("projection 1", "projection 2"), is_projection=True)


def _shown(axes: Floats, weighted: Floats) -> float:
    """The variance of rows (k, d) in the plane of axes (2, d)."""
    plane = np.linalg.qr(axes.T)[0]
    return float(np.sum((weighted @ plane) ** 2))
