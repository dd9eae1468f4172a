"""The border: whether two groups of structures touch, wherever their centres are.

The line through two centres says nothing about a ring around a disc. So the density is also
compared along the border: a sum of round normal kernels over all structures, each of the variance
of its points plus the square of a part of the local distance of neighbours, so that a uniform
density has no dents between structures. Edges of the border join two structures of different
groups, with no third one in the ball over them (a Gabriel graph). Two numbers tell how much less
dense the border is than counting explains, both in standard deviations:

- the lower peak of both groups against the densest passage,
- along the whole border, the less dense end of each edge against the emptiest place on it.

Nothing but squared distances is needed: |x - z_l|^2 of a place x on an edge follows from those of
its ends.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.jit.decorators import allocating

RIPPLE = 0.04  # of a density: what the tiling by structures adds to a uniform one
_WIDTH = 0.7  # of a kernel, in local distances of neighbours
_NEIGHBOURS = 4  # whose nearest distances make up the local one
_DIMENSIONS = 4  # at most, as the exponent of a volume: data hardly fill more
_PLACES = (0.25, 0.5, 0.75)  # on an edge
_NEGLIGIBLE = 40.0  # e^-40 is no density
_TINY = 1e-300


@allocating
def local_distances(squares: Floats, mass: Floats) -> Floats:
    """Local distance (k,) of neighbours: the mean, in logarithms, of nearest distances around."""
    k = mass.size
    nearest, local = np.empty(k), np.empty(k)
    for i in range(k):
        least = np.inf
        for j in range(k):
            if j != i:
                least = min(least, squares[i, j])
        nearest[i] = 0.5 * np.log(max(least, _TINY))
    for i in range(k):
        order, total, around = np.argsort(squares[i]), 0.0, 0.0
        for j in order[: _NEIGHBOURS + 1]:
            total += mass[j]
            around += mass[j] * nearest[j]
        local[i] = np.exp(around / total)
    return np.maximum(local, 1e-3 * np.median(local) + 1e-12)  # copies are in one place


@allocating
def kernel_shapes(squares: Floats, mass: Floats, variance: Floats, d: int) -> tuple[Floats, Floats]:
    """Squared widths (k,) and heights (k,), up to a common factor, of all kernels."""
    widths = variance + (_WIDTH * local_distances(squares, mass)) ** 2
    logs = -0.5 * min(d, _DIMENSIONS) * np.log(widths)
    return widths, np.exp(logs - logs.max())


@allocating
def kernels_at(distances: Floats, widths: Floats, heights: Floats) -> Floats:
    """Kernels (k,) of all structures at a place, from squared distances (k,)."""
    values = np.zeros(widths.size)
    for i in range(widths.size):
        x = 0.5 * distances[i] / widths[i]
        if x < _NEGLIGIBLE:
            values[i] = np.exp(-x) * heights[i]
    return values


@allocating
def border_edges(squares: Floats, labels: Integers) -> Integers:
    """Edges (m, 2) of structures of different groups with no third one in the ball over them."""
    k = labels.size
    edges, many = np.empty((k * (k - 1) // 2, 2), np.int64), 0
    for i in range(k):
        for j in range(i):
            if labels[i] == labels[j]:
                continue
            alone = True
            for other in range(k):
                if other not in (i, j) and squares[i, other] + squares[j, other] < squares[i, j]:
                    alone = False
                    break
            if alone:
                edges[many, 0], edges[many, 1] = i, j
                many += 1
    return edges[:many]


@allocating
def passages(
    squares: Floats, mass: Floats, widths: Floats, heights: Floats, edges: Integers
) -> tuple[Floats, Floats]:
    """Kernels (m, k) at the emptiest place of each edge, and the density (m,) there."""
    m, k = edges.shape[0], mass.size
    lowest, kernels = np.full(m, np.inf), np.zeros((m, k))
    for e in range(m):
        i, j = edges[e, 0], edges[e, 1]
        for t in _PLACES:
            way = (1.0 - t) * squares[i] + t * squares[j] - t * (1.0 - t) * squares[i, j]
            values = kernels_at(way, widths, heights)
            density = (values * mass).sum()
            if density < lowest[e]:
                lowest[e], kernels[e] = density, values
    return kernels, lowest


@allocating
def border_separation(
    ends: tuple[int, int],
    labels: Integers,
    mass: Floats,
    edges: Integers,
    at_nodes: Floats,
    at_edges: Floats,
) -> tuple[float, float]:
    """How much less dense the border of two groups is than counting explains, and its density.

    The first in standard deviations, infinite if they have no border; the second is that of the
    densest passage, as a share of the lower peak. `at_nodes` (k, k) and `at_edges` (m, k) are the
    kernels at all structures and at the emptiest places of the edges.
    """
    a, b = ends
    k = labels.size
    density = at_nodes @ mass
    peak_a, peak_b = -1, -1
    for i in range(k):
        if labels[i] == a and (peak_a < 0 or density[i] > density[peak_a]):
            peak_a = i
        if labels[i] == b and (peak_b < 0 or density[i] > density[peak_b]):
            peak_b = i
    peak = peak_a if density[peak_a] < density[peak_b] else peak_b
    # A passage counts by how much passes there, and one that nothing passes by its uncertainty.
    densest, best, weights = -1, 0.0, np.zeros(edges.shape[0])
    lowest = np.zeros(edges.shape[0])
    for e in range(edges.shape[0]):
        x, y = labels[edges[e, 0]], labels[edges[e, 1]]
        if not ((x == a and y == b) or (x == b and y == a)):
            continue
        lowest[e] = (at_edges[e] * mass).sum()
        weights[e] = lowest[e] + np.sqrt((at_edges[e] ** 2 * mass).sum())
        if densest < 0 or lowest[e] > best:
            densest, best = e, lowest[e]
    if densest < 0:
        return np.inf, 0.0
    drop = at_nodes[peak] - at_edges[densest]
    ripple = RIPPLE * density[peak]
    of_peak = (drop * mass).sum() / np.sqrt((drop**2 * mass).sum() + 2.0 * ripple**2 + _TINY)
    depth, everywhere, largest = 0.0, np.zeros(k), max(weights.max(), _TINY)
    for e in range(edges.shape[0]):
        if weights[e] == 0.0:
            continue
        i, j = edges[e, 0], edges[e, 1]
        end = i if density[i] < density[j] else j
        if lowest[e] < density[end]:
            drop = at_nodes[end] - at_edges[e]
            depth += weights[e] / largest * ((drop * mass).sum() - RIPPLE * density[end])
            everywhere += weights[e] / largest * drop
        else:
            depth -= weights[e] / largest * RIPPLE * density[end]
    along = depth / np.sqrt((everywhere**2 * mass).sum() + _TINY)
    both = np.sqrt(max(of_peak, 0.0) ** 2 + max(along, 0.0) ** 2)
    return both, best / max(density[peak], _TINY)
