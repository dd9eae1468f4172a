"""Two looks at the structures compared: whose each one is, what seems to happen, who has moved.

A look is taken while points are waiting to be learnt, again and again. All of this is a few loops
over fifty numbers, which as array operations would take as long as to learn hundreds of points.
"""

import numpy as np

from spclust.arrays import Booleans, Floats, Integers
from spclust.jit.decorators import allocating, kernel
from spclust.tracking.observation import NOBODY, Matches, Observation

ENOUGH = 4.0  # recent points, faded, that make a cluster; half of it keeps one that there is
GONE, SPLIT, MERGE, BIRTH = range(4)  # what seems to happen: the first column of `changes`
_PART = 0.15  # of what is left of a cluster: less of it elsewhere is no part to speak of
_FAR = 3.0  # standard deviations of a cluster: a way that is worth a word


@kernel
def compared(now: Observation, structures: Integers, owners: Integers, ids: Integers) -> Matches:
    """Match an observation with the owners (m,) that structures with these ids (m,) had before.

    Structures are in order. `ids` (n,), in order, are those of all clusters, owners among them.
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
            found[i] = owners[before]
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
            parts[place, cluster] = weight > 0.0 and weight >= _PART * total
            if weight > largest:
                largest, homes[place] = weight, cluster
    return Matches(found, ids, weights, shared, parts, homes)


@kernel
def changes(matches: Matches, now: Observation) -> Integers:
    """What seems to have happened (m, 3): a kind, and one or two names; of a birth, a structure.

    A split goes by the name of the whole, and what is born, and has no name yet, by an id.
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
    """Name (k,) whose each structure is from now on.

    Those that nobody has, and those of somebody who has no considerable part of their cluster,
    belong to whoever has its home there. If several have, or nobody, only those that nobody has
    change hands: to the nearest of several, or to the first that has a part.
    """
    n, clusters = matches.parts.shape
    tenants, one = np.zeros(clusters, np.int64), np.full(clusters, NOBODY)
    for place in range(n - 1, -1, -1):
        if matches.homes[place] != NOBODY:
            tenants[matches.homes[place]] += 1
            one[matches.homes[place]] = matches.ids[place]
    for place in range(n - 1, -1, -1):
        for cluster in range(clusters):
            if tenants[cluster] == 0 and matches.parts[place, cluster]:
                one[cluster] = matches.ids[place]
    owners = matches.owners.copy()
    for i in range(owners.size):
        cluster, owner = now.cluster[i], matches.owners[i]
        if cluster < 0 or one[cluster] == NOBODY:
            continue
        if owner == NOBODY:
            owners[i] = one[cluster] if tenants[cluster] < 2 else nearest_tenant(matches, now, i)
        elif (
            tenants[cluster] == 1
            and not matches.parts[np.searchsorted(matches.ids, owner), cluster]
        ):
            owners[i] = one[cluster]
    return owners


@allocating
def nearest_tenant(matches: Matches, now: Observation, structure: int) -> int:
    """Name, of those at home in the cluster of a structure, whose part of it is the nearest."""
    cluster, nearest, least = now.cluster[structure], NOBODY, np.inf
    for place in range(matches.ids.size):
        if matches.homes[place] != cluster:
            continue
        mine = (now.cluster == cluster) & (matches.owners == matches.ids[place])
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
def centre_of(mass: Floats, mean: Floats, mine: Booleans) -> Floats:
    """Mean (d,) of some structures by their mass, which is more than 0."""
    total, centre = 0.0, np.zeros(mean.shape[1])
    for i in range(mass.size):
        if mine[i]:
            total += mass[i]
    for i in range(mass.size):
        if mine[i]:
            for c in range(centre.size):
                centre[c] += mass[i] / total * mean[i, c]
    return centre


@kernel
def moved(
    now: Observation, owners: Integers, names: Integers, before: Floats
) -> tuple[Booleans, Floats]:
    """Which names (n,) are far from where they were `before` (n, d), and where all are now (n, d).

    `owners` (k,), names among them, are those of the structures.
    """
    k, d = now.mean.shape
    masses, variances, centres = np.zeros(names.size), np.zeros(names.size), np.zeros(before.shape)
    place = np.searchsorted(names, owners)
    for i in range(k):
        if owners[i] != NOBODY:
            masses[place[i]] += now.weight[i]
    for i in range(k):
        if owners[i] != NOBODY and now.weight[i] > 0.0:
            for c in range(d):
                centres[place[i], c] += now.weight[i] / masses[place[i]] * now.mean[i, c]
    for i in range(k):
        if owners[i] != NOBODY and now.weight[i] > 0.0:
            around = squared_way(now.mean[i], centres[place[i]]) / d + now.variance[i]
            variances[place[i]] += now.weight[i] / masses[place[i]] * around
    far = np.zeros(names.size, np.bool_)
    for j in range(names.size):
        way = squared_way(centres[j], before[j])
        far[j] = masses[j] > 0.0 and way > _FAR**2 * variances[j]
    return far, centres
