"""One stream: the state and everything that can be asked of it, behind a plain Python object.

The faces of the library (scikit-learn and others) own one of these and do no arithmetic.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spclust.arrays import Floats, Integers, Rows
from spclust.core import offline, online
from spclust.core.structures import (
    EVALUATIONS,
    IN_LOGS,
    LIVE,
    MERGED,
    PRUNED,
    RESCANS,
    SEEN,
    configure,
    empty_pool,
    means,
    pool_size,
    view,
)
from spclust.core.workspace import scratch_size
from spclust.params import Params

# Rows converted and handed to a kernel at a time: large enough to hide the call, small enough
# that a batch of another type, or of another memory order, never exists twice as a whole, and that
# an interrupt, which is heard between chunks, is heard within about a second.
_LARGEST_CHUNK = 65_536
_CHUNK_WORK = 1e9  # multiplications


@dataclass(frozen=True, eq=False)
class StructureTable:
    """The structures of a model, oldest first: read-only copies, in the units of the data."""

    mean: Floats  # (k, d)
    covariance: Floats  # (k, d, d)
    weight: Floats  # (k,) damped mean typicality of recent points, 0 to 1
    count: Integers  # (k,) points absorbed
    age: Integers  # (k,) weight updates lived through, plus one; both clocks add in a merge
    id: Integers  # (k,) number of the point that founded the structure, counted from 0
    label: Integers  # (k,) cluster; -1 is noise

    def __len__(self) -> int:
        return len(self.id)


class Stream:
    """State of one stream of points with d features."""

    def __init__(self, params: Params, d: int) -> None:
        self.params = params
        try:
            self.pool = empty_pool(params, d)
        except MemoryError:
            raise MemoryError(
                f"{params.n_structures} structures of {d} features need "
                f"{8e-9 * pool_size(params.n_structures, d):.1f} GB: lower n_structures."
            ) from None
        self.__setstate__({"params": params, "pool": self.pool})

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "pool": self.pool}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.params, self.pool = state["params"], state["pool"]
        self._scratch = np.empty(scratch_size(self.pool))
        self._clustering: tuple[float, int, Integers] | None = None

    @property
    def seen(self) -> int:
        """Points learnt."""
        return int(self.pool[SEEN])

    @property
    def pruned(self) -> int:
        """Points that belonged to structures which were pruned without being merged."""
        return int(self.pool[PRUNED])

    @property
    def merges(self) -> int:
        """Merges of two structures."""
        return int(self.pool[MERGED])

    @property
    def evaluations(self) -> int:
        """Typicalities computed while learning."""
        return int(self.pool[EVALUATIONS])

    @property
    def rescans(self) -> int:
        """Rows of pair odds that were looked through for a nearest neighbour while learning."""
        return int(self.pool[RESCANS])

    def configure(self, params: Params) -> None:
        """Use other decay and pruning parameters from now on."""
        configure(self.pool, params)
        self.params = params

    def learn(self, X: Rows) -> None:
        """Learn the rows of X (rows, d), all finite, in order."""
        for _, rows in self._chunks(X):
            self._clustering = None
            online.learn(self.pool, rows, self._scratch)

    def order(self) -> Integers:
        """Slots of the structures, oldest structure first."""
        s = view(self.pool)
        return np.argsort(s.id[: int(self.pool[LIVE])])

    def clustering(self, eps: float, min_samples: int) -> Integers:
        """Label (k,) of each structure, oldest first; the last one is kept for the next call."""
        kept = self._clustering
        if kept is None or kept[:2] != (eps, min_samples):
            order = self.order()
            limit = offline.odds_limit(eps, bool(self.pool[IN_LOGS]))
            adjacent = view(self.pool).pair[np.ix_(order, order)] <= limit
            np.fill_diagonal(adjacent, True)
            kept = eps, min_samples, offline.dbscan_labels(adjacent, min_samples)
            self._clustering = kept
        return kept[2]

    def nearest(self, X: Rows) -> Integers:
        """Position (rows,), in order of age, of the structure in which each row is most typical."""
        order = self.order()
        nearest = np.empty(len(X), dtype=np.int64)
        for part, rows in self._chunks(X):
            nearest[part] = offline.nearest_structures(self.pool, rows, order)
        return nearest

    def nlt(self, X: Rows, labels: Integers, n_labels: int) -> Floats:
        """NLT (rows, n_labels) of each row in the best structure of each label.

        `labels` (k,) are those of the structures, oldest first; -1 is left out.
        """
        group = np.empty_like(labels)
        group[self.order()] = labels
        nlt = np.empty((len(X), n_labels))
        for part, rows in self._chunks(X):
            nlt[part] = offline.least_nlt(self.pool, rows, group, n_labels)
        return nlt

    def table(self, labels: Integers) -> StructureTable:
        """All structures, oldest first, with their labels (k,)."""
        s, order, scale = view(self.pool), self.order(), self.params.scale
        largest = np.finfo(float).max / max(scale, 1.0)
        columns = {
            "mean": means(s, order),
            "covariance": np.clip(scale * s.Sigma[order], -largest, largest) * scale,
            "weight": s.total[order] / s.mass[order],
            "count": s.count[order].astype(np.int64),
            "age": s.age[order].astype(np.int64),
            "id": s.id[order].astype(np.int64),
            "label": labels.copy(),
        }
        for column in columns.values():
            column.setflags(write=False)
        return StructureTable(**columns)

    def _chunks(self, X: Rows) -> Iterator[tuple[slice, Floats]]:
        """The rows of X in pieces that the kernels take, and where they were.

        Float64 in C order and not to be written to, whatever X is: kernels compile for one type.
        """
        n, d = self.params.n_structures, X.shape[1]
        size = max(1, min(_LARGEST_CHUNK, int(_CHUNK_WORK / (4 * n * d * d + d**3))))
        for start in range(0, len(X), size):
            part = slice(start, start + size)
            rows = np.ascontiguousarray(X[part], dtype=np.float64).view()
            rows.flags.writeable = False
            yield part, rows
