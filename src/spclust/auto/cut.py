"""Clusters of structures when nobody says how far apart they are: eps="auto".

Structures are put together in single linkage, by distances under which a light structure is no
bridge: as far as it has to look for its part of the points (`reaches`). A cluster is born where it
falls off a larger one, at a distance h, and loses its structures one by one as the distance gets
smaller, each at its own distance h_i. Its stability is the sum of mass_i log(h / h_i), the
excess of mass of hierarchical density clustering, in logarithms: no unit matters. Of a cluster and
its parts, those stay that are more stable. How many points make a part is not known: several shares
of all are tried, and the smallest wins that is nearly as good as the best (`natural_clusters`). The
heaviest cluster does not count there: that something falls off it says nothing for it.
"""

from typing import NamedTuple

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.jit.decorators import kernel, part
from spclust.numerics.euclidean_distances import distances

# Shares of all points that a part may need to be one.
_SHARES = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2)
_NEARLY = 0.8  # of the best score is as good
_FOR_EACH = 0.07  # what log(clusters) costs: more of them are always a little more stable
_BRIDGE = 1.0  # of the mean mass of structures, that one has to reach for to be a bridge
_COPIES = 1e-5  # of the longest edge: what is nearer is in one place
_FEWEST = 2.0  # points that may be a part
_TILE = np.sqrt(12.0)  # width of a uniform distribution, in standard deviations


def reaches(D: Floats, mass: Floats, least: float) -> Floats:
    """How far (k,) each structure has to look to see so much mass, its own included."""
    order = np.argsort(D, axis=1, kind="stable")
    enough = np.cumsum(mass[order], axis=1) >= least
    last = np.where(enough.any(axis=1), np.argmax(enough, axis=1), mass.size - 1)
    rows = np.arange(mass.size)
    reach: Floats = np.where(mass >= least, 0.0, D[rows, order[rows, last]])
    return reach


def spanning_tree(D: Floats, reach: Floats) -> tuple[Integers, Integers, Floats]:
    """Edges of the smallest spanning tree, shortest first: both ends (k - 1,) and length (k - 1,).

    The length of an edge is at least the reach of both of its ends.
    """
    ends, length = grown_tree(D, reach)
    order = np.argsort(length, kind="stable")
    return ends[0][order], ends[1][order], length[order]


@kernel
def grown_tree(D: Floats, reach: Floats) -> tuple[Integers, Floats]:
    """Both ends (2, k - 1) and lengths (k - 1,) of its edges, as it grows from one structure."""
    k = reach.size
    best, nearest, inside = np.full(k, np.inf), np.zeros(k, np.int64), np.zeros(k, np.bool_)
    ends, length, new = np.empty((2, k - 1), np.int64), np.empty(k - 1), 0
    for e in range(k - 1):
        inside[new] = True
        shortest, chosen = np.inf, -1
        for j in range(k):
            if inside[j]:
                continue
            way = max(D[new, j], reach[new], reach[j])
            if way < best[j]:
                best[j], nearest[j] = way, new
            if chosen < 0 or best[j] < shortest:
                shortest, chosen = best[j], j
        ends[0, e], ends[1, e], length[e] = nearest[chosen], chosen, shortest
        new = chosen
    return ends, length


class Tree(NamedTuple):
    """Single linkage: nodes 0 .. k-1 are structures, node k + e is what edge e puts together."""

    left: Integers  # (2k - 1,) the parts of a node, or -1
    right: Integers
    height: Floats  # (2k - 1,) length of the edge; of a structure, where it ends itself
    mass: Floats  # (2k - 1,)


def linked(first: Integers, second: Integers, length: Floats, mass: Floats, ends: Floats) -> Tree:
    """The tree of edges, shortest first, over structures with a mass and an end (k,) each."""
    k = mass.size
    left, right, top = [-1] * (2 * k - 1), [-1] * (2 * k - 1), list(range(2 * k - 1))
    masses = mass.tolist() + [0.0] * (k - 1)
    for e, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        node, parts = k + e, []
        for at in pair:
            while top[at] != at:
                top[at] = top[top[at]]
                at = top[at]
            parts.append(at)
        a, b = parts
        left[node], right[node], masses[node] = a, b, masses[a] + masses[b]
        top[a] = top[b] = node
    height = np.concatenate([ends, length])
    return Tree(np.array(left), np.array(right), height, np.array(masses))


@part
def log_ratio(a: float, b: float) -> float:
    """log(a / b), 0 if a is not the larger one; two copies of a point are at no distance."""
    return np.log(a / max(b, 1e-300)) if a > b else 0.0


