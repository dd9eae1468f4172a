"""Cells of D-Stream: densities that fade, and the removal of sporadic cells."""

import math

import numpy as np

from spclust.array_types import Floats
from spclust.experiments.baselines.stream_clusterer import Online

_ROWS_AT_ONCE = 1024


class Grid(Online):
    """Online phase of D-Stream: a density for each occupied cell, and a clock of points.

    A cell is identified by its indices floor(x / side), stored as the bytes of a float array
    (d,): floats do not overflow. Each density is stored with the time of its last change, so that
    a point changes one cell only.
    """

    def __init__(
        self,
        n_features: int,
        side: float,
        decay: float,
        dense: float,
        sparse: float,
        protection: float,
        gap: int | None,
        n_cells: float | None,
    ) -> None:
        self.side = side
        self.decay = decay
        self.dense = dense
        self.sparse = sparse
        self.protection = protection
        self.gap = gap
        self.counts_cells = n_cells is None
        self.n_cells = n_cells or 1.0  # of the space; inf beyond the largest float
        self.now = 0  # points seen
        self.low = np.full(n_features, np.inf)  # smallest index of an occupied cell, by feature
        self.high = np.full(n_features, -np.inf)
        self.slots: dict[bytes, int] = {}  # index of each cell in the arrays, oldest cell first
        self.names: list[bytes] = []  # cell at each index
        self.free: list[int] = []  # indices without a cell; their density is NaN
        self.densities = np.empty(0)  # at the time of the last change of each cell
        self.changed = np.empty(0)
        self.removals: dict[bytes, int] = {}  # time of the last removal of a cell, oldest first
        self.quiet = 0.0  # no cell can be sporadic before this time
        self.quiet_as_new = 0.0  # nor a cell within this many points after its first

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for at in range(0, len(rows), _ROWS_AT_ONCE):
            cells = self.cells_of(rows[at : at + _ROWS_AT_ONCE])
            low = np.minimum.accumulate(np.vstack([self.low, cells]))[1:]
            high = np.maximum.accumulate(np.vstack([self.high, cells]))[1:]
            n_cells = np.full(len(cells), self.n_cells)
            if self.counts_cells:
                n_cells = np.prod(high - low + 1.0, axis=1)
            due = (self.now + 1 + np.arange(len(cells))) % self._gaps(n_cells) == 0
            for cell, n, clean in zip(cells, n_cells.tolist(), due.tolist(), strict=True):
                self.now += 1
                self._add(cell.tobytes())
                if clean:
                    self._remove_sporadic(n)
            self.low, self.high, self.n_cells = low[-1].copy(), high[-1].copy(), float(n_cells[-1])

    def cells_of(self, rows: Floats) -> Floats:
        """Cell indices (n, d) of rows (n, d)."""
        cells: Floats = np.floor(rows / self.side) + 0.0  # turns -0.0 into 0.0: their bytes differ
        return cells

    def mass(self, steady: bool) -> float:
        """Sum of all densities, those of removed cells included; or its limit if `steady`."""
        if self.decay == 1.0:
            return float(self.now)
        share = 1.0 if steady else -math.expm1(self.now * math.log(self.decay))
        return share / (1.0 - self.decay)

    def occupied(self) -> tuple[Floats, Floats]:
        """Cells (k, d), oldest first, and their densities (k,) now."""
        cells = np.frombuffer(b"".join(self.slots)).reshape(-1, len(self.low))
        slots = np.fromiter(self.slots.values(), dtype=np.int64)
        return cells, self._current()[slots]

    def _gaps(self, n_cells: Floats) -> Floats:
        """Points (n,) between two removals, for spaces of n_cells (n,) cells.

        As published: the shortest time in which a cell can turn from dense to sparse, or back.
        """
        if self.decay == 1.0:
            return np.full(len(n_cells), np.inf)
        if self.gap is not None:
            return np.full(len(n_cells), float(self.gap))
        to_sparse = math.log(self.sparse / self.dense)
        with np.errstate(divide="ignore"):  # with few cells none can be dense
            to_dense = np.log1p(-np.minimum(self.dense / n_cells, 1.0))
        to_dense -= np.log1p(-self.sparse / n_cells)
        gaps = np.floor(np.maximum(to_sparse, to_dense) / math.log(self.decay))
        found: Floats = np.maximum(1.0, gaps)
        return found

    def _add(self, name: bytes) -> None:
        slot = self.slots.get(name)
        if slot is None:
            slot = self._new_slot(name)
        faded = self.densities[slot] * self.decay ** (self.now - self.changed[slot])
        self.densities[slot] = faded + 1.0
        self.changed[slot] = self.now

    def _new_slot(self, name: bytes) -> int:
        if not self.free:
            room = max(16, len(self.names))
            self.free = list(range(len(self.names) + room - 1, len(self.names) - 1, -1))
            self.names += [b""] * room
            self.densities = np.concatenate([self.densities, np.full(room, np.nan)])
            self.changed = np.concatenate([self.changed, np.zeros(room)])
        slot = self.free.pop()
        self.slots[name], self.names[slot] = slot, name
        self.densities[slot] = 0.0
        self.quiet = min(self.quiet, self.now + self.quiet_as_new)
        return slot

    def _current(self) -> Floats:
        faded: Floats = self.densities * self.decay ** (self.now - self.changed)
        return faded

    def _remove_sporadic(self, n_cells: float) -> None:
        """Remove cells sparser than `sparse` times the mean density since their last point."""
        while self.removals:  # end protections that have expired
            name, removed = next(iter(self.removals.items()))
            if self.now < (1.0 + self.protection) * removed:
                break
            del self.removals[name]
        if self.now < self.quiet:
            return
        idle = self.now - self.changed + 1.0
        expected = -np.expm1(idle * math.log(self.decay)) / (1.0 - self.decay)
        limit = self.sparse * expected / n_cells
        for slot in np.flatnonzero(self._current() < limit).tolist():
            name = self.names[slot]
            if name not in self.removals:  # else it is still protected
                del self.slots[name]
                self.removals[name] = self.now
                self.free.append(slot)
                self.densities[slot] = np.nan
        self.quiet = float(np.fmin.reduce(self.changed + self._patience(self.densities, n_cells)))
        self.quiet_as_new = float(self._patience(np.ones(1), n_cells)[0])

    def _patience(self, density: Floats, n_cells: float) -> Floats:
        """Points after its last one before which a cell of this density (k,) cannot be sporadic.

        The number of cells only grows, which makes removal rarer, so that the bound stays valid.
        It saves a scan of all cells after each point if the gap is 1.
        """
        share = self.sparse / (n_cells * (1.0 - self.decay))
        with np.errstate(divide="ignore"):  # with infinitely many cells none is ever removed
            points = np.log(share / (density + share * self.decay)) / math.log(self.decay)
        found: Floats = points - 1.0  # one less, to be safe from rounding
        return found
