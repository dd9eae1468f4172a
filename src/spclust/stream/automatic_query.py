"""Queries of a stream in the automatic mode: they do not change its state."""

from typing import Any

import numpy as np

from spclust.algorithm import dbscan
from spclust.array_types import Booleans, Floats, Integers, Rows
from spclust.auto.automatic_kernels import automatic_homes, automatic_nearest, query_scratch
from spclust.auto.clusters.evidence import clusters_of, in_order
from spclust.auto.clusters.lasting_labels import (
    NO_POSITIONS,
    Reading,
    brought_forward,
    next_reading,
    places_then,
)
from spclust.auto.clusters.told_count import told_clusters
from spclust.auto.home import (
    FARTHEST,
    OUT_OF_SIGHT,
    calibrated_nlt,
    calibrated_odds,
    calibrating_points,
    last_distances,
)
from spclust.auto.novelty import are_solid, novelty_limits, novelty_nlt
from spclust.jit import notice
from spclust.numerics.euclidean_distances import distances
from spclust.parameters import Params
from spclust.state.automatic_structures import AutomaticStructures, read_z, scatter_by_feature
from spclust.stream.flat_rows import flat_chunks
from spclust.stream.structure_table import Scatters, StructureTable
from spclust.stream.threads import for_each_chunk

_SHARE, _PARTS = 20, 10  # points between two readings: a part of those learnt, or of the structures


