"""Parts of clusters in many dimensions, in plain NumPy: whole branches of Ward's tree."""

import numpy as np

from tests.reference.line_valley import nearer, separation

FEWEST, DEEP = 6, 0.5


def divided_into_parts(labels, z, mass, covariance, limit):
    """Labels (k,) of the largest whole branches of each cluster (k,); -1 stays."""

    def valley(side):
        ratio, share = separation(side, 0, 1, z, mass, covariance)
        return ratio > limit and share < DEEP

    def apart(a, b, cluster):
        if min(len(a), len(b)) < FEWEST:
            return False
        side = np.full(len(z), -1)
        side[a], side[b] = 0, 1
        if not valley(side):
            return False
        low, high = (np.average(z[part], axis=0, weights=mass[part]) for part in (a, b))
        around = np.sum((z - (low + high) / 2) ** 2, axis=1) < np.sum((high - low) ** 2)
        others = (side < 0) & (labels == cluster) & around
        return valley(np.where(others, nearer(z, low, high), side))

    parts = []
    for cluster in sorted(set(labels[labels >= 0])):
        branches = [([int(i)], [[int(i)]]) for i in np.flatnonzero(labels == cluster)]
        while len(branches) > 1:  # structures of a branch, and its whole branches
            costs = costs_of_merges([structures for structures, _ in branches], z, mass)
            j, i = sorted(np.unravel_index(costs.argmin(), costs.shape))
            (a, of_a), (b, of_b) = branches.pop(i), branches.pop(j)
            whole = len(of_a) == len(of_b) == 1 and not apart(a, b, cluster)
            branches.append((a + b, [a + b] if whole else of_a + of_b))
        parts += branches[0][1]
    found = labels.copy()
    for number, part in enumerate(parts):
        found[part] = number
    return found


def costs_of_merges(branches, z, mass):
    """What merging each two branches adds to the sum of squares."""
    n = np.array([mass[branch].sum() for branch in branches])
    centre = np.array([mass[branch] @ z[branch] for branch in branches]) / n[:, np.newaxis]
    squares = np.sum((centre[:, np.newaxis] - centre) ** 2, axis=2)
    costs = n[:, np.newaxis] * n / (n[:, np.newaxis] + n) * squares
    np.fill_diagonal(costs, np.inf)
    return costs
