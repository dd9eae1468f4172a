"""Renewal: what is done every so many points. Structures go, the metric and the clusters follow.

With a half-life everything follows the stream: every N points what is forgotten is removed. Every
5 N points, or less often if more is remembered, the metric is fitted and structures are assigned to
clusters, whose clocks decide what is forgotten. Without a half-life the metric is fitted whenever
the number of points has grown by a fifth, and clusters are read when they are asked for.
"""

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.auto.evidence import clusters_of
from spclust.auto.home import find_reaches
from spclust.auto.merge_cost import measure_costs
from spclust.auto.metric import renew_metric
from spclust.auto.removal import remove_forgotten, restart_clocks
from spclust.jit.decorators import kernel
from spclust.state.automatic_structures import AutomaticStructures, automatic_in_kernel

_GROWTH = 1.2
_OFTEN = 5  # renewals between two of the metric, at the least
_MEMORY = 0.25  # of the points that are remembered may come between two renewals of the metric


def learn_units(s: AutomaticStructures, x: Floats) -> None:
    """Give a unit to features in which x (d,) is the first to differ. Modified in place: s."""
    with np.errstate(over="ignore"):  # it is refused
        offset = np.abs(x - s.origin)
    if not np.all(np.isfinite(offset)):
        raise ValueError("A number is not finite, or too far from the first point.")
    for c in np.flatnonzero((s.unit == 0.0) & (offset > 0.0)):
        s.unit[c] = 2.0 ** np.clip(np.ceil(np.log2(offset[c])), -1000.0, 1000.0)


def set_dues(s: AutomaticStructures) -> None:
    """Note when the next renewals are due. Modified in place: s."""
    seen, n = s.seen, s.capacity
    if seen < n:
        s.renewal_due = s.metric_due = min(2 * seen, n)
    elif s.half_life == np.inf:
        s.renewal_due = s.metric_due = max(seen + n, int(_GROWTH * seen))
    else:
        s.renewal_due = seen + n
        if s.metric_due <= seen:
            remembered = float(s.mass[: s.live].sum()) / s.point_mass
            s.metric_due = seen + n * max(_OFTEN, int(_MEMORY * remembered / n))


def renew(s: AutomaticStructures) -> None:
    """Remove what is forgotten; fit the metric; assign clusters. Modified in place: s."""
    fades = s.half_life < np.inf
    if fades:
        remove_from(s.memory)
    measure(s)
    if fades and s.live > 2:
        assign(s, clusters_of(s))
    set_dues(s)


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