class AutomaticQuery:
    """The queries of a stream in the automatic mode."""

    automatic = True
    params: Params
    structures: AutomaticStructures
    seen: Any  # points learnt
    told: int | None  # number of clusters; None if they are found
    reading: Reading  # labels of clusters when they were last read
    followed: bool  # True if a tracker gives labels: see `follow`
    _read_as: tuple[int, int | None]  # points learnt then, and number told
    _clustering: tuple[tuple[int, bool], Integers] | None  # points learnt, in parts; clusters
    _labels_due: int  # points learnt when `recent_labels` reads clusters again

    @property
    def clock(self) -> float | None:
        """The last time stamp, if points have any."""
        return self.structures.clock if self.structures.timed else None

    @property
    def pruned(self) -> int:
        """Points of structures that were removed."""
        return self.structures.removed

    @property
    def merges(self) -> int:
        """Merges of two structures."""
        return self.structures.merged

    @property
    def evaluations(self) -> int:
        """Distances computed while learning."""
        return self.structures.measured

    @property
    def rescans(self) -> int:
        """Rows of merge costs that were searched for their smallest while learning."""
        return self.structures.rescans

    @property
    def unit(self) -> Floats:
        """Standard deviation (d,) of most points, in the unit of the data; 0 if unknown."""
        unit: Floats = self.structures.width * self.structures.unit
        return unit

    def order(self) -> Integers:
        """Slots of the structures, oldest structure first."""
        return np.argsort(self.structures.id[: self.structures.live])

    def clusters(self, eps: float | str, min_samples: int) -> Integers:
        """Cluster (k,) of each structure, oldest first, -1 for strays; as many as are told."""
        if self.told is None:
            return self.found_clusters(in_parts=True)
        counted = int((self.found_clusters(in_parts=False) >= 0).sum())
        return self.told_clusters(min(int(self.told), counted))

    def found_clusters(self, *, in_parts: bool) -> Integers:
        """Those that are found, if no number is told. The last ones are kept."""
        wanted = self.seen, in_parts
        if self._clustering is None or self._clustering[0] != wanted:
            with notice.one_line():
                found = clusters_of(self.structures, in_parts=in_parts)
            self._clustering = wanted, in_order(found[self.order()])
        return self._clustering[1]

    def told_clusters(self, n_clusters: int) -> Integers:
        """Those that are found whole, divided or merged so that there are n: see `told_count`."""
        order, found = self.order(), self.found_clusters(in_parts=False)
        dbscan.refuse_count(n_clusters, int((found >= 0).sum()))  # strays do not count
        in_slots = np.empty_like(order)
        in_slots[order] = found
        return in_order(told_clusters(self.structures, in_slots, n_clusters)[order])

    def lasting_labels(
        self, first: Integers = NO_POSITIONS, descent: Integers | None = None
    ) -> Integers:
        """Label (k,) of each structure, oldest first, -1 for strays: see `lasting_labels`.

        Clusters without a label are numbered, those of the structures at the positions `first`
        first. `descent` (k,) is that of `next_reading`.
        """
        if self.followed:
            return self._followed_labels()
        reading = self.reading
        if self._read_as != (self.seen, self.told):
            clusters = self.clusters("auto", 1)
            reading = next_reading(reading, self.structures, clusters, clusters[first], descent)
            self.reading = reading
            self._read_as = (self.seen, self.told)  # last: other threads may read, too
        return reading.label

    def follow(self, reading: Reading) -> None:
        """Use the labels of a tracker, which alone reads clusters from now on."""
        vars(self).update(self.followed_by(reading))

    def unfollow(self) -> None:
        """Read clusters, and give them labels, whenever they are asked for."""
        vars(self).update(followed=False, _read_as=(-1, None))

    def followed_by(self, reading: Reading) -> dict[str, Any]:
        """The attributes that `follow` sets."""
        return {"reading": reading, "_read_as": (self.seen, self.told), "followed": True}

    def _followed_labels(self) -> Integers:
        """Label (k,) of each structure by the tracker's last reading, which stays as it is."""
        s, reading = self.structures, self.reading
        if self._read_as[1] == self.told and np.isin(s.id[: s.live], reading.id).any():
            return brought_forward(reading, s).label
        return next_reading(reading, s, self.clusters("auto", 1)).label

    def recent_labels(self) -> Integers:
        """The same, but clusters are read again only when some points were learnt since then."""
        s = self.structures
        if s.seen < self._labels_due and (places_then(self.reading, s.id[: s.live]) >= 0).any():
            return brought_forward(self.reading, s).label
        step = min(s.seen // _SHARE, s.capacity // _PARTS)
        self._labels_due = s.seen + max(step, 1)
        return self.lasting_labels()

    def limit_of_eps(self, eps: float) -> float:
        """Pair odds at which the distance D is eps."""
        return dbscan.odds_limit(eps, False)

    def limit_of_nlt(self, nlt: float) -> float:
        """Pair odds at which the sum of both NLT is nlt."""
        return dbscan.odds_limit_of_nlt(nlt, False)

    def clustering(self, limit: float, min_samples: int) -> Integers:
        """Label (k,) of each structure, oldest first, if those within `limit` are neighbours."""
        adjacent = self.pairs() <= limit
        np.fill_diagonal(adjacent, True)
        labels: Integers = dbscan.dbscan_labels(adjacent, min_samples)
        return labels

    def pairs(self) -> Floats:
        """Pair odds (k, k), Eq. 3, of the structures, oldest first.

        The metric is one for all structures: each mean is as typical in the other.
        """
        z = np.ascontiguousarray(read_z(self.structures, self.order()))
        with np.errstate(over="ignore"):  # infinite odds of structures that are far apart are right
            odds = calibrated_odds(distances(z) ** 2, self.structures)
            pairs: Floats = 2.0 * odds + odds * odds
        return pairs

    def nlt_of_pairs(self) -> Floats:
        """-log(1 - D), the sum of both NLT, of each pair of structures (k, k), oldest first."""
        return np.log1p(self.pairs())

    def nearest(self, X: Rows, threads: int = 1) -> Integers:
        """Position (rows,), by age, of the structure that is nearest to each row; Eq. 17."""
        order, s, kernel = self.order(), self.structures, automatic_nearest()
        position, nearest = np.empty_like(order), np.empty(len(X), dtype=np.int64)
        position[order] = np.arange(len(order))

        def fill(part: slice, rows: Floats) -> None:
            kernel(s.memory, rows, position, nearest[part], query_scratch(s.d, s.n))

        for_each_chunk(fill, X, flat_chunks, s.live, threads)
        return nearest

    def nlt(self, X: Rows, labels: Integers, n_labels: int, threads: int = 1) -> Floats:
        """NLT (rows, n_labels) of each row in the best structure of each label.

        `labels` (k,) are those of the structures, oldest first; -1 is left out.
        """
        return calibrated_nlt(self._homes(X, labels, n_labels, threads), self.structures)

    def _homes(
        self, X: Rows, labels: Integers, n_labels: int, threads: int, *, reaches: bool = True
    ) -> Floats:
        """Squared distances (rows, n_labels) from home, or from structures, of each label."""
        s, kernel = self.structures, automatic_homes()
        group, home = np.empty_like(labels), np.empty((len(X), n_labels))
        group[self.order()] = labels

        def fill(part: slice, rows: Floats) -> None:
            kernel(s.memory, rows, group, home[part], query_scratch(s.d, s.n), reaches)

        for_each_chunk(fill, X, flat_chunks, s.live, threads)
        return home

    def least_nlt(self, X: Rows, threads: int) -> Floats:
        """NLT (rows,) of each row in its best structure."""
        everything = np.zeros(self.structures.live, dtype=np.int64)
        return self.nlt(X, everything, 1, threads)[:, 0]

    def nearest_nlt(self, X: Rows, threads: int) -> Floats:
        """NLT (rows,) by the distance of each row to its nearest solid structure: see `novelty`."""
        solid = np.where(are_solid(self.faded_counts()), 0, -1)
        squares = self._homes(X, solid, 1, threads, reaches=False)[:, 0]
        return novelty_nlt(squares, self.structures)

    def are_novel(
        self, nearest: Integers, nlt: Floats, limit: float, labels: Integers | None = None
    ) -> Booleans:
        """True for rows (n,) that belong to no cluster, by `nearest_nlt` and structures' labels."""
        novel: Booleans = nlt > limit
        if novel.any():  # near wide clusters the limit is higher
            found = self.clusters("auto", 1) if labels is None else labels
            novel = nlt > novelty_limits(self.structures, found, limit)[nearest]
        return novel

    def nlt_of_distances(self, q: Floats) -> Floats:
        """NLT (k,) of a point in each structure, oldest first, from its squared distances (k,)."""
        s = self.structures
        return calibrated_nlt(np.maximum(q, s.reach[self.order()]), s)

    def coordinates(self, x: Floats) -> Floats:
        """Coordinates (d,) of a point x (d,), NaN where it is missing."""
        s = self.structures
        with np.errstate(over="ignore"):
            offset = x - s.origin
            y = offset / np.where(s.unit > 0.0, s.unit, 1.0)
        y = np.clip(y, -FARTHEST, FARTHEST) - s.displacement
        return np.where((s.unit == 0.0) & (offset != 0.0) & ~np.isnan(x), OUT_OF_SIGHT, y)

    def rare_nlt(self, share: float) -> float:
        """The NLT that a share of the recent points exceeded, each before it was learnt."""
        recent = last_distances(self.structures, calibrating_points(self.structures))
        if recent.size == 0:
            return np.inf
        rare = np.quantile(recent, 1.0 - share, keepdims=True)
        return float(calibrated_nlt(rare, self.structures)[0])

    def faded_counts(self) -> Floats:
        """Faded number (k,) of points of each structure, oldest first."""
        s = self.structures
        faded: Floats = s.mass[self.order()] / s.point_mass
        return faded

    def table(self, labels: Integers) -> StructureTable:
        """All structures, oldest first, with their labels (k,)."""
        s, order = self.structures, self.order()
        columns = {
            "mean": self.means(),
            "weight": s.mass[order] / s.mass[: s.live].sum(),
            "count": s.count[order].astype(np.int64),
            "age": s.seen - s.id[order],
            "id": s.id[order],
            "label": labels.copy(),
        }
        for column in columns.values():
            column.setflags(write=False)
        scatters = Scatters(s.scatter[order] / s.mass[order, np.newaxis, np.newaxis])
        return StructureTable(**columns, _covariances=scatters, _unit=s.unit.copy())

    def means(self) -> Floats:
        """Means (k, d) of the structures, oldest first, in the unit of the data."""
        s = self.structures
        largest = np.finfo(float).max
        with np.errstate(over="ignore"):
            places: Floats = s.origin + s.unit * (s.mean[self.order()] + s.displacement)
        return np.clip(places, -largest, largest)

    def deviations(self) -> Floats:
        """Standard deviations (k, d) of the points of the structures, oldest first."""
        s, order = self.structures, self.order()
        variances = scatter_by_feature(s, order) / s.mass[order, np.newaxis]
        deviations: Floats = s.unit * np.sqrt(variances)
        return deviations
