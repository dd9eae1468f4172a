"""Algorithm 1, the offline phase: GetClustering, and the nearest structure of a point (Eq. 17).

Functions of the state: none of them changes it, so clusters may be read at any moment, for any eps.
"""

from functools import cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from spclust.algorithm.distance import distances_of_point
from spclust.algorithm.neighbours import first_smallest
from spclust.algorithm.typicality import Relation, nlt_from_odds
from spclust.arrays import Booleans, Floats, Integers
from spclust.jit.decorators import allocating, kernel_of, paragraph
from spclust.numerics.eight import LANES
from spclust.numerics.memory import aligned, matrix, row
from spclust.state.kinds import plain, spare_size
from spclust.state.scratch import Unit
from spclust.state.structures import (
    EXPONENT,
    LIVE,
    REACH,
    SCALE,
    Structures,
    view_in_kernel,
)


def odds_limit(eps: float, in_logs: bool) -> float:
    """The pair odds eps / (1 - eps) at which the distance D of two structures is eps."""
    if eps == 1.0:
        return np.inf
    if in_logs:
        return float(np.log(eps) - np.log1p(-eps)) if eps > 0.0 else -np.inf
    return eps / (1.0 - eps)


def odds_limit_of_nlt(nlt: float, in_logs: bool) -> float:
    """The pair odds e^nlt - 1 at which -log(1 - D), the sum of both NLT, is nlt."""
    if isinstance(nlt, bool) or not isinstance(nlt, Real) or not nlt >= 0.0:
        raise ValueError(f"nlt must be a number of at least 0, but is {nlt!r}.")
    if in_logs:
        return float(nlt + np.log(-np.expm1(-nlt))) if nlt > 0.0 else -np.inf
    with np.errstate(over="ignore"):
        return float(np.expm1(nlt))


def odds_limit_of_count(pairs: Floats, n_clusters: int) -> float:
    """The smallest pair odds that leave n components, if neighbours are those within them.

    `pairs` (k, k) are those of all structures: DBSCAN with min_samples = 1 is single linkage.
    """
    k = len(pairs)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be an integer of at least 1, but is {n_clusters!r}.")
    if n_clusters > k:
        raise ValueError(f"There are {k} structures: they cannot make up {n_clusters} clusters.")
    if n_clusters == k:
        return np.nan  # nothing is within it, not even copies of one point
    from scipy.cluster.hierarchy import linkage  # few need it, and it takes its time to import

    levels, rank = np.unique(pairs[np.triu_indices(k, 1)], return_inverse=True)
    heights = linkage(rank + 1.0, "single")[:, 2].astype(np.int64) - 1
    limit = heights[k - n_clusters - 1]
    if n_clusters > 1 and heights[k - n_clusters] == limit:
        raise ValueError(
            f"There is no cut with {n_clusters} clusters: several pairs of structures are equally "
            "far apart."
        )
    return float(levels[limit])


@allocating
def adjacency(pair: Floats, order: Integers, limit: float) -> Booleans:
    """Which structures (k, k), in some order of their slots, are within `limit` of each other.

    Of `pair` (n, n), pair odds by slot, the upper triangle counts. Each is within reach of itself.
    """
    k = order.size
    adjacent = np.empty((k, k), np.bool_)
    for i in range(k):
        for j in range(i):
            a, b = order[i], order[j]
            adjacent[i, j] = adjacent[j, i] = pair[min(a, b), max(a, b)] <= limit
        adjacent[i, i] = True
    return adjacent


@allocating
def dbscan_labels(adjacent: Booleans, min_samples: int) -> Integers:
    """DBSCAN's labels (k,) from an adjacency matrix (k, k) with a true diagonal.

    GetClustering of Algorithm 1. A core has at least min_samples neighbours, itself included;
    clusters are numbered by their first core; what no core reaches is noise, -1. With
    min_samples = 1 these are the connected components.
    """
    k = adjacent.shape[0]
    labels = np.full(k, -1, np.int64)
    queue = np.empty(k, np.int64)
    cluster = 0
    for first in range(k):
        if labels[first] != -1 or np.sum(adjacent[first]) < min_samples:
            continue
        labels[first] = cluster
        queue[0] = first
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            if np.sum(adjacent[i]) < min_samples:
                continue  # a border structure: it belongs to the cluster but does not extend it
            for j in range(k):
                if adjacent[i, j] and labels[j] == -1:
                    labels[j] = cluster
                    queue[tail] = j
                    tail += 1
        cluster += 1
    return labels


