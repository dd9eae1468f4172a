"""Two looks at the structures compared: whose each one is, what seems to happen, who has moved.

A look is taken while points are waiting to be learnt, again and again. All of this is a few loops
over fifty numbers, which as array operations would take as long as to learn hundreds of points.
"""

import numpy as np

from spclust.arrays import Booleans, Floats, Integers
from spclust.jit.decorators import allocating
from spclust.tracking.observation import NOBODY, Look, Seen

ENOUGH = 4.0  # recent points, faded, that make a cluster; half of it keeps one that there is
GONE, SPLIT, MERGE, BIRTH = range(4)  # what seems to happen: the first column of `changes`
_PART = 0.15  # of what is left of a cluster: less of it elsewhere is no part to speak of
_FAR = 3.0  # standard deviations of a cluster: a way that is worth a word


@allocating
def compared(now: Look, ids: Integers, owners: Integers, names: Integers) -> Seen:
    """What is seen now, beside the owners (m,) that structures with these ids (m,) had before.

    Ids are in order. `names` (n,), in order, are of those that there are, owners among them.
    """
    k, n, clusters = now.id.size, names.size, 0
    for i in range(k):
        clusters = max(clusters, now.cluster[i] + 1)
    found, masses, shared = np.full(k, NOBODY), np.zeros(clusters), np.zeros((n, clusters))
    before = 0
    for i in range(k):
        while before < ids.size and ids[before] < now.id[i]:
            before += 1
        if before < ids.size and ids[before] == now.id[i]:
            found[i] = owners[before]
        cluster = now.cluster[i]
        if cluster >= 0:
            masses[cluster] += now.mass[i]
            if found[i] != NOBODY:
                shared[np.searchsorted(names, found[i]), cluster] += now.mass[i]
    parts, homes = np.zeros((n, clusters), np.bool_), np.full(n, NOBODY)
    for place in range(n):
        total, largest = shared[place].sum(), 0.0
        for cluster in range(clusters):
            mass = shared[place, cluster]
            parts[place, cluster] = mass > 0.0 and mass >= _PART * total
            if mass > largest:
                largest, homes[place] = mass, cluster
    return Seen(found, names, masses, shared, parts, homes)


@allocating
def changes(seen: Seen, now: Look) -> Integers:
    """What seems to have happened (m, 3): a kind, and one or two names; of a birth, a structure.

    A split goes by the name of the whole, and what is born, and has no name yet, by an id.
    """
    n, clusters = seen.parts.shape
    found, many = np.full((2 * n + clusters, 3), NOBODY), 0
    first, taken = np.full(clusters, NOBODY), np.zeros(clusters, np.bool_)
    lives = np.zeros(n, np.bool_)
    for place in range(n):
        home = seen.homes[place]
        lives[place] = home != NOBODY and seen.masses[home] >= ENOUGH / 2.0
        if not lives[place]:
            found[many, 0], found[many, 1] = GONE, seen.names[place]
            many += 1
        elif first[home] == NOBODY:
            first[home], taken[home] = place, True
    for place in range(n):
        mine = 0
        for cluster in range(clusters):
            if seen.parts[place, cluster] and seen.masses[cluster] >= ENOUGH:
                own = lives[place] and seen.homes[place] == cluster
                if own or first[cluster] == NOBODY:
                    mine += 1
                    taken[cluster] = True
        if mine > 1:
            found[many, 0], found[many, 1] = SPLIT, seen.names[place]
            many += 1
    for place in range(n):
        home = seen.homes[place]
        if lives[place] and first[home] == place:
            for other in range(place + 1, n):
                if lives[other] and seen.homes[other] == home:
                    found[many, 0] = MERGE
                    found[many, 1], found[many, 2] = seen.names[place], seen.names[other]
                    many += 1
    for cluster in range(clusters):
        if seen.masses[cluster] >= ENOUGH and not taken[cluster]:
            found[many, 0], found[many, 1] = BIRTH, now.id[np.argmax(now.cluster == cluster)]
            many += 1
    return found[:many]


@allocating
def followed(seen: Seen, now: Look) -> Integers:
    """Name (k,) whose each structure is from now on.

    Those that nobody has, and those of somebody who has no considerable part of their cluster,
    belong to whoever has its home there. If several have, or nobody, only those that nobody has
    change hands: to the nearest of several, or to the first that has a part.
    """
    n, clusters = seen.parts.shape
    tenants, one = np.zeros(clusters, np.int64), np.full(clusters, NOBODY)
    for place in range(n - 1, -1, -1):
        if seen.homes[place] != NOBODY:
            tenants[seen.homes[place]] += 1
            one[seen.homes[place]] = seen.names[place]
    for place in range(n - 1, -1, -1):
        for cluster in range(clusters):
            if tenants[cluster] == 0 and seen.parts[place, cluster]:
                one[cluster] = seen.names[place]
    owners = seen.owners.copy()
    for i in range(owners.size):
        cluster, owner = now.cluster[i], seen.owners[i]
        if cluster < 0 or one[cluster] == NOBODY:
            continue
        if owner == NOBODY:
            owners[i] = one[cluster] if tenants[cluster] < 2 else nearest_tenant(seen, now, i)
        elif tenants[cluster] == 1 and not seen.parts[np.searchsorted(seen.names, owner), cluster]:
            owners[i] = one[cluster]
    return owners


@allocating
def nearest_tenant(seen: Seen, now: Look, structure: int) -> int:
    """Name, of those at home in the cluster of a structure, whose part of it is the nearest."""
    cluster, nearest, least = now.cluster[structure], NOBODY, np.inf
    for place in range(seen.names.size):
        if seen.homes[place] != cluster:
            continue
        mine = (now.cluster == cluster) & (seen.owners == seen.names[place])
        way = squared_way(centre_of(now.mass, now.mean, mine), now.mean[structure])
        if nearest == NOBODY or way < least:
            nearest, least = seen.names[place], way
    return nearest


@allocating
def squared_way(a: Floats, b: Floats) -> float:
    """Squared distance of two places (d,)."""
    total = 0.0
    for c in range(a.size):
        total += (a[c] - b[c]) ** 2
    return total


@allocating
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


@allocating
def moved(now: Look, owners: Integers, names: Integers, before: Floats) -> tuple[Booleans, Floats]:
    """Which names (n,) are far from where they were `before` (n, d), and where all are now (n, d).

    `owners` (k,), names among them, are those of the structures.
    """
    k, d = now.mean.shape
    masses, variances, centres = np.zeros(names.size), np.zeros(names.size), np.zeros(before.shape)
    place = np.searchsorted(names, owners)
    for i in range(k):
        if owners[i] != NOBODY:
            masses[place[i]] += now.mass[i]
    for i in range(k):
        if owners[i] != NOBODY and now.mass[i] > 0.0:
            for c in range(d):
                centres[place[i], c] += now.mass[i] / masses[place[i]] * now.mean[i, c]
    for i in range(k):
        if owners[i] != NOBODY and now.mass[i] > 0.0:
            around = squared_way(now.mean[i], centres[place[i]]) / d + now.variance[i]
            variances[place[i]] += now.mass[i] / masses[place[i]] * around
    far = np.zeros(names.size, np.bool_)
    for j in range(names.size):
        way = squared_way(centres[j], before[j])
        far[j] = masses[j] > 0.0 and way > _FAR**2 * variances[j]
    return far, centres
