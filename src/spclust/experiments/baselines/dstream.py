"""D-Stream: density in the cells of a grid (Chen and Tu, 2007)."""

import math
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from spclust.array_types import Booleans, Floats, Integers
from spclust.experiments.baselines.components import (
    components,
    components_with,
    in_order_of_appearance,
)
from spclust.experiments.baselines.euclidean import nearest
from spclust.experiments.baselines.grid import Grid
from spclust.experiments.baselines.ranges import LENGTH, integer, number, word
from spclust.experiments.baselines.stream_clusterer import Offline, StreamClusterer
from spclust.parameters import Parameter

_LARGEST_FLOAT = int(sys.float_info.max)


class DStream(StreamClusterer):
    """D-Stream: densities in the cells of a grid; clusters are dense cells that touch.

    Every point adds 1 to the density of its cell; all densities fade. A cell is dense if it has
    at least `dense` times the mean density of all cells, sparse if it has at most `sparse` times
    that, and transitional otherwise. Sparse cells with too few points are removed periodically.

    Parameters
    ----------
    side : float, default 1.0
        Side of a cell, in the unit of the data.
    decay : float, default 0.998
        Factor by which every density fades for each point of the stream, in (0, 1]. With 1
        densities do not fade and no cell is removed.
    dense : float, default 3.0
        Minimum density of a dense cell, in mean densities; above 1.
    sparse : float, default 0.8
        Maximum density of a sparse cell, in mean densities; between 0 and 1.
    protection : float, default 0.3
        A cell that was removed after r points is not removed again before (1 + protection) r.
    gap : int or None, default None
        Points between two removals. None is the published gap: the shortest time in which a dense
        cell can become sparse or a sparse one dense. It is 1 if there are many cells.
    n_cells : int or None, default None
        Number of cells of the space, occupied or not. None counts the cells of the smallest box
        around all points seen.
    mass : {"actual", "steady"}, default "actual"
        Sum of densities that the mean density is computed from: the present sum, or, as
        published, its limit, which is reached after about 3 / (1 - decay) points.
    link : {"all", "dense"}, default "all"
        "all": transitional cells join their neighbours into one cluster. "dense": they belong to
        the cluster of a dense neighbour and join nothing.
    hard : bool, default True
        True: a point in a cell without a label gets that of the nearest cell that has one (by
        the centre of the cell). False: it is noise, -1.

    Notes
    -----
    In many dimensions the box has so many cells that every occupied cell is dense, and few cells
    touch: almost every occupied cell is a cluster of its own.

    References
    ----------
    Y. Chen, L. Tu: Density-based clustering for real-time stream data. KDD 2007.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> DStream(side=1.0).fit(X).predict([[0.0, 0.0], [20.0, 20.0]])
    array([0, 1])
    """

    _online: Grid
    _ranges: ClassVar[Mapping[str, Parameter]] = {
        "side": LENGTH,
        "decay": number(0, 1, "right"),
        "dense": number(1, closed="neither"),
        "sparse": number(0, 1, "neither"),
        "protection": number(0),
        "gap": integer(1, optional=True),
        "n_cells": integer(1, optional=True),
        "mass": word("actual", "steady"),
        "link": word("all", "dense"),
    }

    def __init__(
        self,
        side: float = 1.0,
        *,
        decay: float = 0.998,
        dense: float = 3.0,
        sparse: float = 0.8,
        protection: float = 0.3,
        gap: int | None = None,
        n_cells: int | None = None,
        mass: str = "actual",
        link: str = "all",
        hard: bool = True,
    ) -> None:
        self.side = side
        self.decay = decay
        self.dense = dense
        self.sparse = sparse
        self.protection = protection
        self.gap = gap
        self.n_cells = n_cells
        self.mass = mass
        self.link = link
        self.hard = hard

    def _values(self) -> dict[str, Any]:
        """The parameters; n_cells may be too large for a float, and means infinity then."""
        values = super()._values()
        if isinstance(self.n_cells, int):
            values["n_cells"] = min(self.n_cells, _LARGEST_FLOAT)
        return values

    def _start(self, n_features: int) -> Grid:
        if self.mass == "steady" and self.decay == 1:
            raise ValueError(
                'mass="steady" of DStream needs a decay below 1, because there is no steady state '
                'without decay: take mass="actual".'
            )
        return Grid(
            n_features,
            side=float(self.side),
            decay=float(self.decay),
            dense=float(self.dense),
            sparse=float(self.sparse),
            protection=float(self.protection),
            gap=None if self.gap is None else int(self.gap),
            n_cells=None if self.n_cells is None else _as_float(self.n_cells),
        )

    def _cluster(self) -> Offline:
        """Indices of dense and transitional cells, and their clusters."""
        grid = self._online
        cells, density = grid.occupied()
        mass = grid.mass(self.mass == "steady")
        is_dense = density >= self.dense * mass / grid.n_cells
        wanted = is_dense | (density > self.sparse * mass / grid.n_cells)
        cells, is_dense = cells[wanted], is_dense[wanted]
        first, second = _touching(cells - grid.low)
        link = _linked_by_all if self.link == "all" else _linked_by_dense
        return Offline(cells, link(is_dense, first, second))

    def _labels(self, rows: Floats) -> Integers:
        """Label of the cell of each row, else of the nearest cell, or -1."""
        known, labels = self._offline()
        names = {cell.tobytes(): label for cell, label in zip(known, labels, strict=True)}
        cells = self._online.cells_of(rows)
        found = np.array([names.get(cell.tobytes(), -1) for cell in cells], dtype=np.int64)
        lost = found == -1
        if self.hard and lost.any() and (labels >= 0).any():
            centres = (known[labels >= 0] + 0.5) * float(self.side)
            found[lost] = labels[labels >= 0][nearest(rows[lost], centres)]
        return found


