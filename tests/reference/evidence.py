"""Clusters by evidence in plain NumPy: which of the proposed groups are separate."""

import numpy as np

from spclust.auto.cut import automatic_clusters

PLACES, RIPPLE, EMPTY, NEGLIGIBLE, TRIALS = 41, 0.04, 0.1, 40.0, 4.0
STRAY = -1


def clusters_by_evidence(z, mass, covariance):
    """Cluster (k,) of structures with means z (k, d), masses and covariances (k, d, d)."""
    k = len(z)
    if k < 3:
        return np.zeros(k, dtype=int)
    radius = np.sqrt(np.maximum(np.trace(covariance, axis1=1, axis2=2), 0.0))
    labels = automatic_clusters(np.ascontiguousarray(z), mass, radius)
    return merged_until_separate(labels, z, mass, covariance, np.sqrt(2.0 * np.log(TRIALS * k)))


def merged_until_separate(labels, z, mass, covariance, limit):
    """Merge the least separate two groups, or call one a stray, until all are separate."""
    labels = labels.copy()
    while True:
        groups = sorted(set(labels[labels >= 0]))
        pairs = [(a, b) for a in groups for b in groups if b < a]
        found = [separation(labels, a, b, z, mass, covariance) for a, b in pairs]
        least = min((ratio for ratio, _ in found), default=np.inf)
        if least > limit:
            return labels
        at = max(i for i, (ratio, _) in enumerate(found) if ratio == least)
        (a, b), (_, share) = pairs[at], found[at]
        lighter, heavier = (a, b) if mass[labels == a].sum() < mass[labels == b].sum() else (b, a)
        labels[labels == lighter] = STRAY if share < EMPTY else heavier


def separation(labels, a, b, z, mass, covariance):
    """The deepest valley in standard deviations, and the emptiest one's share of the peak."""
    centre = {g: np.average(z[labels == g], axis=0, weights=mass[labels == g]) for g in (a, b)}
    line = centre[b] - centre[a]
    if not line.any():
        return 0.0, 1.0
    line /= np.linalg.norm(line)
    both = (labels == a) | (labels == b)
    group, n, place = labels[both], mass[both], z[both] @ line
    variance = np.maximum(np.einsum("i,kij,j->k", line, covariance[both], line), 0.0)
    middle = {g: np.average(place[group == g], weights=n[group == g]) for g in (a, b)}
    offsets = place - np.array([middle[g] for g in group])
    within = np.average(variance + offsets**2, weights=n)
    places = np.linspace(middle[a] - np.sqrt(within), middle[b] + np.sqrt(within), PLACES)
    best_width = within * min(n[group == a].sum(), n[group == b].sum()) ** -0.4
    width = variance + max(best_width, ((places[1] - places[0]) / 2.0) ** 2)
    x = 0.5 * (places[:, np.newaxis] - place) ** 2 / width
    K = np.where(x < NEGLIGIBLE, np.exp(-x), 0.0) / np.sqrt(width)
    density = K @ n
    best, emptiest = 0.0, 1.0
    for g in range(1, PLACES - 1):
        before, after = np.argmax(density[:g]), g + np.argmax(density[g:])
        peak = min(before, after, key=lambda p: density[p])
        if density[g] < density[peak]:
            difference = K[peak] - K[g]
            deviation = np.sqrt(n @ difference**2 + 1e-300)
            best = max(best, (n @ difference - RIPPLE * density[peak]) / deviation)
            emptiest = min(emptiest, density[g] / density[peak])
    return best, emptiest


def partition(labels, names):
    """Groups of names with the same label, and those without one."""
    groups = {}
    for label, name in zip(labels, names, strict=True):
        groups.setdefault(int(label), set()).add(int(name))
    strays = groups.pop(STRAY, set())
    return sorted(map(sorted, groups.values())), sorted(strays)
