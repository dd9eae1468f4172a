"""Covariances copied out of a state, and as dense arrays."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.state.kinds import FULL, LOWRANK
from spclust.state.structures import Structures


class Covariances(NamedTuple):
    """What the state has of the covariances of some structures."""

    kind: int
    Sigma: Floats  # (k, rows, columns) as in the state
    rank: Integers  # (k,)
    base: Floats  # (k,)
    V: Floats  # (directions, d) those of the first structure, then those of the next

    def dense(self) -> Floats:
        """The covariances (k, d, d) in units of scale^2."""
        d = self.V.shape[1]
        if self.kind == FULL:
            return self.Sigma
        if self.kind != LOWRANK:
            dense: Floats = np.broadcast_to(self.Sigma, (len(self.Sigma), 1, d)) * np.eye(d)
            return dense
        all_of_them = np.empty((len(self.rank), d, d))
        ends = np.cumsum(self.rank)
        for i, (rank, end) in enumerate(zip(self.rank, ends, strict=True)):
            small, V = self._small(i, rank), self.V[end - rank : end]
            all_of_them[i] = self.base[i] * np.eye(d) + V.T @ small @ V
        return all_of_them

    def projected(self, axes: Floats) -> Floats:
        """The covariances (k, p, p) along axes (p, d), in units of scale^2."""
        p, d = axes.shape
        if self.kind == FULL:
            return axes @ self.Sigma @ axes.T
        if self.kind != LOWRANK:
            variances = np.broadcast_to(self.Sigma, (len(self.Sigma), 1, d))
            return (axes * variances) @ axes.T
        all_of_them = np.empty((len(self.rank), p, p))
        ends = np.cumsum(self.rank)
        for i, (rank, end) in enumerate(zip(self.rank, ends, strict=True)):
            small, along = self._small(i, rank), axes @ self.V[end - rank : end].T
            all_of_them[i] = self.base[i] * axes @ axes.T + along @ small @ along.T
        return all_of_them

    def _small(self, i: int, rank: int) -> Floats:
        """Covariance of a structure in its own directions, beyond its base."""
        small = np.zeros((rank, rank))
        small[np.tril_indices(rank)] = self.Sigma[i, 0, : rank * (rank + 1) // 2]
        small += np.tril(small, -1).T - self.base[i] * np.eye(rank)
        return small


def covariances_of(slots: Integers, s: Structures) -> Covariances:
    """A copy of the covariances of some slots."""
    rank = s.rank[slots]
    places = [s.place[slot, :k] for slot, k in zip(slots, rank, strict=True)]
    return Covariances(s.kind, s.Sigma[slots], rank, s.base[slots], s.basis[np.concatenate(places)])
