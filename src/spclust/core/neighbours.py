"""Who is nearest to whom: pair odds of all structures, and each one's nearest neighbour.

Kept up to date, they make the closest pair of structures the smallest of N numbers. A row is
looked through again only when its nearest neighbour moved away or is gone.
"""

import numpy as np

from spclust.arrays import Floats
from spclust.core.compile import kernel, leaf
from spclust.core.lanes import INFINITIES, LANES, smaller
from spclust.core.structures import LIVE, RESCANS, Structures
from spclust.core.typicality import Relation

_NONE = -1  # a nearest neighbour that has to be looked for again


@leaf
def smallest(row: Floats, live: int) -> float:
    """Smallest of the first `live` numbers of `row`, eight at a time."""
    whole = live - live % LANES
    eight = INFINITIES
    for start in range(0, whole, LANES):
        eight = smaller(eight, row, start)
    a, b = min(eight[0], eight[1]), min(eight[2], eight[3])
    c, d = min(eight[4], eight[5]), min(eight[6], eight[7])
    least = min(min(a, b), min(c, d))
    for j in range(whole, live):
        least = min(least, row[j])
    return least


@leaf
def first_smallest(row: Floats, ids: Floats, live: int) -> int:
    """Slot with the smallest entry of `row`; among equals the structure created first (E12)."""
    least = smallest(row, live)
    hits, place = 0, 0
    for j in range(live):
        hit = row[j] == least
        hits += hit
        place += j * hit
    if hits == 1:  # nearly always; and without a branch in the loop
        return place
    best = -1
    for j in range(live):
        if row[j] == least and (best < 0 or ids[j] < ids[best]):
            best = j
    return best


@leaf
def connect(slot: int, to_all: Relation, s: Structures) -> None:
    """Write a structure's odds with all live ones, and note what that changes for each of them.

    Where it was the nearest of another one and moved away, that one's nearest neighbour has to be
    renewed. Modified in place: s.
    """
    live, pair = int(s.head[LIVE]), to_all.pair
    for i in range(live):
        s.odds[slot, i] = to_all.odds[i]
        s.pair[slot, i] = pair[i]
    for i in range(live):
        s.odds[i, slot] = to_all.odds_back[i]
        s.pair[i, slot] = pair[i]
    s.odds[slot, slot] = s.pair[slot, slot] = np.inf  # no structure is its own neighbour
    s.nearest[slot] = _NONE
    for i in range(live):
        near = int(s.nearest[i])
        if near == slot:
            if pair[i] > s.nearest_odds[i]:
                s.nearest[i] = _NONE
            else:
                s.nearest_odds[i] = pair[i]
        elif near != _NONE and (
            pair[i] < s.nearest_odds[i]
            or (pair[i] == s.nearest_odds[i] and s.id[slot] < s.id[near])
        ):
            s.nearest[i] = slot
            s.nearest_odds[i] = pair[i]


@leaf
def renew_nearest(s: Structures) -> None:
    """Look again for each nearest neighbour that came into doubt. Modified in place: s."""
    live = int(s.head[LIVE])
    for i in range(live):
        if s.nearest[i] == _NONE:
            j = first_smallest(s.pair[i], s.id, live)
            s.nearest[i] = j
            s.nearest_odds[i] = s.pair[i, j]
            s.head[RESCANS] += 1


@leaf
def disconnect(slot: int, s: Structures) -> None:
    """Leave nobody with `slot` as the nearest neighbour. Modified in place: s."""
    for i in range(int(s.head[LIVE])):
        if s.nearest[i] == slot:
            s.nearest[i] = _NONE


@kernel
def take_logarithms(s: Structures) -> None:
    """From now on hold the logarithms of all odds. Modified in place: s."""
    live = int(s.head[LIVE])
    for i in range(live):
        s.nearest_odds[i] = np.log(s.nearest_odds[i])
        for j in range(live):
            s.odds[i, j] = np.log(s.odds[i, j])
            s.pair[i, j] = np.log(s.pair[i, j])
