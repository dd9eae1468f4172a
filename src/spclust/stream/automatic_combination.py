"""Combination of several streams in the automatic mode: all structures, merged until N are left.

Masses are brought to one clock first. Streams that ran at the same time, parts of one, are equally
old: the last point of each has the mass of a point; with time stamps each fades until the last
stamp of all. Of streams that came one after another, the earlier ones fade for as many points, or
for as long, as the later ones have learnt; and their structures move on as they did, for a
half-life at most. Masses are then in units of the mean weight of all. The origin goes on with the
mean velocity of those streams that have measured one, and a new window of its drift begins, with
the clusters of all of them.
"""

from collections.abc import Sequence

import numpy as np

from spclust.array_types import Floats
from spclust.auto.clusters.evidence import clusters_of
from spclust.auto.common_drift import FEWEST_WINDOWS, regroup
from spclust.auto.home import last_distances
from spclust.auto.merge_cost import refresh_costs
from spclust.auto.point_update import merge
from spclust.auto.removal import vacate
from spclust.auto.renewal import assign, measure, remove_from, set_dues
from spclust.jit.decorators import kernel
from spclust.numerics.smallest import first_smallest
from spclust.parameters import Params
from spclust.state.automatic_structures import (
    LONGEST_TIME,
    AutomaticStructures,
    automatic_in_kernel,
    empty_automatic,
)

_MOST_AT_ONCE = 1000  # structures: their costs take 8 MB
_LEAST_MASS = 1e-100
_COUNTERS = ("removed", "merged", "measured", "rescans")


