"""The closest pair: which two structures have the smallest distance D (Eq. 3).

Pair odds are kept, with a lower bound for each row of them (`state.relations`). So the closest pair
is in the row with the smallest bound, if that row has an entry as small as its bound; if not, the
bound is raised, and the next smallest is tried. Most points find something closer than all bounds
and search no row at all.
"""

import numpy as np

from spclust.jit.decorators import outlined, part
from spclust.numerics.smallest import first_smallest, only_place, smallest
from spclust.state.scratch import Scratch
from spclust.state.structures import NOBODY, POINT, Structures, slot_pair


@part
def closest_pair(s: Structures, work: Scratch) -> tuple[int, int]:
    """Slots of the pair with the smallest D, the older one first; POINT stands for the point."""
    to_all = work.point_pair
    mine = first_smallest(to_all, s.id, s.live)
    older, newer = closest_pair_within(to_all[mine], s)
    if older == NOBODY:
        return mine, POINT
    tie = slot_pair(older, newer, s) == to_all[mine]
    return (mine, POINT) if tie and s.id[mine] < s.id[older] else (older, newer)  # E12


@part
def closest_pair_within(limit: float, s: Structures) -> tuple[int, int]:
    """Slots of the closest two structures, the older one first, if their odds are within `limit`.

    Otherwise NOBODY, twice. Modified in place: s, its bounds.
    """
    live, bound, pair = s.live, s.bound, s.pair
    while True:
        least = smallest(bound, 0, live)
        if not least <= limit or least == np.inf:
            return NOBODY, NOBODY
        i = only_place(bound, least, 0, live)
        j = NOBODY
        if i != NOBODY:
            s.rescans += 1
            found = smallest(pair[i], i + 1, live)
            if found > least:
                bound[i] = found
                continue
            j = only_place(pair[i], least, i + 1, live)
        if j == NOBODY:
            i, j = oldest_of_equals(least, s)
        if i != NOBODY:
            return (i, j) if s.id[i] < s.id[j] else (j, i)


@outlined
def oldest_of_equals(least: float, s: Structures) -> tuple[int, int]:
    """Of all pairs whose odds are `least`, the smallest bound, that of the oldest structures (E12).

    NOBODY, twice, if there is none; the bounds that promised one are raised. Modified in place: s.
    """
    live = s.live
    best, other = NOBODY, NOBODY
    for i in range(live):
        if s.bound[i] == least:
            s.rescans += 1
            s.bound[i] = smallest(s.pair[i], i + 1, live)
            for j in range(i + 1, live):
                if s.pair[i, j] == least:
                    older, newer = (i, j) if s.id[i] < s.id[j] else (j, i)
                    if (
                        best == NOBODY
                        or s.id[older] < s.id[best]
                        or (older == best and s.id[newer] < s.id[other])
                    ):
                        best, other = older, newer
    return best, other
