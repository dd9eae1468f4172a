"""Two looks compared, in array operations and sets: beside `spclust.tracking.comparison`."""

import numpy as np

from spclust.tracking.comparison import BIRTH, ENOUGH, GONE, MERGE, SPLIT
from spclust.tracking.observation import NOBODY, Matches

PART, FAR = 0.15, 3.0


def compared(now, ids, owners, names):
    before = dict(zip(ids.tolist(), owners.tolist(), strict=True))
    whose = np.array([before.get(i, NOBODY) for i in now.id.tolist()], dtype=np.int64)
    inside = now.cluster >= 0
    masses = np.bincount(now.cluster[inside], now.weight[inside]).astype(float)
    shared = np.zeros((names.size, masses.size))
    known = inside & (whose != NOBODY)
    np.add.at(shared, (np.searchsorted(names, whose[known]), now.cluster[known]), now.weight[known])
    sums = shared.sum(axis=1, keepdims=True)
    parts = (shared >= PART * sums) & (shared > 0.0)
    homes = shared.argmax(axis=1) if masses.size else np.zeros(names.size, dtype=np.int64)
    return Matches(whose, names, masses, shared, parts, np.where(sums[:, 0] > 0.0, homes, NOBODY))


def changes(seen, now):
    names, homes = seen.ids.tolist(), seen.homes.tolist()
    enough = seen.weights >= ENOUGH
    found, tenants = [], {}
    for name, home in zip(names, homes, strict=True):
        if home == NOBODY or seen.weights[home] < ENOUGH / 2.0:
            found.append((GONE, name, NOBODY))
        else:
            tenants.setdefault(home, []).append(name)
    taken = set(tenants)
    for place, name in enumerate(names):
        large = np.flatnonzero(seen.parts[place] & enough).tolist()
        mine = [cluster for cluster in large if name in tenants.get(cluster, [name])]
        taken.update(mine)
        if len(mine) > 1:
            found.append((SPLIT, name, NOBODY))
    for first, *others in tenants.values():
        found += [(MERGE, first, other) for other in others]
    for cluster in np.flatnonzero(enough).tolist():
        if cluster not in taken:
            found.append((BIRTH, int(now.id[now.cluster == cluster].min()), NOBODY))
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def followed(seen, now):
    owners = seen.assigned.copy()
    for cluster in range(seen.weights.size):
        here = now.cluster == cluster
        free = here & (seen.assigned == NOBODY)
        tenants = seen.ids[seen.homes == cluster]
        partners = seen.ids[seen.parts[:, cluster]]
        if tenants.size == 1:
            owners[free | (here & ~np.isin(seen.assigned, partners))] = tenants[0]
        elif tenants.size:
            mine = [here & (seen.assigned == name) for name in tenants]
            centres = [centre_of(now.weight, now.mean, own) for own in mine]
            far = [np.sum((now.mean[free] - centre) ** 2, axis=1) for centre in centres]
            owners[free] = tenants[np.argmin(far, axis=0)]
        elif partners.size:
            owners[free] = partners[0]
    return owners


def centre_of(mass, mean, mine):
    return mass[mine] / mass[mine].sum() @ mean[mine]


def moved(now, owners, names, before):
    far, centres = np.zeros(names.size, dtype=bool), np.zeros(before.shape)
    for row, name in enumerate(names):
        mine = (owners == name) & (now.weight > 0.0)
        if mine.any():
            share, mean = now.weight[mine] / now.weight[mine].sum(), now.mean[mine]
            centres[row] = share @ mean
            around = np.mean((mean - centres[row]) ** 2, axis=1) + now.variance[mine]
            way = np.sum((centres[row] - before[row]) ** 2)
            far[row] = way > FAR**2 * (share @ around)
    return far, centres
