"""What several of the clusterers need: distances, nearest centres, components of a graph."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from spclust.arrays import Booleans, Floats, Integers

_CELLS_AT_ONCE = 4_000_000  # of a table of distances: 32 MB


def squared_distances(x: Floats, centres: Floats) -> Floats:
    """Squared Euclidean distances (k,) of one point x (d,) from centres (k, d).

    By differences: the shorter way through scalar products loses digits far off the origin.
    """
    delta = centres - x
    found: Floats = np.einsum("ij,ij->i", delta, delta)
    return found


def nearest(rows: Floats, centres: Floats) -> Integers:
    """Index (n,) of the nearest of centres (k, d), k > 0, for rows (n, d); the first of equals."""
    step = max(1, _CELLS_AT_ONCE // len(centres))
    parts = [
        cdist(rows[at : at + step], centres, "sqeuclidean").argmin(axis=1)
        for at in range(0, len(rows), step)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)


def components(n_nodes: int, first: Integers, second: Integers) -> Integers:
    """Component (n_nodes,) of each node of the graph with edges first[i] - second[i].

    They are numbered in the order of their first nodes.
    """
    edges = coo_array((np.ones(len(first)), (first, second)), shape=(n_nodes, n_nodes))
    return in_order_of_appearance(connected_components(edges, directed=False)[1])


def in_order_of_appearance(labels: Integers) -> Integers:
    """The same groups, numbered from 0 in the order in which they first appear; -1 stays."""
    numbers: dict[int, int] = {-1: -1}
    found = [numbers.setdefault(label, len(numbers) - 1) for label in labels.tolist()]
    return np.array(found, dtype=np.int64)


def kept(labels: Integers, keep: Booleans) -> Integers:
    """Labels of those groups alone that have a member in `keep`, from 0; others become -1."""
    wanted = np.unique(labels[keep])
    return in_order_of_appearance(np.where(np.isin(labels, wanted), labels, -1))
