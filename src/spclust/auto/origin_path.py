"""The path of a moving origin: where rows of a batch would be if they had moved with the clusters.

A batch may be long, and the velocity of the origin changes at renewals. Then structures go to where
they would be if the origin had had the new velocity since the window of the drift began. So do the
rows: a piece of the path begins where that window began, and takes the place of what came later.
Where all clusters have gone, the origin stops at that moment: what it did before stays.
"""

from bisect import bisect_left
from typing import NamedTuple, Self

import numpy as np

from spclust.array_types import Floats, Rows
from spclust.state.automatic_structures import LONGEST_TIME, AutomaticStructures


class OriginPath(NamedTuple):
    """Velocities since the first row of a batch, in coordinates, and when each began."""

    began: tuple[float, ...]  # by `drift_clock`
    velocity: tuple[Floats, ...]  # (d,) each

    @classmethod
    def starting(cls, s: AutomaticStructures) -> Self:
        """The path of a batch that begins now."""
        return cls((-np.inf,), (s.velocity.copy(),))

    def turned(self, began: float, velocity: Floats) -> Self:
        """The path after a renewal: it has another velocity since some moment before."""
        kept = bisect_left(self.began, began)
        return type(self)((*self.began[:kept], began), (*self.velocity[:kept], velocity.copy()))

    @property
    def rests(self) -> bool:
        """True if the origin has been at rest all the time."""
        return not any(velocity.any() for velocity in self.velocity)

    def followed(self, X: Rows, arrivals: Floats, s: AutomaticStructures) -> Rows:
        """Rows of X (n, d), which arrived at some times (n,), moved as the origin since."""
        end = s.drift_clock
        began = np.array(self.began)
        began[0] = min(arrivals.min(initial=end), end)
        began = np.minimum(began, end)
        velocity = np.array(self.velocity)
        ways = velocity * np.diff(began, append=end)[:, np.newaxis]  # of each whole piece
        later = np.cumsum(ways[::-1], axis=0)[::-1] - ways  # after it
        piece = np.maximum(np.searchsorted(began, arrivals, side="right") - 1, 0)
        until = np.append(began[1:], end)[piece]
        moved = later[piece] + velocity[piece] * (until - arrivals)[:, np.newaxis]
        return X + moved * s.unit


def arrivals_of(
    rows: int, s: AutomaticStructures, t: Floats | None, weights: Floats | None
) -> Floats:
    """When each row (rows,) of the last batch arrived, by `drift_clock`.

    Rows of weight 0 are not learnt: they count as arriving with the last one before.
    """
    learnt = np.ones(rows, dtype=np.bool_) if weights is None else weights > 0.0
    if t is None:
        until: Floats = learnt.cumsum() - float(learnt.sum())
        return s.drift_clock + until * min(1.0, s.half_life)
    if not learnt.any():
        return np.full(rows, s.drift_clock)
    with np.errstate(over="ignore"):
        gaps = np.diff(t[learnt], prepend=t[learnt][:1])
    elapsed = np.minimum(gaps, min(s.half_life, LONGEST_TIME)).cumsum()
    place = np.maximum(learnt.cumsum() - 1, 0)
    found: Floats = (elapsed - elapsed[-1])[place] + s.drift_clock
    return found
