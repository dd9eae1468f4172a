"""Parts of a cluster in many dimensions: the largest branches of Ward's tree without a valley.

Where clusters overlap, single linkage sees one, and halves of it (`separation`) may have no valley
between them, because each holds several clusters. Ward's tree of the structures has branches for
all of them. A branch is whole if both branches that it consists of are whole and not apart. The
largest whole branches are the parts.

Two branches are apart if there is a valley on the line through their centres. Branches of few
structures show the gaps between these. A third branch may fill the valley: structures around the
middle, within the distance of the centres, count as well, on the side where they are nearer.
"""

import numpy as np

from spclust.array_types import Integers
from spclust.auto.clusters.separation import DEEP, Placement, centre, separation_of
from spclust.auto.clusters.ward import ward_merges
from spclust.jit.decorators import allocating, kernel, outlined
from spclust.numerics.euclidean_distances import square_distance

_FEWEST_STRUCTURES = 6  # structures of each of two branches that are apart


def divide_into_parts(labels: Integers, placed: Placement, limit: float) -> Integers:
    """Labels (k,) after clusters (k,) were divided into parts; -1 stays."""
    merges = ward_merges(placed.z, placed.mass, labels)
    branch = whole_branches(labels, placed, merges, limit)
    return np.where(labels < 0, labels, np.unique(branch, return_inverse=True)[1])


@kernel
def whole_branches(labels: Integers, placed: Placement, merges: Integers, limit: float) -> Integers:
    """The largest whole branch (k,) of each structure, called by its first one.

    `limit` is that of the depth of a valley, in standard deviations.
    """
    k = labels.size
    branch, whole = np.empty(k, np.int64), np.empty(k, np.bool_)
    node, side = np.empty(k, np.int64), np.empty(k, np.int64)
    for i in range(k):
        branch[i] = node[i] = i
        whole[i] = True
    for m in range(merges.shape[0]):
        a, b = merges[m, 0], merges[m, 1]
        whole[a] &= whole[b]
        if whole[a]:
            whole[a] = not branches_are_apart(a, b, node, labels, placed, limit, side)
        for i in range(k):
            if node[i] == b:
                node[i] = a
            if whole[a] and node[i] == a:
                branch[i] = a
    return branch


@allocating
def branches_are_apart(
    a: int,
    b: int,
    node: Integers,
    labels: Integers,
    placed: Placement,
    limit: float,
    side: Integers,
) -> bool:
    """True if a valley separates two branches, whatever is around the middle between them.

    Modified in place: side (k,).
    """
    first, second = 0, 0
    for i in range(node.size):
        side[i] = -1
        if node[i] == a:
            side[i] = 0
            first += 1
        elif node[i] == b:
            side[i] = 1
            second += 1
    if min(first, second) < _FEWEST_STRUCTURES or not is_valley(side, placed, limit):
        return False
    low, high = centre(0, side, placed), centre(1, side, placed)
    middle, length = np.empty(low.size), square_distance(low, high)
    for c in range(low.size):
        middle[c] = 0.5 * (low[c] + high[c])
    between = False
    for i in range(node.size):
        z = placed.z[i]
        if side[i] < 0 and labels[i] == labels[a] and square_distance(z, middle) < length:
            side[i] = int(square_distance(z, high) < square_distance(z, low))
            between = True
    return not between or is_valley(side, placed, limit)


@outlined
def is_valley(side: Integers, placed: Placement, limit: float) -> bool:
    """True if there is a deep valley between two sides (k,)."""
    ratio, share = separation_of(0, 1, side, placed)
    return ratio > limit and share < DEEP
