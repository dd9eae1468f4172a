"""Parts of clusters that recent points show, where older ones still connect them.

What a moving cluster leaves behind is removed by evidence, which takes a few hundred points. Until
then it connects the two parts of a cluster that divides. So each cluster is divided into halves by
the points of about the last N only, and the valley between them is judged as in
`auto.clusters.separation`.
"""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.lasting_labels import NO_LABEL
from spclust.auto.clusters.separation import Placement, divide_by_halves, separation_of_halves

_LEAST = 0.2  # recent points of a structure that counts
_FEWEST = 4.0  # recent points of a part
_LIMIT, _SHARE = 2.2, 0.6  # depth of a valley, in standard deviations; its density at most
_LIMIT_KEPT, _SHARE_KEPT = 1.5, 0.8  # the same between two clusters that were told before


def divided(
    clusters: Integers, descent: Integers, told: Integers, recent: Floats, placed: Placement
) -> Integers:
    """Part (k,) of each structure, of clusters (k,) divided by recent points (k,); -1 if unknown.

    `placed` are the structures with recent points, `told` the labels of tracked clusters.
    """
    counts = recent >= _LEAST
    if counts.sum() < 3:
        return clusters
    parts = np.full(clusters.size, NO_LABEL)
    used = Placement(*(values[counts] for values in placed))
    parts[counts] = divide_by_halves(clusters[counts], used, _LIMIT, _SHARE)
    for cluster in range(int(clusters.max(initial=-1)) + 1):
        inside = clusters == cluster
        kept = [label for label in told.tolist() if lives_in(inside, descent == label, recent)]
        if len(kept) == 2:
            half = np.where(inside, (descent == kept[1]) - 1 * ~np.isin(descent, kept), -1)
            depth, share = separation_of_halves(half[counts], used)
            if depth > _LIMIT_KEPT and share < _SHARE_KEPT:
                new = int(parts.max()) + 1
                parts[inside] = np.where(half >= 0, new + half, NO_LABEL)[inside]
                parts[~counts] = NO_LABEL
    return parts


def lives_in(inside: Booleans, mine: Booleans, recent: Floats) -> bool:
    """True if most recent points (k,) of some structures (k,) are in a cluster, and not few."""
    there = recent[inside & mine].sum()
    return bool(there >= _FEWEST / 2.0 and there > 0.5 * recent[mine].sum())


def with_parts(clusters: Integers, parts: Integers, recent: Floats, squares: Floats) -> Integers:
    """Clusters (k,) divided into those of their parts (k,) that have enough recent points (k,).

    All other structures of a cluster are in the part of the nearest one; squared distances (k, k).
    """
    found = clusters.copy()
    for cluster in range(int(clusters.max(initial=-1)) + 1):
        inside = np.flatnonzero(clusters == cluster)
        mine = parts[inside]
        points = np.bincount(mine[mine >= 0], recent[inside][mine >= 0], 1)
        large = np.flatnonzero(points >= _FEWEST)
        if large.size < 2:
            continue
        sources = inside[np.isin(mine, large)]
        nearest = sources[squares[np.ix_(inside, sources)].argmin(axis=1)]
        own = np.where(np.isin(mine, large), mine, parts[nearest])
        for part in large[np.argsort(-points[large], kind="stable")][1:].tolist():
            found[inside[own == part]] = found.max() + 1
    return found
