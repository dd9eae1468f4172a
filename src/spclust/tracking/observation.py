"""Observations: the structures and their clusters at one moment."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.jit.decorators import kernel, part
from spclust.numerics.eight import LANES
from spclust.state.kinds import FULL, LOWRANK
from spclust.state.structures import Structures, in_kernel
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream

NOBODY = -1


class Observation(NamedTuple):
    """The structures, oldest first, and their clusters at one moment."""

    seen: int  # points learnt
    id: Integers  # (k,) in order
    cluster: Integers  # (k,) 0, 1, ...; -1 is noise
    weight: Floats  # (k,) damped sum of typicalities, or number, of recent points
    mean: Floats  # (k, d)
    variance: Floats  # (k,) of a feature, on average


class Matches(NamedTuple):
    """An observation matched with the cluster ids that there were before."""

    assigned: Integers  # (k,) cluster id of each structure before, or NOBODY
    ids: Integers  # (n,) cluster ids, in order
    weights: Floats  # (c,) of each cluster
    shared: Floats  # (n, c) weight of the structures of each cluster id in each cluster
    parts: Booleans  # (n, c) those that are considerable
    homes: Integers  # (n,) cluster where most of each cluster id is, or NOBODY


def observe(stream: AnyStream, labels: Integers) -> Observation:
    """Observe the structures of a stream, oldest first, with their labels (k,)."""
    order = stream.order()
    if isinstance(stream, AutomaticStream):
        ids, weights, means = stream.structures.id[order], stream.faded_counts(), stream.means()
        variances = (stream.deviations() ** 2).mean(axis=1)
    else:
        ids, weights, means, variances = read_structures(stream.structures.memory, order)
    return Observation(stream.seen, ids, labels, weights, means, variances)


@kernel
def read_structures(memory: Floats, order: Integers) -> tuple[Integers, Floats, Floats, Floats]:
    """Ids (k,), weights (k,), means (k, d) and variances (k,) of the structures in some slots.

    Means and variances, those of a feature on average, are in the unit of the data. In one call:
    points wait to be learnt meanwhile.
    """
    s = in_kernel(memory, FULL)  # whatever its kind: known extents would gain nothing here
    k, d = order.size, s.d
    ids, weights = np.empty(k, np.int64), np.empty(k)
    means, variances = np.empty((k, d)), np.empty(k)
    square = s.scale**2
    for i in range(k):
        slot = order[i]
        ids[i], weights[i] = s.id[slot], s.total[slot]
        variances[i] = square * mean_variance(slot, s)
        b, lane = slot // LANES, slot % LANES
        for c in range(d):
            means[i, c] = s.anchor[b, c, lane] + s.drift[b, c, lane]
    return ids, weights, means, variances


@part
def mean_variance(slot: int, s: Structures) -> float:
    """Variance of a feature, on average, in units of scale^2."""
    kind, total = s.kind, 0.0
    if kind == FULL:
        for c in range(s.d):
            total += s.Sigma[slot, c, c]
        return total / s.d
    if kind == LOWRANK:
        base = s.base[slot]
        for k in range(s.rank[slot]):
            total += s.Sigma[slot, 0, k * (k + 3) // 2] - base
        return base + total / s.d
    for c in range(s.columns):  # one for each feature, or one for all
        total += s.Sigma[slot, 0, c]
    return total / s.columns
