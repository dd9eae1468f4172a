"""Reduction: structures are merged, the cheapest pair first, until there are few enough."""

from spclust.arrays import Floats
from spclust.auto.merge_cost import find_partner, refresh_costs
from spclust.auto.point_update import merge
from spclust.jit.decorators import kernel, part
from spclust.numerics.eight import LANES
from spclust.numerics.smallest import first_smallest
from spclust.state.automatic_structures import AutomaticStructures, automatic_in_kernel


@kernel
def reduce_structures(memory: Floats, most: int) -> None:
    """Merge structures until there are `most` of them. Modified in place: the state."""
    s = automatic_in_kernel(memory)
    while s.live > most:
        first = first_smallest(s.least, s.id, s.live)
        keeper, free = merge(first, s.partner[first], s)
        last = s.live - 1
        s.live = last
        if free != last:
            move(last, free, s)
        keeper = free if keeper == last else keeper
        for j in range(s.live):
            if s.partner[j] == free or j == free:
                find_partner(j, s)
            elif s.partner[j] == last:
                s.partner[j] = free
        refresh_costs(keeper, s)


@part
def move(source: int, target: int, s: AutomaticStructures) -> None:
    """Move the structure in slot `source` to slot `target`. Modified in place: s."""
    theirs, ours = s.z[source // LANES], s.z[target // LANES]
    for c in range(s.d):
        ours[c, target % LANES] = theirs[c, source % LANES]
        s.mean[target, c] = s.mean[source, c]
        for r in range(s.rows):
            s.scatter[target, r, c] = s.scatter[source, r, c]
    s.mass[target], s.count[target], s.id[target] = s.mass[source], s.count[source], s.id[source]
    s.cluster[target], s.missed[target] = s.cluster[source], s.missed[source]
    s.clock_then[target], s.reach[target] = s.clock_then[source], s.reach[source]
    for j in range(s.live + 1):
        s.cost[target, j] = s.cost[source, j]
    for j in range(s.live + 1):
        s.cost[j, target] = s.cost[j, source]
    s.cost[target, target] = s.cost[source, source]
