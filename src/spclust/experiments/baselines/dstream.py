"""D-Stream: density in the cells of a grid (Chen and Tu, 2007)."""

import math
import sys
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from spclust.arrays import Booleans, Floats, Integers
from spclust.experiments.baselines.base import Offline, StreamClusterer
from spclust.experiments.baselines.grid import Grid
from spclust.experiments.baselines.parts import components, in_order_of_appearance, kept, nearest


class DStream(StreamClusterer):
    """D-Stream: space is cut into cubes, and clusters are groups of dense cubes that touch.

    Every point adds 1 to the density of its cell; all densities fade. A cell is dense if it has
    `dense` times the mean density of all cells, sparse if it has `sparse` times that or less, and
    transitional between them. Sparse cells that get too few points are removed now and then.

    Parameters
    ----------
    side : float, default 1.0
        Side of a cell, in the unit of the data: the one parameter that the data decides.
    decay : float, default 0.998
        Factor by which every density fades for each point of the stream, in (0, 1]; 1 forgets
        nothing and removes nothing.
    dense : float, default 3.0
        Density of a dense cell, at least, in mean densities; above 1.
    sparse : float, default 0.8
        Density of a sparse cell, at most, in mean densities; between 0 and 1.
    protection : float, default 0.3
        A cell that was removed after r points is not removed again before (1 + protection) r.
    gap : int or None, default None
        Points between two removals. None is the published one: the shortest time in which a dense
        cell can become sparse or a sparse one dense. It is 1 if there are many cells.
    n_cells : int or None, default None
        Cells of the space, occupied or not. None takes those of the smallest box that has all
        points seen.
    mass : {"actual", "steady"}, default "actual"
        Sum of densities behind the mean density: what it is now, or what it tends to after about
        3 / (1 - decay) points, as published.
    link : {"all", "dense"}, default "all"
        Whether transitional cells join those beside them into one cluster, or only go along with
        a dense cell beside them.
    hard : bool, default True
        Whether a point in a cell without label gets that of the nearest cell that has one (by
        the centre of the cell), instead of -1.

    Notes
    -----
    In many features the box has so many cells that every occupied one is dense, and hardly any
    two touch: D-Stream then gives a cluster for each occupied cell.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "side": [Interval(Real, 1e-150, 1e150, closed="both")],
        "decay": [Interval(Real, 0, 1, closed="right")],
        "dense": [Interval(Real, 1, None, closed="neither")],
        "sparse": [Interval(Real, 0, 1, closed="neither")],
        "protection": [Interval(Real, 0, None, closed="left")],
        "gap": [None, Interval(Integral, 1, None, closed="left")],
        "n_cells": [None, Interval(Integral, 1, None, closed="left")],
        "mass": [StrOptions({"actual", "steady"})],
        "link": [StrOptions({"all", "dense"})],
        "hard": ["boolean"],
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

    def _start(self, n_features: int) -> Grid:
        if self.mass == "steady" and self.decay == 1:
            raise ValueError(
                'mass="steady" of DStream needs a decay below 1, for without decay there is no '
                'steady state: take mass="actual".'
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
        """Cells, by their indices, that are dense or transitional, and their clusters."""
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
    return float(n_cells) if n_cells <= sys.float_info.max else math.inf


def _touching(cells: Floats) -> tuple[Integers, Integers]:
    """Pairs of cells (k, d) that differ by 1 in one index and agree in all others.

    The sums of their indices differ by 1 then: only such cells are compared. That takes no list
    of the 2 d cells around each, and is quick in any dimension.
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
    """Components of dense and transitional cells, those alone that have a dense cell."""
    return kept(components(len(is_dense), first, second), is_dense)


def _linked_by_dense(is_dense: Booleans, first: Integers, second: Integers) -> Integers:
    """Components of dense cells; a transitional cell goes along with the largest beside it."""
    both = is_dense[first] & is_dense[second]
    labels = kept(components(len(is_dense), first[both], second[both]), is_dense)
    size = np.bincount(labels[labels >= 0], minlength=1)
    best: dict[int, tuple[int, int]] = {}  # of a transitional cell: (-size, label), smallest wins
    for cell, other in [*zip(first, second, strict=True), *zip(second, first, strict=True)]:
        if is_dense[other] and not is_dense[cell]:
            offer = (-int(size[labels[other]]), int(labels[other]))
            best[int(cell)] = min(offer, best.get(int(cell), offer))
    for cell, (_, label) in best.items():
        labels[cell] = label
    return in_order_of_appearance(labels)
