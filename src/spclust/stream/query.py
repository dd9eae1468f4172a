"""Queries of a stream: they do not change its state."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from spclust.algorithm import assignment, dbscan, kernels
from spclust.array_types import Floats, Integers, Rows
from spclust.covariance.export import covariances_of
from spclust.numerics.memory import aligned_copy
from spclust.parameters import EPS_OF_THE_PAPER, Params
from spclust.state.scratch import memory_for_query, scratch_for
from spclust.state.structures import Structures, means
from spclust.stream.structure_table import StructureTable
from spclust.stream.threads import for_each_chunk


class StreamQuery:
    """The queries of a stream."""

    automatic = False
    params: Params
    structures: Structures
    _clustering: tuple[float, int, int, Integers] | None
    seen: Any  # points learnt
    _chunks: Callable[..., Iterator[tuple[slice, Floats]]]

    @property
    def pruned(self) -> int:
        """Points that belonged to structures which were pruned without being merged."""
        return self.structures.pruned

    @property
    def merges(self) -> int:
        """Merges of two structures."""
        return self.structures.merged

    @property
    def evaluations(self) -> int:
        """Typicalities computed while learning."""
        return self.structures.evaluations

    @property
    def rescans(self) -> int:
        """Rows of pair odds that were searched for their smallest while learning."""
        return self.structures.rescans

    @property
    def unit(self) -> Floats:
        """Standard deviation (d,) of a fresh structure, in the unit of the data."""
        return np.full(self.structures.d, self.params.scale)

    def order(self) -> Integers:
        """Slots of the structures, oldest structure first."""
        return np.argsort(self.structures.id[: self.structures.live])

    def limit_of_eps(self, eps: float) -> float:
        """Pair odds, as the state has them, at which the distance D is eps."""
        return dbscan.odds_limit(eps, self.structures.in_logs)

    def limit_of_nlt(self, nlt: float) -> float:
        """Pair odds, as the state has them, at which the sum of both NLT is nlt."""
        return dbscan.odds_limit_of_nlt(nlt, self.structures.in_logs)

    def limit_of_count(self, n_clusters: int) -> float:
        """Pair odds up to which structures have to be neighbours to make up n clusters."""
        return dbscan.odds_limit_of_count(self.pairs(), n_clusters)

    def clusters(self, eps: float | str, min_samples: int) -> Integers:
        """Cluster (k,) of each structure, oldest first, if those within eps are neighbours."""
        eps = EPS_OF_THE_PAPER if isinstance(eps, str) else eps
        return self.clustering(self.limit_of_eps(float(eps)), min_samples)

    def clustering(self, limit: float, min_samples: int) -> Integers:
        """Label (k,) of each structure, oldest first, if those within `limit` are neighbours.

        The last one is kept for the next call.
        """
        kept, now = self._clustering, (limit, min_samples, self.seen)
        if kept is None or kept[:3] != now:
            adjacent = dbscan.adjacency(self._measured().pair, self.order(), limit)
            kept = self._clustering = (*now, dbscan.dbscan_labels(adjacent, min_samples))
        return kept[3]

    def pairs(self) -> Floats:
        """Pair odds (k, k) of the structures, oldest first; of no meaning on the diagonal."""
        order = self.order()
        upper = np.triu(self._measured().pair[: len(order), : len(order)], 1)
        return (upper + upper.T)[np.ix_(order, order)]

    def _measured(self) -> Structures:
        """The structures; a copy, if learning was interrupted before one was measured anew."""
        if self.structures.stale == 0:
            return self.structures
        copy = Structures(aligned_copy(self.structures.memory))
        kernels.measure_all(copy, scratch_for(copy))
        return copy

    def nlt_of_pairs(self) -> Floats:
        """-log(1 - D), the sum of both NLT, of each pair of structures (k, k), oldest first."""
        odds = self.pairs()
        nlt: Floats = np.logaddexp(0.0, odds) if self.structures.in_logs else np.log1p(odds)
        return nlt

    def nearest(self, X: Rows, threads: int = 1) -> Integers:
        """Position (rows,), in order of age, of the structure in which each row is most typical."""
        order, s = self.order(), self.structures
        kernel = assignment.nearest_kernel(s.kernel_kind)
        position, nearest = np.empty_like(order), np.empty(len(X), dtype=np.int64)
        position[order] = np.arange(len(order))

        def fill(part: slice, rows: Floats) -> None:
            kernel(s.memory, rows, position, nearest[part], memory_for_query(s))

        for_each_chunk(fill, X, self._chunks, s.live, threads)
        return nearest

    def nlt(self, X: Rows, labels: Integers, n_labels: int, threads: int = 1) -> Floats:
        """NLT (rows, n_labels) of each row in the best structure of each label.

        `labels` (k,) are those of the structures, oldest first; -1 is left out.
        """
        s = self.structures
        kernel = assignment.nlt_kernel(s.kernel_kind)
        group, nlt = np.empty_like(labels), np.empty((len(X), n_labels))
        group[self.order()] = labels

        def fill(part: slice, rows: Floats) -> None:
            kernel(s.memory, rows, group, nlt[part], memory_for_query(s))

        for_each_chunk(fill, X, self._chunks, s.live, threads)
        return nlt

    def least_nlt(self, X: Rows, threads: int) -> Floats:
        """NLT (rows,) of each row in its best structure."""
        everything = np.zeros(self.structures.live, dtype=np.int64)
        return self.nlt(X, everything, 1, threads)[:, 0]

    def nearest_nlt(self, X: Rows, threads: int) -> Floats:
        """The same: in the mode of the paper every structure counts."""
        return self.least_nlt(X, threads)

    def table(self, labels: Integers) -> StructureTable:
        """All structures, oldest first, with their labels (k,)."""
        s, order = self.structures, self.order()
        columns = {
            "mean": self.means(),
            "weight": s.total[order] / s.damping[order],
            "count": s.count[order].astype(np.int64),
            "age": s.age[order] if s.timed else s.age[order].astype(np.int64),
            "id": s.id[order],
            "label": labels.copy(),
        }
        for column in columns.values():
            column.setflags(write=False)
        covariances = covariances_of(order, s)
        return StructureTable(**columns, _covariances=covariances, _unit=self.unit)

    def means(self) -> Floats:
        """Means (k, d) of the structures, oldest first, in the unit of the data."""
        return means(self.structures, self.order())
