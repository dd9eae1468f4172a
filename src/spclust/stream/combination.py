"""Combination of several streams: all their structures, merged until N are left.

There are two rules. A stream that came later than another continues it: its structures are the
newer ones of Eq. 10 and 12. Streams that ran at the same time, parts of one, have no older and
newer: on their common clock the points of two structures alternate, in proportion to their counts.
So means are weighted by counts (Eq. 10 at gamma = 0), and weights are the common mean (Eq. 12 at
beta = 0), brought back to the B of Eq. 9 for the common age. With time stamps there is a common
clock: everything fades until the last of them, and is added up.
"""

from collections.abc import Sequence

import numpy as np

from spclust.algorithm import kernels
from spclust.algorithm.footprint import damping_sums, faded_to
from spclust.array_types import Integers
from spclust.numerics.eight import LANES
from spclust.parameters import Params
from spclust.state.creation import configure, empty, enlarged
from spclust.state.kinds import LOWRANK, Room, without_unrolling
from spclust.state.scratch import scratch_for
from spclust.state.structures import Structures

_MOST_AT_ONCE = 1000  # structures: their pairs take 24 MB

_COUNTERS = ("seen", "pruned", "merged", "evaluations", "rescans")  # of all streams together


def combined(states: Sequence[Structures], params: Params, concurrent: bool) -> Structures:
    """The state of several streams of the same parameters, the first one's structures the oldest.

    All structures are put together, and the two closest are merged, again and again, until N are
    left. Nothing is pruned. Very many are combined in groups: the memory for pairs is quadratic.
    """
    group = max(2, _MOST_AT_ONCE // params.n_structures)
    while len(states) > group:
        parts = [states[k : k + group] for k in range(0, len(states), group)]
        states = [combined(p, params, concurrent) if len(p) > 1 else p[0] for p in parts]
    live = sum(state.live for state in states)
    wide = params._replace(n_structures=max(live, params.n_structures))
    s = gathered(states, wide, params.beta if concurrent else 0.0)
    s.w_min = 0.0
    if concurrent:
        s.gamma = s.beta = 0.0
    s = _reduced(s, wide, params.n_structures)
    if concurrent and not s.timed:
        whole = damping_sums(params.beta, s.age[: s.live])
        s.total[: s.live] *= whole / s.damping[: s.live]
        s.damping[: s.live] = whole
    if wide.n_structures > params.n_structures:
        s = gathered([s], params)
    configure(s, params)
    return s


def gathered(states: Sequence[Structures], params: Params, fading: float = 0.0) -> Structures:
    """A state with the structures of several, measured anew; ids go on from one to the next.

    With time stamps, weights fade at a rate, `fading`, until the last of the streams ends.
    """
    d = states[0].d
    s = empty(params, d, _room(states, params, d))
    earlier = 0
    s.in_logs = any(each.in_logs for each in states)
    s.live = sum(each.live for each in states)
    s.grown = sum(each.grown for each in states)
    s.largest_rank = max(each.largest_rank for each in states)
    s.timed, s.gap = states[0].timed, states[-1].gap
    s.clock = max(each.clock for each in states)
    starts = [0]
    for grown in (True, False):  # grown structures come first
        for each in states:
            slots = np.arange(each.grown) if grown else np.arange(each.grown, each.live)
            _copy(each, slots, s, starts[-1] + np.arange(slots.size))
            here = slice(starts[-1], starts[-1] + slots.size)
            for weights in (s.total[here], s.damping[here]):
                weights[:] = faded_to(s.clock, each.clock, fading, weights)
            starts.append(here.stop)
    for k, each in enumerate(states):
        for start, stop in (starts[k : k + 2], starts[len(states) + k :][:2]):
            s.id[start:stop] += earlier
        earlier += each.seen
    for name in _COUNTERS:
        setattr(s, name, sum(getattr(each, name) for each in states))
    kernels.measure_all(s, scratch_for(s))
    return s


def _room(states: Sequence[Structures], params: Params, d: int) -> Room:
    """Memory for the directions of all structures, and some more, of low-rank covariances."""
    if params.kind != LOWRANK:
        return Room()
    used = sum(int(each.rank[: each.live].sum()) for each in states)
    rank = max(each.rank_room for each in states)
    return Room(rank, used + params.n_structures + 2 * rank)


def _copy(source: Structures, slots: Integers, target: Structures, places: Integers) -> None:
    """Copy structures from their slots to places in another state. Modified in place: target."""
    for name in ("anchor", "drift", "whiten"):
        blocks = getattr(source, name)[slots // LANES, :, slots % LANES]
        getattr(target, name)[places // LANES, :, places % LANES] = blocks
    target.numbers[:, places] = source.numbers[:, slots]
    target.recent[places] = faded_to(target.clock, source.clock, target.gamma, source.recent[slots])
    if target.kind != LOWRANK:
        target.Sigma[places] = source.Sigma[slots]
        return
    ours, theirs = target.columns // 2, source.columns // 2
    for part in range(2):  # packed triangles of S and of its factor
        target.Sigma[places, :, part * ours : part * ours + theirs] = source.Sigma[
            slots, :, part * theirs : (part + 1) * theirs
        ]
    for slot, place in zip(slots, places, strict=True):
        rank, free = int(source.rank[slot]), target.free_directions
        rows = target.free[free - rank : free]
        target.place[place, :rank] = rows
        target.basis[rows] = source.basis[source.place[slot, :rank]]
        target.free_directions -= rank


def _reduced(s: Structures, params: Params, most: int) -> Structures:
    """A state with so many structures at most; larger memory, if that is needed on the way."""
    s.capacity = most
    while True:
        kernels.learn(s, kernels.NO_ROWS, scratch_for(s), kind=without_unrolling(s.kernel_kind))
        if s.needed_rank == 0:
            return s
        s = enlarged(s, params)
