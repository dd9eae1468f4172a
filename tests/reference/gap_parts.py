"""Division of clusters at gaps in plain NumPy: see `spclust.auto.clusters.gaps`."""

import numpy as np

WIDE, APART, EDGES, FEWEST, POINTS, USUAL, OF_NORMAL = 0.3, 5.0, 5, 3, 3.0, 2, 1.4826


def divided_at_gaps(labels, edges, z, mass, covariance):
    """Labels (k,) after clusters, joined by edges [(i, j)] inside of them, were divided."""
    labels, gap, label = labels.copy(), gaps(edges, z, mass, covariance), 0
    while label <= labels.max():
        part = part_apart(labels == label, gap, mass)
        if part is None:
            label += 1
        else:
            labels[list(part)] = labels.max() + 1
    return labels


def gaps(edges, z, mass, covariance):
    """Gap of each edge (i, j): how far apart both are for their widths, in logarithms."""
    length = {(i, j): np.linalg.norm(z[i] - z[j]) for i, j in edges}

    def reach(n, edge):
        around = [np.log(max(length[e], 1e-150)) for e in edges if n in e]
        expected = min(np.exp(np.mean(around)), length[edge])
        line = (z[edge[0]] - z[edge[1]]) / length[edge]
        variance = max(line @ covariance[n] @ line, 0.0)
        return np.sqrt((3.0 * mass[n] * variance + (expected / 2.0) ** 2) / (mass[n] + 1.0))

    return {
        e: np.log(length[e] / (reach(e[0], e) + reach(e[1], e))) if length[e] > 0.0 else 0.0
        for e in edges
    }


def part_apart(members, gap, mass):
    """The part of a cluster that is most apart from another one; None if none is."""
    gap = {e: x for e, x in gap.items() if members[e[0]] and members[e[1]]}
    few = len(gap) < EDGES or members.sum() < 2 * FEWEST
    if few or mass[members].sum() < POINTS * members.sum():
        return None
    usual = np.median(list(gap.values()))
    deviation = OF_NORMAL * np.median(np.abs(np.array(list(gap.values())) - usual))
    node = {i: frozenset([i]) for i in np.flatnonzero(members)}
    most, found = APART, None
    while True:
        borders = {}
        for (i, j), x in gap.items():
            if node[i] != node[j]:
                borders.setdefault(frozenset([node[i], node[j]]), []).append(x)
        if not borders:
            return found
        nodes = min(borders, key=lambda pair: np.mean(borders[pair]))
        first = next(node[i] for i, j in gap if {node[i], node[j]} == nodes)  # a tie: of both
        a, b = first, next(n for n in nodes if n != first)
        apart = distance_apart(a, b, gap, usual, deviation)
        if apart > most and min(len(a), len(b)) >= FEWEST:
            most, found = apart, a if len(a) < len(b) else b
        for i in a | b:
            node[i] = a | b


def distance_apart(a, b, gap, usual, deviation):
    """How much wider gaps are between two nodes than inside, near the border."""
    border = {e: x for e, x in gap.items() if set(e) <= a | b and (e[0] in a) != (e[1] in a)}
    near = {i for e in border for i in e}
    sides = [
        [usual] * USUAL + [x for e, x in gap.items() if set(e) <= side and near & set(e)]
        for side in (a, b)
    ]
    wider = np.mean(list(border.values())) - max(map(np.mean, sides))
    error = deviation * np.sqrt(1.0 / len(border) + 1.0 / min(map(len, sides)))
    return wider / max(error, 1e-300) if len(border) >= EDGES and wider > WIDE else 0.0
