"""Algorithm 1, the offline phase: GetClustering, DBSCAN over the structures.

Functions of the state: none of them changes it, so clusters may be read at any moment, for any eps.
"""

from numbers import Integral, Real

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.jit.decorators import kernel


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
    refuse_count(n_clusters, k)
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


def refuse_count(n_clusters: int, k: int) -> None:
    """Raise a ValueError if k structures cannot make up so many clusters."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be an integer of at least 1, but is {n_clusters!r}.")
    if n_clusters > k:
        raise ValueError(f"There are {k} structures: they cannot make up {n_clusters} clusters.")


@kernel
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


@kernel
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