@kernel
def most_stable(tree: Tree, least: float) -> tuple[float, Integers]:
    """Nodes of the tree that are the most stable clusters, if a part has a mass of `least` or more.

    And the sum of their stabilities, without that of the heaviest. The root is one only if it has
    no parts.
    """
    n = tree.mass.size
    nodes, births = np.empty(n, np.int64), np.empty(n)
    part1, part2 = np.full(n, -1), np.full(n, -1)
    stability = np.zeros(n)
    nodes[0], births[0], count, i = n - 1, tree.height[n - 1], 1, 0
    while i < count:
        node, birth, total = nodes[i], births[i], 0.0
        while True:
            age = log_ratio(birth, tree.height[node])
            a, b = tree.left[node], tree.right[node]
            if a < 0 or (tree.mass[a] < least and tree.mass[b] < least):
                total += tree.mass[node] * age
                break
            if tree.mass[a] >= least and tree.mass[b] >= least:
                total += tree.mass[node] * age
                now = min(birth, tree.height[node])
                nodes[count], births[count], part1[i] = a, now, count
                nodes[count + 1], births[count + 1], part2[i] = b, now, count + 1
                count += 2
                break
            light, node = (b, a) if tree.mass[a] >= least else (a, b)
            total += tree.mass[light] * age
        stability[i] = total
        i += 1
    best, stays = np.empty(count), np.zeros(count, np.bool_)
    for i in range(count - 1, -1, -1):
        best[i] = stability[i]
        if part1[i] >= 0:
            parts = best[part1[i]] + best[part2[i]]
            stays[i] = i > 0 and stability[i] >= parts
            best[i] = stability[i] if stays[i] else parts
        else:
            stays[i] = True
    chosen, wanted = np.empty(count, np.int64), np.zeros(count, np.bool_)
    wanted[0], found, heaviest = True, 0, -1
    for i in range(count):
        if not wanted[i]:
            continue
        if stays[i]:
            chosen[found] = nodes[i]
            found += 1
            if heaviest < 0 or tree.mass[nodes[i]] > tree.mass[nodes[heaviest]]:
                heaviest = i
        else:
            wanted[part1[i]] = wanted[part2[i]] = True
    return best[0] - stability[heaviest], chosen[:found]


@kernel
def labelled(tree: Tree, chosen: Integers, first: Integers, second: Integers) -> Integers:
    """Label (k,) of each structure: its chosen node; if it is in none, that of its neighbour.

    The neighbour, that is, to which the shortest edges of the spanning tree lead.
    """
    k = first.size + 1
    labels, below = np.full(k, -1), np.empty(2 * k, np.int64)
    for label in range(chosen.size):
        below[0], many = chosen[label], 1
        while many > 0:
            many -= 1
            node = below[many]
            if tree.left[node] < 0:
                labels[node] = label
            else:
                below[many], below[many + 1] = tree.left[node], tree.right[node]
                many += 2
    while True:
        changed = False
        for e in range(k - 1):
            a, b = labels[first[e]], labels[second[e]]
            if (a < 0) != (b < 0):
                labels[first[e]] = labels[second[e]] = max(a, b)
                changed = True
                break
        if not changed:
            return labels


def own_distances(D: Floats, reach: Floats, count: Floats, radius: Floats, d: int) -> Floats:
    """Distance (k,) at which each structure ends by itself: that of its points, or its neighbours.

    Points that fill a structure evenly are as wide as its neighbours are away. Where the radius is
    not known (0), structures of several points end where structures typically are neighbours.
    """
    others = np.where(np.eye(count.size, dtype=bool), np.inf, D)
    near = np.maximum(np.maximum(others, reach), reach[:, np.newaxis]).min(axis=1)
    typical = float(np.median(others.min(axis=1)))
    wide = np.maximum(_TILE * radius / np.sqrt(d), 1e-3 * near)
    own = np.where(radius > 0.0, wide, np.where(count > 1.0, typical, near))
    return np.maximum(np.minimum(near, own), reach)


def natural_clusters(z: Floats, count: Floats, radius: Floats) -> Integers:
    """Cluster (k,) of each structure, by means z (k, d), points (k,) and root mean square radius.

    The radius (k,) is 0 if it is not known.
    """
    k = count.size
    if k < 3:
        return np.zeros(k, dtype=np.int64)
    D, total = distances(np.ascontiguousarray(z)), float(count.sum())
    reach = reaches(D, count, _BRIDGE * total / k)
    first, second, length = spanning_tree(D, reach)
    ends = own_distances(D, reach, count, radius, z.shape[1])
    least = _COPIES * float(length[-1])
    tree = linked(first, second, np.maximum(length, least), count, np.maximum(ends, least))
    found = [most_stable(tree, max(share * total, _FEWEST)) for share in _SHARES]
    scores = [
        stability / total - _FOR_EACH * np.log(chosen.size) if chosen.size > 1 else -np.inf
        for stability, chosen in found
    ]
    best = max(scores)
    if best == -np.inf:
        return np.zeros(k, dtype=np.int64)
    winner = next(i for i, one in enumerate(scores) if one >= best - (1.0 - _NEARLY) * abs(best))
    labels: Integers = labelled(tree, found[winner][1], first, second)
    return labels
