"""Rounded features, in plain Python: the variance that they add, and structures in one place."""

from itertools import pairwise

import numpy as np

VALUES, EQUAL, FEW = 7, 1e-6, 3


def variances_of_rounding(state):
    """A third of the squared step of each feature whose values lie on a lattice, else 0."""
    found = []
    if state.d > FEW:
        return np.zeros(state.d)
    for c in range(state.d):
        exact = [s for s in state.S if s.scatter[c, c] == 0.0]
        values = sorted(s.mean[c] for s in exact)
        gaps = [b - a for a, b in pairwise(values)]
        gaps = [gap for gap in gaps if gap > EQUAL * (values[-1] - values[0])]
        rounded = len(gaps) + 1 >= VALUES and any(s.count > 1 for s in exact)
        rounded = rounded and 4 * len(exact) >= len(state.S)
        steps = sum(gap <= (1.0 + EQUAL) * min(gaps) for gap in gaps) if rounded else 0
        rounded = rounded and state.width[c] > 0.0 and 2 * steps > len(gaps)
        found.append(min(gaps) ** 2 / 3.0 if rounded else 0.0)
    return np.array(found)


def in_one_place(z, mass, C):
    """Structures with means z (k, d), masses and covariances, one a place; and the one of each."""
    places = list(dict.fromkeys(map(tuple, z)))
    of = np.array([places.index(tuple(one)) for one in z])
    masses = np.array([mass[of == i].sum() for i in range(len(places))])
    means = [np.average(C[of == i], axis=0, weights=mass[of == i]) for i in range(len(places))]
    return np.array(places), masses, np.array(means), of