def reading_memory(s: Structures) -> Floats:
    """Scratch memory of the two functions below; one for each thread."""
    d = s.drift.shape[1]
    return aligned(s.id.size + d * (LANES + 2) + spare_size(d, s.place.shape[1]))


@paragraph
def reading_parts(memory: Floats, s: Structures) -> tuple[Floats, Floats, Relation, Floats]:
    """A point (2, d), differences of eight means to it (d, 8), its distances in n slots, spare."""
    n, d = s.id.size, s.drift.shape[1]
    q = row(memory, d * LANES, n)
    x = matrix(memory, d * LANES + n, 2, d)
    for c in range(d):
        x[1, c] = 0.0
    rest = d * (LANES + 2) + n
    spare = row(memory, rest, memory.size - rest)
    return x, matrix(memory, 0, d, LANES), Relation(q, q, q, q, q), spare


class Readers(NamedTuple):
    """The two kernels that read the state, for one kind of spreads."""

    nearest_structures: Any
    least_nlt: Any


@cache
def readers(kind: int) -> Readers:
    """What is compiled for a kind, when it is first called."""
    if kind != plain(kind):
        return readers(plain(kind))

    @kernel_of(kind)
    def nearest_structures(
        pool: Floats, X: Floats, position: Integers, nearest: Integers, memory: Floats
    ) -> None:
        find_nearest(pool, X, position, nearest, memory, kind)

    @kernel_of(kind)
    def least_nlt(pool: Floats, X: Floats, group: Integers, least: Floats, memory: Floats) -> None:
        find_least_nlt(pool, X, group, least, memory, kind)

    return Readers(nearest_structures, least_nlt)


@paragraph
def find_nearest(
    pool: Floats, X: Floats, position: Integers, nearest: Integers, memory: Floats, kind: int
) -> None:
    """For each row of X, one after the other in one array, the nearest structure. Eq. (17).

    The distance 1 - u^2 of Eq. (17) grows with the squared Mahalanobis distance, which therefore
    decides alone; the oldest wins a tie (E12). What is written down is the `position` (live,) of
    its slot. Modified in place: nearest (rows,), memory.
    """
    s = view_in_kernel(pool, kind)
    live, unit = int(s.head[LIVE]), Unit(1.0 / s.head[SCALE], s.head[REACH])
    x, offset, to_all, spare = reading_parts(memory, s)
    for t in range(nearest.size):
        for c in range(x.shape[1]):
            x[0, c] = X[t * x.shape[1] + c]
        distances_of_point(x, s, unit, to_all, offset, spare, kind)
        nearest[t] = position[first_smallest(to_all.q, s.id, live)]


@paragraph
def find_least_nlt(
    pool: Floats, X: Floats, group: Integers, least: Floats, memory: Floats, kind: int
) -> None:
    """NLT of each row of X, one after the other, in the best structure of each group. Eq. (4).

    `group` (live,) gives the group of each slot, -1 for none. Modified in place: least
    (rows, n_groups), memory.
    """
    s = view_in_kernel(pool, kind)
    live, unit = int(s.head[LIVE]), Unit(1.0 / s.head[SCALE], s.head[REACH])
    x, offset, to_all, spare = reading_parts(memory, s)
    q = to_all.q
    n_groups = least.shape[1]
    for t in range(least.shape[0]):
        for c in range(x.shape[1]):
            x[0, c] = X[t * x.shape[1] + c]
        for g in range(n_groups):
            least[t, g] = np.inf
        distances_of_point(x, s, unit, to_all, offset, spare, kind)
        for i in range(live):
            g = group[i]
            if g >= 0 and q[i] < least[t, g]:
                least[t, g] = q[i]
        for g in range(n_groups):
            least[t, g] = nlt_from_odds(s.head[EXPONENT] * np.log(least[t, g]), True)