def _as_float(n_cells: int) -> float:
    return float(n_cells) if n_cells <= _LARGEST_FLOAT else math.inf


def _touching(cells: Floats) -> tuple[Integers, Integers]:
    """Pairs of cells (k, d) that differ by 1 in one index and agree in all others.

    The sums of their indices differ by 1: only such cells are compared. This is fast in any
    dimension, because the 2 d neighbours of a cell are not enumerated.
    """
    groups: dict[float, list[int]] = {}
    for i, total in enumerate(cells.sum(axis=1).tolist()):
        groups.setdefault(total, []).append(i)
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for level, lower in groups.items():
        upper = groups.get(level + 1.0, [])
        found = np.argwhere(cdist(cells[lower], cells[upper], "cityblock") == 1.0)
        pairs += [np.array([[lower[i], upper[j]]]) for i, j in found]
    first, second = np.concatenate(pairs).T
    return first, second


def _linked_by_all(is_dense: Booleans, first: Integers, second: Integers) -> Integers:
    """Components of dense and transitional cells that contain a dense cell."""
    return components_with(is_dense, components(len(is_dense), first, second))


def _linked_by_dense(is_dense: Booleans, first: Integers, second: Integers) -> Integers:
    """Components of dense cells; a transitional cell belongs to its largest neighbour."""
    both = is_dense[first] & is_dense[second]
    labels = components_with(is_dense, components(len(is_dense), first[both], second[both]))
    size = np.bincount(labels[labels >= 0], minlength=1)
    best: dict[int, tuple[int, int]] = {}  # of a transitional cell: (-size, label), smallest wins
    for cell, other in [*zip(first, second, strict=True), *zip(second, first, strict=True)]:
        if is_dense[other] and not is_dense[cell]:
            offer = (-int(size[labels[other]]), int(labels[other]))
            best[int(cell)] = min(offer, best.get(int(cell), offer))
    for cell, (_, label) in best.items():
        labels[cell] = label
    return in_order_of_appearance(labels)
