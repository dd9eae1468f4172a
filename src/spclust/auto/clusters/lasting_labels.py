"""Lasting labels: a cluster keeps its number for as long as it lives, and no other one gets it.

Clusters are read at renewals and by queries. Each time a cluster takes the label that most of its
mass had before: a structure has that of its cluster at the last reading, a new one that of the
nearest which was there. So of two clusters that become one the heavier one keeps its label, and so
does the heavier part of one that is divided. A cluster without a label to take gets the next
number.

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
NAMES = ("label", "own_label", "own_label_seen")  # of arrays in a file


class Reading(NamedTuple):
    """Structures, in order of age, and their labels when clusters were last read."""

    id: Integers  # (k,) of structures
    label: Integers  # (k,) of its cluster; NO_LABEL for strays
    own: Integers  # (k,) the one that a structure remembers
    own_seen: Integers  # (k,) points learnt when its cluster last had that one
    given: int  # labels that clusters have got so far


NOTHING_READ = Reading(NO_POSITIONS, NO_POSITIONS, NO_POSITIONS, NO_POSITIONS, 0)


def next_reading(
    last: Reading, s: AutomaticStructures, clusters: Integers, first: Integers = NO_POSITIONS
) -> Reading:
    """The reading that has found a cluster (k,) for each structure, oldest first, -1 for strays.

    Of clusters without a label, those numbered `first` are numbered first.
    """
    order = np.argsort(s.id[: s.live])
    then = places_then(last, s, order)
    own, own_seen = (np.append(values, NO_LABEL)[then] for values in (last.own, last.own_seen))
    labels = matched(own, clusters, s.mass[order])
    unnamed = np.flatnonzero(labels == NO_LABEL)
    unnamed = unnamed[np.argsort(~np.isin(unnamed, first), kind="stable")]
    labels[unnamed] = last.given + np.arange(unnamed.size)
    label: Integers = np.append(labels, NO_LABEL)[clusters]  # the last one is that of -1
    remembered = (own != NO_LABEL) & ~np.isin(own, labels) & (s.seen - own_seen <= s.capacity)
    own = np.where(remembered, own, label)
    own_seen = np.where(remembered, own_seen, s.seen)
    return Reading(s.id[order], label, own, own_seen, last.given + unnamed.size)


def places_then(last: Reading, s: AutomaticStructures, order: Integers) -> Integers:
    """Place in the last reading of the structures in some order of slots; -1 if it had none.

    That of a new structure is the place of the nearest one that was there.
    """
    ids = s.id[order]
    known: Booleans = np.isin(ids, last.id, assume_unique=True)
    places = np.full(ids.size, -1)
    if known.any():
        places[known] = np.searchsorted(last.id, ids[known])
        if not known.all():
            z = read_z(s, order)
            there = z[known]
            squares = (there * there).sum(axis=1) - 2.0 * (z[~known] @ there.T)
            places[~known] = places[known][squares.argmin(axis=1)]
    return places


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
    """A reading as arrays (k,), one entry for each slot: NOT_READ for structures that are new."""
    ids, arrays = s.id[: s.live], {}
    known = np.isin(ids, reading.id)
    places = np.searchsorted(reading.id, ids[known])
    for name, column in zip(NAMES, (reading.label, reading.own, reading.own_seen), strict=True):
        arrays[name] = np.full(ids.size, NOT_READ)
        arrays[name][known] = column[places]
    return arrays


def reading_of(arrays: Any, ids: Integers, given: int) -> Reading:
    """The reading that `labels_of` gave arrays of, for structures with these ids (k,)."""
    known = np.flatnonzero(arrays["label"] != NOT_READ)
    known = known[np.argsort(ids[known])]
    label, own, own_seen = (arrays[name][known] for name in NAMES)
    return Reading(ids[known], label, own, own_seen, given)
