"""Comparison of an observation with the one before: cluster ids, changes and moves.

Points wait to be learnt meanwhile. All of this is a few loops over fifty numbers, which as array
operations would take as long as to learn hundreds of points.
"""

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.jit.decorators import allocating, kernel
from spclust.tracking.events import ENOUGH, FAR, PART
from spclust.tracking.observation import NOBODY, Matches, Observation

GONE, SPLIT, MERGE, BIRTH = range(4)  # kinds of changes: the first column of `changes`


def compared(now: Observation, structures: Integers, assigned: Integers, ids: Integers) -> Matches:
    """Match an observation with the cluster ids (m,) that were `assigned` to structures (m,).

    `structures` are ids of structures, in order; `ids` (n,), in order, are all cluster ids.
    """
    found, weights, shared, parts, homes = matched(now, structures, assigned, ids)
    return Matches(found, ids, weights, shared, parts, homes)


@kernel
def matched(
    now: Observation, structures: Integers, assigned: Integers, ids: Integers
) -> tuple[Integers, Floats, Floats, Booleans, Integers]:
    """The fields of `Matches` but `ids`: see `compared`.

    A kernel returns no named tuple: Python code, which a signal may interrupt, would make it.
    """
    k, n, clusters = now.id.size, ids.size, 0
    for i in range(k):
        clusters = max(clusters, now.cluster[i] + 1)
    found, weights, shared = np.full(k, NOBODY), np.zeros(clusters), np.zeros((n, clusters))
    before = 0
    for i in range(k):
        while before < structures.size and structures[before] < now.id[i]:
            before += 1
        if before < structures.size and structures[before] == now.id[i]:
            found[i] = assigned[before]
        cluster = now.cluster[i]
        if cluster >= 0:
            weights[cluster] += now.weight[i]
            if found[i] != NOBODY:
                shared[np.searchsorted(ids, found[i]), cluster] += now.weight[i]
    parts, homes = np.zeros((n, clusters), np.bool_), np.full(n, NOBODY)
    for place in range(n):
        total, largest = shared[place].sum(), 0.0
        for cluster in range(clusters):
            weight = shared[place, cluster]
            parts[place, cluster] = weight > 0.0 and weight >= PART * total
            if weight > largest:
                largest, homes[place] = weight, cluster
    return found, weights, shared, parts, homes


@kernel
def changes(matches: Matches, now: Observation) -> Integers:
    """Changes (m, 3) that an observation suggests: a kind, and one or two cluster ids.

    A split has the id of the whole cluster. A birth, whose cluster has no id yet, has the id of its
    oldest structure.
    """
    n, clusters = matches.parts.shape
    found, many = np.full((2 * n + clusters, 3), NOBODY), 0
    first, taken = np.full(clusters, NOBODY), np.zeros(clusters, np.bool_)
    lives = np.zeros(n, np.bool_)
    for place in range(n):
        home = matches.homes[place]
        lives[place] = home != NOBODY and matches.weights[home] >= ENOUGH / 2.0
        if not lives[place]:
            found[many, 0], found[many, 1] = GONE, matches.ids[place]
            many += 1
        elif first[home] == NOBODY:
            first[home], taken[home] = place, True
    for place in range(n):
        mine = 0
        for cluster in range(clusters):
            if matches.parts[place, cluster] and matches.weights[cluster] >= ENOUGH:
                own = lives[place] and matches.homes[place] == cluster
                if own or first[cluster] == NOBODY:
                    mine += 1
                    taken[cluster] = True
        if mine > 1:
            found[many, 0], found[many, 1] = SPLIT, matches.ids[place]
            many += 1
    for place in range(n):
        home = matches.homes[place]
        if lives[place] and first[home] == place:
            for other in range(place + 1, n):
                if lives[other] and matches.homes[other] == home:
                    found[many, 0] = MERGE
                    found[many, 1], found[many, 2] = matches.ids[place], matches.ids[other]
                    many += 1
    for cluster in range(clusters):
        if matches.weights[cluster] >= ENOUGH and not taken[cluster]:
            found[many, 0], found[many, 1] = BIRTH, now.id[np.argmax(now.cluster == cluster)]
            many += 1
    return found[:many]