def combined_automatically(
    states: Sequence[AutomaticStructures], params: Params, concurrent: bool
) -> AutomaticStructures:
    """The state of several streams of the same parameters, the first one's the oldest."""
    group = max(2, _MOST_AT_ONCE // params.n_structures)
    while len(states) > group:
        parts = [states[k : k + group] for k in range(0, len(states), group)]
        states = [combined_automatically(p, params, concurrent) for p in parts]
    states = [state for state in states if state.seen > 0] or [states[0]]
    live = sum(state.live for state in states)
    wide = params._replace(n_structures=max(live, params.n_structures))
    s = gathered(states, wide, concurrent)
    measure(s)
    if live > params.n_structures and s.half_life < np.inf:
        remove_from(s.memory)  # what has faded, before others lose their detail to it
    reduce_structures(s.memory, params.n_structures)
    if wide.n_structures > params.n_structures:
        s = gathered([s], params, concurrent)
    measure(s)
    if s.half_life < np.inf and s.live > 2:
        assign(s, clusters_of(s))
        regroup(s)
    set_dues(s)
    return s


def gathered(
    states: Sequence[AutomaticStructures], params: Params, concurrent: bool
) -> AutomaticStructures:
    """A state with the structures of several, in the units of the first that has one."""
    s = empty_automatic(params, states[0].d)
    s.timed, s.clock = states[0].timed, max(each.clock for each in states)
    s.origin[:], s.unit[:] = states[0].origin, common_units(states)
    known = np.where(s.unit > 0.0, s.unit, 1.0)
    s.mean_weight = states[0].mean_weight
    s.weighted = any(each.weighted or each.mean_weight != s.mean_weight for each in states)
    masses = faded_masses(states, s, concurrent)
    s.drift_clock = max(each.drift_clock for each in states)
    s.seen = sum(each.seen for each in states)
    at, earlier, recent, measured = 0, 0, [], 0.0
    for each, mass in zip(states, masses, strict=True):
        place = slice(at, at + each.live)
        ratio = np.where(each.unit > 0.0, each.unit, known) / known
        lag = 0.0 if concurrent else float(s.seen - earlier - each.seen)
        lag = s.clock - each.clock if s.timed else lag  # from its end to that of all
        at_rest = each.mean[: each.live] + each.displacement
        if s.half_life < np.inf:
            at_rest += each.velocity * min(lag, s.half_life)
            if each.velocity.any() or each.agreeing >= FEWEST_WINDOWS:
                # Between two points of a part there are points of the other parts.
                pace = each.seen / s.seen if concurrent and not s.timed else 1.0
                s.velocity += mass.sum() * ratio * pace * each.velocity
                measured += mass.sum()
        s.mean[place] = ratio * at_rest + (each.origin - s.origin) / known
        squares = ratio**2 if s.diagonal else np.outer(ratio, ratio)
        scale = (mass / each.mass[: each.live])[:, np.newaxis, np.newaxis]
        s.scatter[place] = each.scatter[: each.live] * squares * scale
        s.mass[place], s.count[place] = mass, each.count[: each.live]
        s.id[place] = each.id[: each.live] + earlier
        s.time[place] = each.time[: each.live] + (s.drift_clock - each.drift_clock)
        s.time[place] -= min(lag, LONGEST_TIME)
        at, earlier = at + each.live, earlier + each.seen
        recent.append(last_distances(each, each.recents))
    s.live = at
    for name in _COUNTERS:
        setattr(s, name, sum(getattr(each, name) for each in states))
    s.cluster_mass[0] = s.mass[:at].sum()
    if measured > 0.0:
        s.velocity /= measured
    s.drift[:] = s.velocity
    s.window_began = s.drift_clock
    last = evenly_chosen(recent, s.recents)
    s.recent[np.arange(s.seen - last.size, s.seen) % s.recents] = last
    return s


def common_units(states: Sequence[AutomaticStructures]) -> Floats:
    """Units (d,) of the first state that has one, or from how far origins are apart."""
    unit = np.zeros(states[0].d)
    for each in states:
        unit = np.where(unit > 0.0, unit, each.unit)
    apart = np.max([np.abs(each.origin - states[0].origin) for each in states], axis=0)
    differ = (unit == 0.0) & (apart > 0.0)
    unit[differ] = 2.0 ** np.ceil(np.log2(apart[differ]))
    return unit


def faded_masses(
    states: Sequence[AutomaticStructures], s: AutomaticStructures, concurrent: bool
) -> list[Floats]:
    """Masses (k,) of the structures of each state, a point of the mean weight having mass 1.

    Modified in place: s, which gets the mean weight.
    """
    later, masses = sum(each.seen for each in states), []
    for each in states:
        later -= each.seen
        masses.append(faded(each, s, 0 if concurrent else later))
    if s.weighted:
        counts, means = [mass.sum() for mass in masses], [each.mean_weight for each in states]
        s.mean_weight = float(np.average(means, weights=counts))
    return [
        np.maximum(mass * (each.mean_weight / s.mean_weight), _LEAST_MASS)
        for each, mass in zip(states, masses, strict=True)
    ]


def faded(each: AutomaticStructures, s: AutomaticStructures, later: int) -> Floats:
    """Faded counts (k,) of a stream's structures in the combined stream."""
    age = s.clock - each.clock if s.timed else float(later)
    half_lives = age / s.half_life if s.half_life < np.inf else 0.0
    count = each.mass[: each.live] / each.point_mass * 2.0**-half_lives
    return np.maximum(count, _LEAST_MASS)


def evenly_chosen(recent: Sequence[Floats], most: int) -> Floats:
    """At most so many distances of several streams, evenly from each; all of them oldest first."""
    step = max(1, -(-sum(each.size for each in recent) // most))
    chosen = [each[(each.size - 1) % step :: step] for each in recent]
    age = np.concatenate([np.arange(each.size, 0.0, -1.0) / each.size for each in chosen])
    found: Floats = np.concatenate(chosen)[np.argsort(-age, kind="stable")]
    return found[-most:]  # rounding adds one for each stream, at most


@kernel
def reduce_structures(memory: Floats, most: int) -> None:
    """Merge structures until there are `most` of them. Modified in place: the state."""
    s = automatic_in_kernel(memory)
    while s.live > most:
        first = first_smallest(s.least, s.id, s.live)
        keeper, free = merge(first, int(s.partner[first]), s)
        vacate(free, s)
        refresh_costs(free if keeper == s.live else keeper, s)  # the last one has moved
