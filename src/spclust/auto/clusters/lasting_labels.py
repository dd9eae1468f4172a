"""Lasting labels: a cluster keeps its number for as long as it lives, and no other one gets it.

Clusters are read at renewals and by queries. Each time a cluster takes the label that most of its
mass had before: a structure has that of its cluster at the last reading, a new one that of the
nearest which was there. So of two clusters that become one the heavier one keeps its label, and so
does the heavier part of one that is divided. A cluster without a label to take gets the next
number.

Where a cluster moves fast all that was there may have been removed. So a new structure is only
compared with those of its own cluster: the state knows, from point to point, which cluster of the
last renewal a structure descends from (`s.cluster`). If most of the mass of this cluster is in new
structures, these have the label that it had.

A label that no cluster takes is remembered by its structures for N points: where two clusters are
one for a moment, both have their labels back when they are two again.

Labels are no part of the state: what is learnt does not depend on when they are read.
"""

from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.state.automatic_structures import AutomaticStructures, read_z

NO_LABEL, NOT_READ = -1, -2  # a stray; a structure that was not there at the last reading
NO_POSITIONS = np.empty(0, dtype=np.int64)
NAMES = ("label", "own_label", "own_label_seen")  # of arrays in a file, of structures
OF_CLUSTER = "cluster_label"  # and of clusters


class Reading(NamedTuple):
    """Structures, in order of age, and their labels when clusters were last read."""

    id: Integers  # (k,) of structures
    label: Integers  # (k,) of its cluster; NO_LABEL for strays
    own: Integers  # (k,) the one that a structure remembers
    own_seen: Integers  # (k,) points learnt when its cluster last had that one
    given: int  # labels that clusters have got so far
    of_cluster: Integers  # (clusters,) of each cluster of the last renewal; empty if there is none


NOTHING_READ = Reading(
    id=NO_POSITIONS,
    label=NO_POSITIONS,
    own=NO_POSITIONS,
    own_seen=NO_POSITIONS,
    given=0,
    of_cluster=NO_POSITIONS,
)


def next_reading(
    last: Reading,
    s: AutomaticStructures,
    clusters: Integers,
    first: Integers = NO_POSITIONS,
    descent: Integers | None = None,
) -> Reading:
    """The reading that has found a cluster (k,) for each structure, oldest first, -1 for strays.

    Of clusters without a label, those numbered `first` are numbered first. `descent` (k,) are the
    clusters that structures descend from, if a renewal has assigned them to others just now.
    """
    order = np.argsort(s.id[: s.live])
    known = brought_forward(last, s, descent)
    own, own_seen = known.own, known.own_seen
    labels = matched(own, clusters, s.mass[order])
    unnamed = np.flatnonzero(labels == NO_LABEL)
    unnamed = unnamed[np.argsort(~np.isin(unnamed, first), kind="stable")]
    labels[unnamed] = last.given + np.arange(unnamed.size)
    label: Integers = np.append(labels, NO_LABEL)[clusters]  # the last one is that of -1
    remembered = (own != NO_LABEL) & ~np.isin(own, labels) & (s.seen - own_seen <= s.capacity)
    own = np.where(remembered, own, label)
    own_seen = np.where(remembered, own_seen, s.seen)
    of_cluster = labels_of_clusters(last, s, label, anew=descent is not None)
    given = last.given + unnamed.size
    return Reading(s.id[order], label, own, own_seen, given, of_cluster)


def brought_forward(
    last: Reading, s: AutomaticStructures, descent: Integers | None = None
) -> Reading:
    """The last reading, for the structures that there are now, oldest first.

    A new one has what the nearest one had that was there and descends from the same cluster; if
    most of the mass of that cluster is new, its label. `descent` (k,) is by default that of the
    state.
    """
    order = np.argsort(s.id[: s.live])
    ids, descent = s.id[order], s.cluster[order] if descent is None else descent
    places = places_then(last, ids)
    known = places >= 0
    if known.any() and not known.all():
        new, z = np.flatnonzero(~known), read_z(s, order)
        there = z[known]
        squares: Floats = (there * there).sum(axis=1) - 2.0 * (z[new] @ there.T)
        if last.of_cluster.size:
            squares[descent[new, np.newaxis] != descent[known]] = np.inf
            squares[mostly(~known, descent, s.mass[order])[descent[new]]] = np.inf
        nearest = squares.argmin(axis=1)
        found = squares[np.arange(new.size), nearest] < np.inf
        places[new[found]] = places[known][nearest[found]]
    label, own, own_seen = (
        np.append(values, NO_LABEL)[places] for values in (last.label, last.own, last.own_seen)
    )
    lost = np.flatnonzero(places < 0)
    if last.of_cluster.size and lost.size:
        label[lost] = own[lost] = last.of_cluster[descent[lost]]
        own_seen[lost] = s.seen
    return last._replace(id=ids, label=label, own=own, own_seen=own_seen)