@kernel
def followed(matches: Matches, now: Observation) -> Integers:
    """Cluster id (k,) of each structure from now on.

    A structure without an id, or whose id has no considerable part of its cluster, gets the one id
    that has its home there. If several ids have, or none, only structures without an id get one:
    the nearest of several, or the first that has a part.
    """
    n, clusters = matches.parts.shape
    at_home, one = np.zeros(clusters, np.int64), np.full(clusters, NOBODY)
    for place in range(n - 1, -1, -1):
        if matches.homes[place] != NOBODY:
            at_home[matches.homes[place]] += 1
            one[matches.homes[place]] = matches.ids[place]
    for place in range(n - 1, -1, -1):
        for cluster in range(clusters):
            if at_home[cluster] == 0 and matches.parts[place, cluster]:
                one[cluster] = matches.ids[place]
    assigned = matches.assigned.copy()
    for i in range(assigned.size):
        cluster, before = now.cluster[i], matches.assigned[i]
        if cluster < 0 or one[cluster] == NOBODY:
            continue
        if before == NOBODY:
            assigned[i] = one[cluster] if at_home[cluster] < 2 else nearest_id(matches, now, i)
        elif (
            at_home[cluster] == 1
            and not matches.parts[np.searchsorted(matches.ids, before), cluster]
        ):
            assigned[i] = one[cluster]
    return assigned


@allocating
def nearest_id(matches: Matches, now: Observation, structure: int) -> int:
    """Cluster id whose home is the cluster of a structure, and whose part of it is nearest."""
    cluster, nearest, least = now.cluster[structure], NOBODY, np.inf
    for place in range(matches.ids.size):
        if matches.homes[place] != cluster:
            continue
        mine = (now.cluster == cluster) & (matches.assigned == matches.ids[place])
        way = squared_way(centre_of(now.weight, now.mean, mine), now.mean[structure])
        if nearest == NOBODY or way < least:
            nearest, least = matches.ids[place], way
    return nearest


@allocating
def squared_way(a: Floats, b: Floats) -> float:
    """Squared distance of two places (d,)."""
    total = 0.0
    for c in range(a.size):
        total += (a[c] - b[c]) ** 2
    return total


@kernel
def centre_of(weight: Floats, mean: Floats, mine: Booleans) -> Floats:
    """Mean (d,) of some structures, by their weights, whose sum is more than 0."""
    total, centre = 0.0, np.zeros(mean.shape[1])
    for i in range(weight.size):
        if mine[i]:
            total += weight[i]
    for i in range(weight.size):
        if mine[i]:
            for c in range(centre.size):
                centre[c] += weight[i] / total * mean[i, c]
    return centre


@kernel
def moved(
    now: Observation, assigned: Integers, ids: Integers, before: Floats
) -> tuple[Booleans, Floats]:
    """True (n,) for cluster ids far from where they were `before` (n, d), and all centres (n, d).

    `assigned` (k,) are the cluster ids of the structures.
    """
    k, d = now.mean.shape
    weights, variances, centres = np.zeros(ids.size), np.zeros(ids.size), np.zeros(before.shape)
    place = np.searchsorted(ids, assigned)
    for i in range(k):
        if assigned[i] != NOBODY:
            weights[place[i]] += now.weight[i]
    for i in range(k):
        if assigned[i] != NOBODY and now.weight[i] > 0.0:
            for c in range(d):
                centres[place[i], c] += now.weight[i] / weights[place[i]] * now.mean[i, c]
    for i in range(k):
        if assigned[i] != NOBODY and now.weight[i] > 0.0:
            around = squared_way(now.mean[i], centres[place[i]]) / d + now.variance[i]
            variances[place[i]] += now.weight[i] / weights[place[i]] * around
    far = np.zeros(ids.size, np.bool_)
    for j in range(ids.size):
        way = squared_way(centres[j], before[j])
        far[j] = weights[j] > 0.0 and way > FAR**2 * variances[j]
    return far, centres
