"""The valley on the line through the centres of two groups, or on their discriminant, in NumPy."""

import numpy as np

PLACES, RIPPLE, NEGLIGIBLE = 41, 0.04, 40.0
RESOLVED, MOST, CHOSEN = 3, 64, 2.0


def nearer(z, low, high):
    """1 (k,) for what is nearer to the second place, 0 otherwise."""
    return (np.sum((z - high) ** 2, axis=1) < np.sum((z - low) ** 2, axis=1)).astype(int)


def separation(labels, a, b, z, mass, covariance):
    """The deepest valley in standard deviations, and the emptiest one's share of the peak."""
    centre = {g: np.average(z[labels == g], axis=0, weights=mass[labels == g]) for g in (a, b)}
    line = centre[b] - centre[a]
    if not line.any():
        return 0.0, 1.0
    both = (labels == a) | (labels == b)
    group, n, nearer_by = labels[both], mass[both], 0.0
    if line.size > RESOLVED:  # structures count as round
        variance = np.trace(covariance[both], axis1=1, axis2=2) / line.size
        offset = z[both] - np.array([centre[g] for g in group])
        S = (offset.T * n) @ offset / n.sum() + np.average(variance, weights=n) * np.eye(line.size)
        inverse_counts = 1.0 / n[group == a].sum() + 1.0 / n[group == b].sum()
        chance = CHOSEN * np.trace(S) * inverse_counts / (line @ line)
        if chance >= 1.0:
            return 0.0, 1.0
        if line.size <= MOST:
            line = discriminant(S, n.sum(), line)
        line /= np.linalg.norm(line)
        nearer_by = (1.0 - np.sqrt(1.0 - chance)) * (line @ (centre[b] - centre[a]))
    else:
        line /= np.linalg.norm(line)
        variance = np.maximum(np.einsum("i,kij,j->k", line, covariance[both], line), 0.0)
    place = z[both] @ line - nearer_by * (group == b)
    middle = {g: np.average(place[group == g], weights=n[group == g]) for g in (a, b)}
    offsets = place - np.array([middle[g] for g in group])
    within = np.average(variance + offsets**2, weights=n)
    places = np.linspace(middle[a], middle[b], PLACES)
    best_width = within * min(n[group == a].sum(), n[group == b].sum()) ** -0.4
    width = variance + max(best_width, ((places[1] - places[0]) / 2.0) ** 2)
    if not width.all():  # rounding alone tells the two places apart
        return 0.0, 1.0
    x = 0.5 * (places[:, np.newaxis] - place) ** 2 / width
    K = np.where(x < NEGLIGIBLE, np.exp(-x), 0.0) / np.sqrt(width)
    density = K @ n
    best, emptiest = 0.0, 1.0
    for g in range(1, PLACES - 1):
        before, after = density[:g].argmax(), g + density[g:].argmax()
        peak = min(before, after, key=lambda p: density[p])
        if density[g] < density[peak]:
            difference = K[peak] - K[g]
            deviation = np.sqrt(n @ difference**2 + 1e-300)
            best = max(best, (n @ difference - RIPPLE * density[peak]) / deviation)
            emptiest = min(emptiest, density[g] / density[peak])
    return best, emptiest


def discriminant(S, n, line):
    """The line for the covariance of n points, shrunk (Chen and others, 2010)."""
    d, trace, squares = len(S), np.trace(S), np.sum(S**2)
    known = (n + 1.0 - 2.0 / d) * (squares - trace**2 / d)
    unknown = (1.0 - 2.0 / d) * squares + trace**2
    if unknown >= known:
        return line
    share = unknown / known
    return np.linalg.solve((1.0 - share) * S + share * trace / d * np.eye(d), line)
