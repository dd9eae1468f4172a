"""Pruning: structures that are too light are merged where they are typical, or removed.

After each point `first_to_prune` finds them, oldest first, and `update` merges them as it does any
other. A structure that absorbed another one is not examined again for this point.

This is the rule of the paper's mode; that of the automatic mode is in `auto.removal`.
"""

from spclust.algorithm.typicality import nlt_from_odds
from spclust.jit.decorators import outlined, part
from spclust.numerics.smallest import first_smallest
from spclust.state.relations import read_odds
from spclust.state.scratch import Scratch
from spclust.state.slots import remove
from spclust.state.structures import NOBODY, Structures


@outlined
def first_to_prune(s: Structures, work: Scratch) -> tuple[int, int]:
    """Slots of the oldest structure that is too light but typical somewhere, and of that one.

    Those before it are removed; s.prune_from is where to continue. NOBODY, twice, if there is none.
    Modified in place: s, work.
    """
    while True:
        i = next_too_light(s, s.prune_from - 1)
        if i == NOBODY:
            return NOBODY, NOBODY
        s.prune_from = s.id[i]  # all before it were examined
        j = host_of(i, s, work)
        if j != NOBODY:
            return i, j
        s.pruned += int(s.count[i])
        remove(i, s, work)
        s.prune_from += 1


@outlined
def prune_on(other: int, s: Structures, work: Scratch) -> None:
    """Remove the structure in slot `other`, which was merged, and search for more to prune.

    s.prune_from, the id of the one that was too light, becomes that of the next one to examine, or
    0 if there is none.
    Modified in place: s, work.
    """
    remove(other, s, work)
    more = next_too_light(s, s.prune_from) != NOBODY
    s.prune_from = s.prune_from + 1 if more else 0


@part
def next_too_light(s: Structures, last: int) -> int:
    """Slot of the oldest structure created after `last` that is lighter than w_min, or NOBODY."""
    found = NOBODY
    for i in range(s.live):
        light = s.total[i] < s.w_min * s.damping[i] and s.id[i] > last
        if light and (found == NOBODY or s.id[i] < s.id[found]):
            found = i
    return found


@part
def host_of(slot: int, s: Structures, work: Scratch) -> int:
    """Slot in which a structure is most typical; NOBODY if its NLT there is not below nlt_max.

    Modified in place: work.
    """
    odds = work.changed_odds
    read_odds(slot, s, odds)
    j = first_smallest(odds, s.id, s.live)
    return j if nlt_from_odds(odds[j], s.in_logs) < s.nlt_max else NOBODY
