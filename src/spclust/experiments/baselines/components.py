"""Connected components of a graph, numbered in order of appearance."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from spclust.array_types import Booleans, Integers


def components(n_nodes: int, first: Integers, second: Integers) -> Integers:
    """Component (n_nodes,) of each node of the graph with edges first[i] - second[i].

    Components are numbered in the order of their first nodes.
    """
    edges = coo_array((np.ones(len(first)), (first, second)), shape=(n_nodes, n_nodes))
    return in_order_of_appearance(connected_components(edges, directed=False)[1])


def in_order_of_appearance(labels: Integers) -> Integers:
    """Labels renumbered from 0 in the order in which they first appear; -1 stays."""
    numbers: dict[int, int] = {-1: -1}
    renumbered = [numbers.setdefault(label, len(numbers) - 1) for label in labels.tolist()]
    return np.array(renumbered, dtype=np.int64)


def components_with(members: Booleans, labels: Integers) -> Integers:
    """Labels of the components that have a member, renumbered from 0; the others become -1."""
    wanted = np.unique(labels[members])
    return in_order_of_appearance(np.where(np.isin(labels, wanted), labels, -1))
