"""Observations in the automatic mode: the structures, their clusters and their arrivals."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.evidence import placement, variances_in_metric
from spclust.auto.lattice import rounding_variances
from spclust.numerics.euclidean_distances import distances
from spclust.state.automatic_structures import read_z
from spclust.stream.automatic_stream import AutomaticStream
from spclust.tracking.arrivals import Remembered, arrivals, cheapest_partners
from spclust.tracking.descent import Places, follow_leap
from spclust.tracking.recent_parts import divided, with_parts


class LabelObservation(NamedTuple):
    """The structures, oldest first, and their clusters at one moment."""

    seen: int  # points learnt
    structures: Remembered
    cluster: Integers  # (k,) 0, 1, ...; -1 for strays
    found: Integers  # (k,) the same before they are divided by recent points
    before: Integers  # (k,) label of each structure at the last observation, or NO_LABEL
    weight: Floats  # (k,) faded count
    arrived: Floats  # (k,) points since the last observation
    mean: Floats  # (k, d) in the unit of the data
    variance: Floats  # (k,) of a feature, on average
    places: Places

    @property
    def descent(self) -> Integers:
        """Label (k,) that each structure descends from, or NO_LABEL."""
        return self.structures.descent


def observe_labels(
    stream: AutomaticStream, last: Remembered, last_seen: int, shares: dict[int, float]
) -> LabelObservation:
    """Observe a stream, of which something is remembered; shares of points of tracked clusters."""
    s, order = stream.structures, stream.order()
    ids, count, weight = s.id[order], s.count[order], stream.faded_counts()
    z = np.ascontiguousarray(read_z(s, order))
    squares = distances(z) ** 2
    places = Places(z, variances_in_metric(s)[order], weight, squares)
    since = stream.seen - last_seen
    arrived, recent = arrivals(last, ids, count)
    recent = recent * 2.0 ** (-since / max(s.capacity, 2 * since)) + arrived
    descent = places.inherited(last.id, last.descent, ids)
    for label, share in shares.items():
        follow_leap(label, descent, arrived, places, share * since)
    found = clusters = stream.clusters("auto", 1)
    if stream.told is None:
        told = np.array(list(shares), dtype=np.int64)
        placed = placement(s, order, z, recent, rounding_variances(s, order))
        parts = divided(clusters, descent, told, recent, placed)
        clusters = without_strays(with_parts(clusters, parts, recent, squares), descent, told)
    partners = cheapest_partners(ids, weight, squares, fades=s.half_life < np.inf)
    with np.errstate(over="ignore"):
        variance = np.minimum((stream.deviations() ** 2).mean(axis=1), np.finfo(float).max)
    remembered = Remembered(ids, descent, count, recent, partners)
    before = places.inherited(stream.reading.id, stream.reading.label, ids)
    return LabelObservation(
        stream.seen,
        remembered,
        clusters,
        found,
        before,
        weight,
        arrived,
        stream.means(),
        variance,
        places,
    )


def without_strays(clusters: Integers, descent: Integers, told: Integers) -> Integers:
    """Clusters (k,) in which a tracked cluster, all of whose structures are strays, is one.

    A cluster that moves fast is so thin that it seems to be too light.
    """
    found = clusters.copy()
    for label in told.tolist():
        mine = descent == label
        if mine.any() and (clusters[mine] < 0).all():
            found[mine] = found.max(initial=-1) + 1
    return found
