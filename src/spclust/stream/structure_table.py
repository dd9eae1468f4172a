"""The structures as a table of read-only arrays."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from spclust.array_types import Floats, Integers


class AnyCovariances(Protocol):
    """Covariances of any type."""

    def dense(self) -> Floats:
        """The covariances (k, d, d)."""

    def projected(self, axes: Floats) -> Floats:
        """The covariances (k, p, p) along axes (p, d)."""


class Scatters(NamedTuple):
    """Covariances (k, d, d) of the points of structures in coordinates, or diagonals (k, 1, d)."""

    covariance: Floats

    def dense(self) -> Floats:
        """The covariances (k, d, d)."""
        d = self.covariance.shape[2]
        diagonal = self.covariance.shape[1] == 1 and d > 1
        return self.covariance * np.eye(d) if diagonal else self.covariance

    def projected(self, axes: Floats) -> Floats:
        """The covariances (k, p, p) along axes (p, d)."""
        if self.covariance.shape[1] == 1:
            return (axes * self.covariance) @ axes.T
        return axes @ self.covariance @ axes.T


@dataclass(frozen=True, eq=False)
class StructureTable:
    """The structures of a model, oldest first: read-only copies, in the units of the data."""

    mean: Floats  # (k, d)
    weight: Floats  # (k,) damped mean typicality of recent points, 0 to 1; or share of all masses
    count: Integers  # (k,) points absorbed
    # (k,) weight updates since creation, plus one, or a time; in the automatic mode points since
    # the first one, that one included.
    age: Integers | Floats
    id: Integers  # (k,) number of the point that founded the structure, counted from 0
    label: Integers  # (k,) cluster; -1 is noise
    _covariances: AnyCovariances = field(repr=False)
    _unit: Floats = field(repr=False)  # (d,)

    def __len__(self) -> int:
        return len(self.id)

    @cached_property
    def covariance(self) -> Floats:
        """Covariances (k, d, d), computed when they are first read, whatever their type."""
        largest = np.finfo(float).max / max(float(self._unit.max()), 1.0)
        with np.errstate(over="ignore"):
            covariances = self._covariances.dense() * self._unit[:, np.newaxis]
        covariance: Floats = np.clip(covariances, -largest, largest) * self._unit
        covariance.setflags(write=False)
        return covariance

    def projected(self, axes: Floats) -> tuple[Floats, Floats]:
        """Means (k, p) and covariances (k, p, p) along axes (p, d); none is made dense for it."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.mean @ axes.T, self._covariances.projected(axes * self._unit)