def places_then(last: Reading, ids: Integers) -> Integers:
    """Position (k,) at the last reading of the structures with these ids (k,), -1 for new ones."""
    places = np.searchsorted(last.id, ids)
    there = np.append(last.id, -1)[places] == ids  # -1 is no id
    return np.where(there, places, -1)


def mostly(chosen: Booleans, cluster: Integers, mass: Floats) -> Booleans:
    """True for each cluster that has most of its mass in chosen structures.

    Of structures (k,), chosen or not, with their clusters and masses.
    """
    found: Booleans = np.bincount(cluster, mass * chosen) > 0.5 * np.bincount(cluster, mass)
    return found


def labels_of_clusters(
    last: Reading, s: AutomaticStructures, label: Integers, *, anew: bool = False
) -> Integers:
    """The label (clusters,) that most of each cluster of the last renewal has.

    Of labels (k,) of structures, oldest first. A cluster that has none keeps the last one. Clusters
    are known from the last reading on, or `anew`.
    """
    if not (anew or last.of_cluster.size):
        return NO_POSITIONS
    order, clusters = np.argsort(s.id[: s.live]), s.clusters
    labels, index = np.unique(label, return_inverse=True)
    shared = np.zeros((clusters, labels.size))
    np.add.at(shared, (s.cluster[order], index), s.mass[order])
    found: Integers = labels[shared.argmax(axis=1)]
    gone = ~shared.any(axis=1)
    if gone.any():
        kept = last.of_cluster if last.of_cluster.size == clusters else np.full(clusters, NO_LABEL)
        found[gone] = kept[gone]
    return found


def matched(own: Integers, clusters: Integers, mass: Floats) -> Integers:
    """Label of each cluster; NO_LABEL where there is none to take.

    `own` (k,) are the labels that structures have, `clusters` (k,) their clusters. Pairs of a label
    and a cluster are taken by the mass that they share, largest first, if neither has one yet.
    """
    found = np.full(int(clusters.max(initial=-1)) + 1, NO_LABEL)
    known = (own != NO_LABEL) & (clusters >= 0)
    labels, index = np.unique(own[known], return_inverse=True)
    shared = np.zeros((labels.size, found.size))
    np.add.at(shared, (index, clusters[known]), mass[known])
    for place in np.argsort(-shared, axis=None, kind="stable").tolist():
        row, cluster = divmod(place, found.size)
        if shared[row, cluster] == 0.0:
            break
        if found[cluster] == NO_LABEL and labels[row] not in found:
            found[cluster] = labels[row]
    return found


def labels_of(reading: Reading, s: AutomaticStructures) -> dict[str, Any]:
    """A reading as arrays (k,), one entry for each slot: NOT_READ for structures that are new.

    And one (clusters,), all NOT_READ if these have no labels.
    """
    ids, arrays = s.id[: s.live], {}
    known = np.isin(ids, reading.id)
    places = np.searchsorted(reading.id, ids[known])
    for name, column in zip(NAMES, (reading.label, reading.own, reading.own_seen), strict=True):
        arrays[name] = np.full(ids.size, NOT_READ)
        arrays[name][known] = column[places]
    known_clusters = reading.of_cluster.size == s.clusters
    arrays[OF_CLUSTER] = reading.of_cluster if known_clusters else np.full(s.clusters, NOT_READ)
    return arrays


def reading_of(arrays: Any, ids: Integers, given: int) -> Reading:
    """The reading that `labels_of` gave arrays of, for structures with these ids (k,)."""
    known = np.flatnonzero(arrays["label"] != NOT_READ)
    known = known[np.argsort(ids[known])]
    label, own, own_seen = (arrays[name][known] for name in NAMES)
    of_cluster = arrays[OF_CLUSTER]
    of_cluster = of_cluster if (of_cluster != NOT_READ).all() else NO_POSITIONS
    return Reading(ids[known], label, own, own_seen, given, of_cluster)
