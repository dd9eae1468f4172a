"""Matching: which label each cluster of an observation has.

A tracked cluster's label belongs to the cluster that has most of the structures that descend from
it. If that is the same one for two labels, the one that the cluster had before stays, or else the
one of more weight; the other label waits. A cluster without any has the label that its structures
had before it was tracked, or before it died, or else the next number.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.lasting_labels import NO_LABEL
from spclust.tracking.label_observation import LabelObservation


class LabelMatches(NamedTuple):
    """The clusters of an observation and the labels of those that are tracked."""

    labels: Integers  # (c,) of each cluster
    weights: Floats  # (c,) of each cluster
    homes: dict[int, int]  # cluster where most of each tracked label is; left out if nowhere
    given: int  # labels that clusters have got so far


def matched_labels(now: LabelObservation, tracked: list[int], given: int) -> LabelMatches:
    """Labels of all clusters; `tracked` are the labels of those that are tracked."""
    clusters = int(now.cluster.max(initial=-1)) + 1
    inside = now.cluster >= 0
    weights: Floats = np.zeros(clusters)
    np.add.at(weights, now.cluster[inside], now.weight[inside])
    homes, order = {}, []
    shown = set(now.before.tolist())
    for label in tracked:
        mine = inside & (now.descent == label)
        shared = np.bincount(now.cluster[mine], now.weight[mine], clusters)
        if mine.any():
            homes[label] = int(shared.argmax())
            order.append((label not in shown, -float(shared.max()), label))
    labels = np.full(clusters, NO_LABEL)
    for _, _, label in sorted(order):
        if labels[homes[label]] == NO_LABEL:
            labels[homes[label]] = label
    return LabelMatches(labels, weights, homes, given)


def numbered(matches: LabelMatches, now: LabelObservation, tracked: list[int]) -> LabelMatches:
    """The same with labels for the clusters that have none of the tracked ones."""
    labels, given = matches.labels.copy(), matches.given
    for cluster in np.flatnonzero(labels == NO_LABEL).tolist():
        mine, weights = now.cluster == cluster, dict[int, float]()
        for known in (now.descent[mine], now.before[mine]):
            for label, weight in zip(known.tolist(), now.weight[mine].tolist(), strict=True):
                if label != NO_LABEL and label not in tracked and label not in labels:
                    weights[label] = weights.get(label, 0.0) + weight
        if weights:
            labels[cluster] = max(sorted(weights), key=weights.__getitem__)
        else:
            labels[cluster], given = given, given + 1
    return matches._replace(labels=labels, given=given)
