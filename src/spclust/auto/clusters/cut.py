"""Proposals of clusters, by single linkage: groups that `evidence` then merges or divides.

No distance has to be given. Structures are joined by single linkage. The distance of a structure of
few points to all others is at least the one within which it finds an average structure's number of
points (`reaches`), so that it is no bridge. As the distance shrinks, a cluster splits off a larger
one at a distance h, and loses its structures one by one, each at its own distance h_i. Its
stability is the sum of count_i log(h / h_i): that of HDBSCAN, in logarithms, so that no unit
matters. Of a cluster and its parts, those stay that are more stable. How many points make a part is
not known: several shares of all points are tried, and the smallest wins whose score is nearly the
best (`proposed_groups`). The largest cluster does not count in that score: what splits off it says
nothing about it.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.jit.decorators import allocating, kernel, part
from spclust.numerics.euclidean_distances import distances
from spclust.numerics.smallest import place_of_smallest

# Shares of all points that a part of a cluster must have at least.
_SHARES = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2)
_NEARLY = 0.8  # of the best score is good enough
_FOR_EACH = 0.07  # what log(clusters) costs: more of them are always a little more stable
_BRIDGE = 1.0  # of the mean count of structures, which a bridge has to have within its reach
_COPIES = 1e-5  # of a long edge: structures nearer than this are in one place
_LONG = 0.75  # of all edges are shorter than a long one; lone points far away have longer ones
_LARGEST = 1e300  # length, where squares overflow
_FEWEST_POINTS = 2.0  # points of a part, whatever the share
_TILE = np.sqrt(12.0)  # width of a uniform distribution, in standard deviations


@allocating
def reaches(D: Floats, count: Floats, least: float) -> Floats:
    """Distance (k,) within which each structure finds `least` points, its own included."""
    k = count.size
    reach, way = np.empty(k), np.empty(k)
    for i in range(k):
        reach[i] = 0.0
        found = count[i]
        for j in range(k):
            way[j] = D[i, j] if j != i else np.inf
        while found < least:
            nearest = place_of_smallest(way)
            if way[nearest] == np.inf:
                break
            found += count[nearest]
            reach[i] = way[nearest]
            way[nearest] = np.inf
    return reach


@kernel
def spanning_tree(D: Floats, count: Floats, least: float) -> tuple[Floats, Integers, Floats]:
    """Reaches (k,), and the smallest spanning tree: ends (2, k - 1) and lengths (k - 1,) of edges.

    The length of an edge is at least the reach of both of its ends. Edges are in the order of
    Prim's algorithm.
    """
    reach, k = reaches(D, count, least), count.size
    best, nearest, inside = np.empty(k), np.empty(k, np.int64), np.empty(k, np.bool_)
    direct = np.empty(k)  # of equal lengths, which a reach has, the nearest neighbour counts
    ends, length, new = np.empty((2, k - 1), np.int64), np.empty(k - 1), 0
    for j in range(k):
        best[j], direct[j], nearest[j], inside[j] = np.inf, np.inf, 0, False
    for e in range(k - 1):
        inside[new] = True
        shortest, chosen = np.inf, -1
        for j in range(k):
            if inside[j]:
                continue
            way = max(D[new, j], reach[new], reach[j])
            if way < best[j] or (way == best[j] and D[new, j] < direct[j]):
                best[j], direct[j], nearest[j] = way, D[new, j], new
            if chosen < 0 or best[j] < shortest:
                shortest, chosen = best[j], j
        ends[0, e], ends[1, e], length[e] = nearest[chosen], chosen, shortest
        new = chosen
    return reach, ends, length


class Tree(NamedTuple):
    """Single linkage: nodes 0 .. k-1 are structures, node k + e is what edge e joins."""

    left: Integers  # (2k - 1,) the parts of a node, or -1
    right: Integers
    height: Floats  # (2k - 1,) length of the edge; of a structure, where it ends itself
    counts: Floats  # (2k - 1,) points


@allocating
def linked(ends: Integers, height: Floats, count: Floats) -> Tree:
    """The tree of edges with ends (2, k - 1), shortest first, over structures with counts (k,).

    `height` (2k - 1,) is that of its nodes.
    """
    k = count.size
    left, right = np.empty(2 * k - 1, np.int64), np.empty(2 * k - 1, np.int64)
    counts, top = np.empty(2 * k - 1), np.empty(2 * k - 1, np.int64)
    for i in range(2 * k - 1):
        left[i] = right[i] = -1
        top[i] = i
    for i in range(k):
        counts[i] = count[i]
    for e in range(k - 1):
        for side in range(2):
            at = ends[side, e]
            while top[at] != at:
                top[at] = top[top[at]]
                at = top[at]
            if side == 0:
                left[k + e] = at
            else:
                right[k + e] = at
        counts[k + e] = counts[left[k + e]] + counts[right[k + e]]
        top[left[k + e]] = top[right[k + e]] = k + e
    return Tree(left, right, height, counts)


@part
def log_ratio(a: float, b: float) -> float:
    """log(a / b), 0 if a is not the larger one; b may be 0, the distance of two copies."""
    return np.log(a / max(b, 1e-300)) if a > b else 0.0


@allocating
def most_stable(tree: Tree, least: float, chosen: Integers) -> tuple[float, int]:
    """Sum of stabilities, and number, of the most stable clusters, if a part has `least` points.

    The sum leaves the largest cluster out. The root is a cluster only if it has no parts. Modified
    in place: chosen, their nodes.
    """
    n = tree.counts.size
    nodes, births, stability = np.empty(n, np.int64), np.empty(n), np.empty(n)
    part1, part2 = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        part1[i] = part2[i] = -1
    nodes[0], births[0], many, i = n - 1, tree.height[n - 1], 1, 0
    while i < many:
        node, birth, total = nodes[i], births[i], 0.0
        while True:
            age = log_ratio(birth, tree.height[node])
            a, b = tree.left[node], tree.right[node]
            if a < 0 or (tree.counts[a] < least and tree.counts[b] < least):
                total += tree.counts[node] * age
                break
            if tree.counts[a] >= least and tree.counts[b] >= least:
                total += tree.counts[node] * age
                now = min(birth, tree.height[node])
                nodes[many], births[many], part1[i] = a, now, many
                nodes[many + 1], births[many + 1], part2[i] = b, now, many + 1
                many += 2
                break
            light, node = (b, a) if tree.counts[a] >= least else (a, b)
            total += tree.counts[light] * age
        stability[i] = total
        i += 1
    best, stays, wanted = np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_)
    for i in range(many - 1, -1, -1):
        best[i], stays[i], wanted[i] = stability[i], True, False
        if part1[i] >= 0:
            parts = best[part1[i]] + best[part2[i]]
            stays[i] = i > 0 and stability[i] >= parts
            best[i] = stability[i] if stays[i] else parts
    wanted[0], found, largest = True, 0, -1
    for i in range(many):
        if not wanted[i]:
            continue
        if stays[i]:
            chosen[found] = nodes[i]
            found += 1
            if largest < 0 or tree.counts[nodes[i]] > tree.counts[nodes[largest]]:
                largest = i
        else:
            wanted[part1[i]] = wanted[part2[i]] = True
    return best[0] - stability[largest], found


@allocating
def labelled(tree: Tree, chosen: Integers, ends: Integers) -> Integers:
    """Label (k,) of each structure: its chosen node, or, if it is in none, that of a neighbour.

    The neighbour is the one to which the shortest edges of the spanning tree lead.
    """
    k = ends.shape[1] + 1
    labels, below = np.empty(k, np.int64), np.empty(2 * k, np.int64)
    for i in range(k):
        labels[i] = -1
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
            a, b = labels[ends[0, e]], labels[ends[1, e]]
            if (a < 0) != (b < 0):
                labels[ends[0, e]] = labels[ends[1, e]] = max(a, b)
                changed = True
                break
        if not changed:
            return labels


@kernel
def stable_groups(ends: Integers, height: Floats, count: Floats, total: float) -> Integers:
    """Label (k,) of each structure in the groups of the smallest share with nearly the best score.

    From edges with ends (2, k - 1), shortest first, heights (2k - 1,) of the nodes of their tree,
    and counts (k,). If no share has two groups, all structures are one.
    """
    tree, shares = linked(ends, height, count), len(_SHARES)
    chosen, many = np.empty((shares, height.size), np.int64), np.empty(shares, np.int64)
    score, best = np.empty(shares), -np.inf
    for i in range(shares):
        stability, many[i] = most_stable(tree, max(_SHARES[i] * total, _FEWEST_POINTS), chosen[i])
        divided = stability / total - _FOR_EACH * np.log(many[i])
        score[i] = divided if many[i] > 1 else -np.inf
        best = max(best, score[i])
    winner, least = 0, best - (1.0 - _NEARLY) * abs(best)
    while score[winner] < least:
        winner += 1
    return labelled(tree, chosen[winner, : many[winner]], ends)


def own_distances(D: Floats, reach: Floats, count: Floats, radius: Floats, d: int) -> Floats:
    """Distance (k,) at which each structure ends: the width of its points, or its neighbours.

    Points that fill a structure evenly are as wide as its neighbours are away. Where the radius is
    not known (0), structures of several points end where structures typically are neighbours.
    """
    others = D.copy()
    np.fill_diagonal(others, np.inf)
    near = np.maximum(np.maximum(others, reach), reach[:, np.newaxis]).min(axis=1)
    typical = float(np.median(others.min(axis=1)))
    wide = np.maximum(_TILE * radius / np.sqrt(d), 1e-3 * near)
    own = np.where(radius > 0.0, wide, np.where(count > 1.0, typical, near))
    return np.maximum(np.minimum(near, own), reach)


def proposed_groups(z: Floats, count: Floats, radius: Floats) -> Integers:
    """Cluster (k,) of each structure, from its mean z (k, d), count (k,) and radius (k,).

    The radius is the root mean square distance of its points from the mean; 0 if not known.
    """
    k = count.size
    if k < 3:
        return np.zeros(k, dtype=np.int64)
    D, total = distances(np.ascontiguousarray(z)), float(count.sum())
    reach, ends, length = spanning_tree(D, count, _BRIDGE * total / k)
    order = np.argsort(length, kind="stable")
    ends, length = ends[:, order], np.minimum(length[order], _LARGEST)
    own = own_distances(D, reach, count, radius, z.shape[1])
    long = float(length[int(_LONG * (k - 2))])
    least = _COPIES * (long if long > 0.0 else float(length[-1]))
    height = np.maximum(np.concatenate([own, length]), least)
    labels: Integers = stable_groups(np.ascontiguousarray(ends), height, count, total)
    return labels
