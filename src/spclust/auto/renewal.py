"""Renewal: what is done every so many points. Structures go, the metric and the clusters follow.

With a half-life everything follows the stream: every N points what is forgotten is removed. Every 3
N points, or less often if more is remembered, the metric is fitted and structures are assigned to
clusters, whose clocks decide what is forgotten. As long as metric and clusters stay the same, and
the origin rests, that is done less and less often, up to 32 times, but, as long as half of all
points are remembered, whenever their number has grown by a fifth. Without a half-life the metric is
fitted whenever that number has grown by a fifth, and clusters are read when they are asked for.

Where the stream changes at once, all of it is done early: if, of N points, more than a fifth were
farther from home than 95 % of those before, or four fifths nearer than half of the last ones
(`point_update.forget`).
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.evidence import agreement, clusters_of
from spclust.auto.common_drift import follow_drift, is_at_rest, regroup
from spclust.auto.home import find_reaches, latest_median, quantiles
from spclust.auto.merge_cost import measure_costs
from spclust.auto.metric import renew_metric
from spclust.auto.removal import remove_forgotten, restart_clocks
from spclust.jit.decorators import kernel
from spclust.state.automatic_structures import AutomaticStructures, automatic_in_kernel

_GROWTH = 1.2
_OFTEN = 3  # times N points, at the least, between two renewals of the metric
CALMEST = 32  # times as many, if clusters stay the same
_NEARLY = 0.1  # by which the metric may change meanwhile, as a logarithm
_SAME = 0.95  # of the mass, whose clusters have to stay the same
_APART = 0.01  # distances from home tie where they are a reach: a share beyond which they differ
_FULL = 0.5  # of all points, of which fewer are remembered when memory is full
_MEMORY = 0.5  # of the points that are remembered may come between two renewals of the metric


class Renewal(NamedTuple):
    """What a renewal has found."""

    clusters: Integers | None  # (k,) of the structure in each slot, -1 for strays; None: not read
    turned: float | None  # `drift_clock` since when the velocity counts; None if no window ended


def learn_units(s: AutomaticStructures, x: Floats) -> None:
    """Give a unit to features in which x (d,) is the first to differ. Modified in place: s."""
    with np.errstate(over="ignore"):  # it is refused
        offset = np.abs(x - s.origin)
    finite = np.isfinite(offset)
    if not finite.all():
        raise TooFarError(int(np.argmin(finite)))
    for c in np.flatnonzero((s.unit == 0.0) & (offset > 0.0)):
        s.unit[c] = 2.0 ** np.clip(np.ceil(np.log2(offset[c])), -1000.0, 1000.0)


class TooFarError(ValueError):
    """A number of a column is too far from that of the first point."""

    def __init__(self, column: int) -> None:
        super().__init__(too_far("A number"))
        self.column = column


def too_far(what: str) -> str:
    """The sentence about a number that is too far from the first point."""
    return (
        f"{what} is too far from the first point of the stream: leave that point out, or divide "
        "the feature by a constant in all points."
    )


def set_dues(s: AutomaticStructures) -> None:
    """Note when the next renewals are due. Modified in place: s."""
    seen, n = s.seen, s.capacity
    if seen < n:
        s.renewal_due = s.metric_due = min(2 * seen, n)
        return
    s.renewal_due = seen + n
    if s.half_life == np.inf:
        s.metric_due = max(seen + n, int(_GROWTH * seen))
    else:
        remembered = float(s.mass[: s.live].sum()) / s.point_mass
        wait = max(_OFTEN * n, int(_MEMORY * remembered))
        later = seen + s.calm * wait
        if remembered > _FULL * seen:  # memory still grows
            later = min(later, int(_GROWTH * seen))
        s.metric_due = max(seen + wait, later)


def renew(s: AutomaticStructures) -> Renewal:
    """Remove what is forgotten; fit the metric; assign clusters. Modified in place: s."""
    fades, labels, turned = s.half_life < np.inf, None, None
    if fades:
        remove_from(s.memory)
        turned = follow_drift(s)
    before = scales_of(s)
    measure(s)
    if fades and s.live > 2:
        labels = clusters_of(s)
        changed = float(np.mean(np.abs(np.log(scales_of(s) / before))))
        same = agreement(s.cluster[: s.live], labels, s.mass[: s.live]) >= _SAME
        s.calm = min(2 * s.calm, CALMEST) if changed < _NEARLY and same and is_at_rest(s) else 1
        assign(s, labels)
    if turned is not None:
        regroup(s)
    s.near = s.strange = 0
    if s.seen > 2:
        s.home_median = latest_median(s) * (1.0 - _APART)
        s.home_rare = quantiles(s, s.recents)[1] * (1.0 + _APART)
    set_dues(s)
    return Renewal(labels, turned)


def scales_of(s: AutomaticStructures) -> Floats:
    """The diagonal (d,) of the metric."""
    scales: Floats = s.metric[0].copy() if s.diagonal else np.diagonal(s.metric).copy()
    return scales


def measure(s: AutomaticStructures) -> None:
    """Fit the metric, and measure everything in it. Modified in place: s."""
    renew_metric(s)
    measure_in(s.memory)


@kernel
def remove_from(memory: Floats) -> None:
    """Remove what is forgotten. Modified in place: the state."""
    remove_forgotten(automatic_in_kernel(memory))


@kernel
def measure_in(memory: Floats) -> None:
    """Measure all costs and reaches in the metric as it is. Modified in place: the state."""
    s = automatic_in_kernel(memory)
    measure_costs(s)
    find_reaches(s)


@kernel
def restart_clocks_of(memory: Floats) -> None:
    """Let the clocks of all clusters start anew. Modified in place: the state."""
    restart_clocks(automatic_in_kernel(memory))


def assign(s: AutomaticStructures, labels: Integers) -> None:
    """Assign the structures to clusters, by labels (k,), -1 for none. Modified in place: s.

    The clocks of the clusters start anew. Strays share one.
    """
    k = s.live
    restart_clocks_of(s.memory)
    clusters = int(labels.max(initial=-1)) + 1
    s.cluster[:k] = np.where(labels >= 0, labels, clusters)
    s.clusters = clusters + int(np.any(labels < 0))
    s.cluster_mass[:] = 0.0
    np.add.at(s.cluster_mass, s.cluster[:k], s.mass[:k])
