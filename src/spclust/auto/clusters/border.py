"""The border: whether two groups of structures touch, wherever their centres are.

The line through two centres says nothing about a ring around a disc. So the density is also
compared along the border: a sum of round normal kernels over all structures, each of the variance
of its points plus the square of a part of the local distance of neighbours, so that a uniform
density has no dents between structures. Edges of the border join two structures of different
groups, with no third one in the ball over them (a Gabriel graph). Two numbers tell how much less
dense the border is than counting explains, both in standard deviations:

- the lower peak of both groups against the densest passage,
- along the whole border, the less dense end of each edge against the emptiest place on it.

Squared distances are enough: that of a place on an edge follows from those of its ends. The border
shows valleys in few dimensions only: in more than three kernels are as wide as clusters.
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.jit.decorators import allocating, kernel, outlined
from spclust.numerics.eight import LANES, if_below, load, same, smaller_of, store, sum_of
from spclust.numerics.euclidean_distances import square_distance
from spclust.numerics.powers import exponential_of_moderate
from spclust.numerics.smallest import place_of_smallest

RIPPLE = 0.04  # of a density: what the tiling by structures adds to a uniform one
RESOLVED = 3  # dimensions, in which kernels are narrower than clusters
_NEAREST = 12  # structures that edges lead to
_NEIGHBOURS = 4  # whose nearest distances make up the local one
_DIMENSIONS = 4  # at most, as the exponent of a volume: data hardly fill more
_PLACES = (0.25, 0.5, 0.75)  # on an edge
_NEGLIGIBLE = 40.0  # e^-40 is no density
_TINY = 1e-300


class Field(NamedTuple):
    """The density at all structures, and at the emptiest place of each edge."""

    density: Floats  # (k,) at the structures
    at_nodes: Floats  # (k, k) the kernels that it is the sum of
    edges: Integers  # (m, 2) the structures that each edge joins
    lowest: Floats  # (m,) the density at the emptiest place of each edge
    at_edges: Floats  # (m, k) the kernels there
    weights: Floats  # (m,) the density there plus its standard error: what may pass at most
    widths: Floats  # (k,) squared widths of the kernels
    heights: Floats  # (k,)


def field_of(
    squares: Floats, mass: Floats, shapes: tuple[Floats, Floats], edges: Integers
) -> Field:
    """The density of structures with squared distances (k, k) and masses (k,), and on edges (m, 2).

    With kernels of these shapes: squared widths (k,) and heights (k,).
    """
    return Field(*densities(squares, mass, *shapes, edges))


@kernel
def densities(
    squares: Floats, mass: Floats, widths: Floats, heights: Floats, edges: Integers
) -> tuple[Floats, Floats, Integers, Floats, Floats, Floats, Floats, Floats]:
    """The arrays of a `Field`."""
    density, at_nodes = at_structures(squares, mass, widths, heights)
    lowest, at_edges, weights = passages(squares, mass, widths, heights, edges)
    return density, at_nodes, edges, lowest, at_edges, weights, widths, heights


def neighbourhood(squares: Floats, mass: Floats) -> tuple[Floats, Integers]:
    """Local distance (k,) of neighbours, and edges (m, 2) between them."""
    local, edges = neighbours(squares, mass)
    return np.maximum(local, 1e-3 * np.median(local) + 1e-12), edges  # copies are in one place


@kernel
def neighbours(squares: Floats, mass: Floats) -> tuple[Floats, Integers]:
    """`mean_nearest_distances` (k,) and `edges_of` (m, 2) all structures: both need the nearest."""
    near = nearest_structures(squares)
    return mean_nearest_distances(squares, mass, near), edges_of(squares, near)


@allocating
def nearest_structures(squares: Floats) -> Integers:
    """The structures (k, n) that are nearest to each, itself among them, the nearest one first."""
    k = squares.shape[0]
    near, left = np.empty((k, min(_NEAREST + 1, k)), np.int64), np.empty(k)
    for i in range(k):
        for j in range(k):
            left[j] = squares[i, j]
        for at in range(near.shape[1]):
            near[i, at] = place_of_smallest(left)
            left[near[i, at]] = np.inf
    return near


@allocating
def mean_nearest_distances(squares: Floats, mass: Floats, near: Integers) -> Floats:
    """Mean (k,), in logarithms, of the nearest distances around each structure."""
    k = mass.size
    nearest, local = np.empty(k), np.empty(k)
    for i in range(k):
        j = near[i, 0] if near[i, 0] != i else near[i, 1]  # a copy may come before itself
        nearest[i] = 0.5 * np.log(max(squares[i, j], _TINY))
    for i in range(k):
        total, around = 0.0, 0.0
        for at in range(min(_NEIGHBOURS + 1, near.shape[1])):
            j = near[i, at]
            total += mass[j]
            around += mass[j] * nearest[j]
        local[i] = np.exp(around / total)
    return local


def kernel_shapes(addition: Floats, variance: Floats, d: int) -> tuple[Floats, Floats]:
    """Squared widths (k,) and heights (k,), up to a common factor, of all kernels.

    The square of the addition (k,), of the local distance of neighbours, widens the variance (k,).
    """
    widths = variance + addition**2
    logs = -0.5 * min(d, _DIMENSIONS) * np.log(widths)
    return widths, np.exp(logs - logs.max())


@allocating
def at_structures(
    squares: Floats, mass: Floats, widths: Floats, heights: Floats
) -> tuple[Floats, Floats]:
    """The density (k,) at all structures, and the kernels (k, k) there."""
    k = mass.size
    density, kernels = np.empty(k), np.empty((k, k))
    for i in range(k):
        density[i] = write_kernels(squares[i], widths, heights, mass, kernels[i])
    return density, kernels


@outlined
def write_kernels(
    distances: Floats, widths: Floats, heights: Floats, mass: Floats, values: Floats
) -> float:
    """Kernels (k,) of all structures at a place, from squared distances (k,); the density there.

    Modified in place: values.
    """
    total, blocks = same(0.0), widths.size // LANES * LANES
    for i in range(0, blocks, LANES):
        x = 0.5 * load(distances, i) / load(widths, i)
        far = same(_NEGLIGIBLE)
        kernels = exponential_of_moderate(-1.0 * smaller_of(x, far)) * load(heights, i)
        kernels = if_below(x, far, kernels, same(0.0))
        store(kernels, values, i)
        total += load(mass, i) * kernels
    density = sum_of(total)
    for i in range(blocks, widths.size):
        x = 0.5 * distances[i] / widths[i]
        values[i] = np.exp(-x) * heights[i] if x < _NEGLIGIBLE else 0.0
        density += mass[i] * values[i]
    return density


@outlined
def density_at(place: Floats, z: Floats, mass: Floats, field: Field) -> float:
    """The density at a place (d,) of structures with means (k, d) and masses (k,)."""
    density = 0.0
    for i in range(mass.size):
        x = 0.5 * square_distance(place, z[i]) / field.widths[i]
        density += mass[i] * np.exp(-x) * field.heights[i] if x < _NEGLIGIBLE else 0.0
    return density


@allocating
def edges_of(squares: Floats, near: Integers) -> Integers:
    """Edges (m, 2) of structures with no third one in the ball over them, the later one first.

    One of the two is among the nearest of the other: in many dimensions nearly all balls are empty.
    A copy, of a structure in the same place, has an edge to the first one there, which has all
    others.
    """
    k, last = squares.shape[0], near.shape[1] - 1
    edges, many = np.empty((k * (k - 1) // 2, 2), np.int64), 0
    for i in range(k):
        for j in range(i):
            first, other = near[i, 0], near[j, 0]
            wanted = first == j or (first == i and other == j)
            far = max(squares[i, near[i, last]], squares[j, near[j, last]])
            if squares[i, j] <= far and wanted and ball_is_empty(i, j, squares):
                edges[many, 0], edges[many, 1] = i, j
                many += 1
    return edges[:many]


@outlined
def ball_is_empty(i: int, j: int, squares: Floats) -> bool:
    """True if no third structure is in the ball over two of them."""
    for other in range(squares.shape[0]):
        if other not in (i, j) and squares[i, other] + squares[j, other] < squares[i, j]:
            return False
    return True


@allocating
def passages(
    squares: Floats, mass: Floats, widths: Floats, heights: Floats, edges: Integers
) -> tuple[Floats, Floats, Floats]:
    """Density (m,) at the emptiest place of each edge, the kernels (m, k) there, and weight (m,).

    The weight of a passage is its density plus the standard error: what may pass there at most.
    """
    m, k = edges.shape[0], mass.size
    lowest, kernels, weights = np.empty(m), np.empty((m, k)), np.empty(m)
    way, values = np.empty(k), np.empty(k)
    for e in range(m):
        i, j = edges[e, 0], edges[e, 1]
        lowest[e], variance = np.inf, 0.0
        for other in range(k):
            kernels[e, other] = 0.0
        for t in _PLACES:
            for other in range(k):
                way[other] = (1.0 - t) * squares[i, other] + t * squares[j, other]
                way[other] -= t * (1.0 - t) * squares[i, j]
            density = write_kernels(way, widths, heights, mass, values)
            if density < lowest[e]:
                lowest[e] = density
                for other in range(k):
                    kernels[e, other] = values[other]
        for other in range(k):
            variance += mass[other] * kernels[e, other] * kernels[e, other]
        weights[e] = lowest[e] + np.sqrt(variance)
    return lowest, kernels, weights


@allocating
def border_separation(
    peak: int, first: int, after: Integers, mass: Floats, field: Field, by_chance: float
) -> tuple[float, float, int]:
    """How much less dense the border of two groups is than counting explains, and its density.

    The lower peak is at a structure. The border begins with the edge `first`, and goes on with the
    one `after` (m,) each, -1 after the last. The first result is in standard deviations; the second
    is the density of the densest passage, as a share of the peak; the third is that passage.
    `by_chance` standard deviations are taken from each valley along the border: basins end at
    valleys, so that some depth there is chance.
    """
    edges, density, lowest = field.edges, field.density, field.lowest
    densest, largest, e = first, _TINY, first
    while e >= 0:
        densest = e if lowest[e] > lowest[densest] else densest
        largest, e = max(largest, field.weights[e]), after[e]
    everywhere, depth, e = np.empty(mass.size), 0.0, first
    for i in range(mass.size):
        everywhere[i] = 0.0
    while e >= 0:
        i, j, weight = edges[e, 0], edges[e, 1], field.weights[e] / largest
        end = i if density[i] < density[j] else j
        variance = 0.0
        for other in range(mass.size):
            difference = field.at_nodes[end, other] - field.at_edges[e, other]
            everywhere[other] += weight * difference
            variance += mass[other] * difference * difference
        depth += weight * (density[end] - lowest[e] - RIPPLE * density[end])
        depth -= weight * by_chance * np.sqrt(variance)
        e = after[e]
    drop, of_drop, of_depth = 0.0, 0.0, 0.0
    for i in range(mass.size):
        difference = field.at_nodes[peak, i] - field.at_edges[densest, i]
        drop += mass[i] * difference
        of_drop += mass[i] * difference * difference
        of_depth += mass[i] * everywhere[i] * everywhere[i]
    ripple = RIPPLE * density[peak]
    of_peak = max(drop / np.sqrt(of_drop + 2.0 * ripple * ripple + _TINY), 0.0)
    along = max(depth / np.sqrt(of_depth + _TINY), 0.0)
    both = np.sqrt(of_peak * of_peak + along * along)
    return both, lowest[densest] / max(density[peak], _TINY), densest


@outlined
def lower_peak(a: int, b: int, labels: Integers, density: Floats) -> int:
    """The densest structure of each of two groups; of both, the one that is less dense."""
    of_a, of_b = -1, -1
    for i in range(labels.size):
        if labels[i] == a and (of_a < 0 or density[i] > density[of_a]):
            of_a = i
        if labels[i] == b and (of_b < 0 or density[i] > density[of_b]):
            of_b = i
    return of_a if density[of_a] < density[of_b] else of_b
