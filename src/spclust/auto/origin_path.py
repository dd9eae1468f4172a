"""The path of a moving origin: where rows that moved with it are now.

A batch may be long, and the velocity of the origin changes at renewals. Then structures go to where
they would be if the origin had had the new velocity since the window of the drift began. So do the
rows: a piece of the path begins where that window began, and takes the place of what came later.
Where all clusters have gone, the origin stops at that moment: what it did before stays.
"""

from bisect import bisect_left
from typing import NamedTuple, Self

import numpy as np

from spclust.array_types import Floats, Integers, Rows
from spclust.state.automatic_structures import LONGEST_TIME, AutomaticStructures

_MOST_PIECES = 256  # before a batch: rows that are older than these hardly count any more
_MOST_NUMBERS = 200_000  # in all of these, which limits the memory for many features


class OriginPath(NamedTuple):
    """Velocities of late, in coordinates, and when each began."""

    began: tuple[float, ...]  # by `drift_clock`; the first one has always been there
    velocity: tuple[Floats, ...]  # (d,) each

    @classmethod
    def starting(cls, s: AutomaticStructures) -> Self:
        """The path of a stream that is recorded from now on."""
        return cls((-np.inf,), (s.velocity.copy(),))

    def continued(self, s: AutomaticStructures) -> Self:
        """The path when a batch begins: of what came before, the last pieces."""
        if not np.array_equal(self.velocity[-1], s.velocity):  # it changed where nobody recorded
            return self.starting(s)
        most = max(1, min(_MOST_PIECES, _MOST_NUMBERS // s.d))
        if len(self.began) <= most:
            return self
        return type(self)((-np.inf, *self.began[-most:][1:]), self.velocity[-most:])

    def turned(self, began: float, velocity: Floats) -> Self:
        """The path after a renewal: it has another velocity since some moment before."""
        kept = bisect_left(self.began, began)
        return type(self)((*self.began[:kept], began), (*self.velocity[:kept], velocity.copy()))

    def rests_since(self, arrival: float) -> bool:
        """True if the origin has been at rest since a row arrived."""
        last = range(len(self.began) - 1, -1, -1)
        piece = next((at for at in last if self.began[at] <= arrival), 0)
        return not any(velocity.any() for velocity in self.velocity[piece:])

    def followed(self, X: Rows, arrivals: Floats, s: AutomaticStructures) -> Rows:
        """Rows of X (n, d), which arrived at some times (n,), moved as the origin since."""
        end = s.drift_clock
        began, arrivals = np.array(self.began), np.minimum(arrivals, end)
        began[0] = min(arrivals.min(initial=end), began[1:].min(initial=end))
        began = np.minimum(began, end)
        velocity = np.array(self.velocity)
        ways = velocity * np.diff(began, append=end)[:, np.newaxis]  # of each whole piece
        later = np.cumsum(ways[::-1], axis=0)[::-1] - ways  # after it
        piece = np.maximum(np.searchsorted(began, arrivals, side="right") - 1, 0)
        until = np.append(began[1:], end)[piece]
        moved = later[piece] + velocity[piece] * (until - arrivals)[:, np.newaxis]
        return X + moved * s.unit


class Arrivals(NamedTuple):
    """When the rows of a batch arrived, by `drift_clock`."""

    rows: int
    end: float  # when the last one did
    pace: float  # time from one row to the next, without time stamps
    until: Floats | None  # (rows,) time since then, at most 0; None if there are rows alone

    @classmethod
    def of_last(
        cls, rows: int, s: AutomaticStructures, t: Floats | None, weights: Floats | None
    ) -> Self:
        """Those of rows just learnt, with times (rows,) and weights (rows,).

        Rows of weight 0 are not learnt: they count as arriving with the last one before.
        """
        pace = min(1.0, s.half_life)
        if t is None and weights is None:
            return cls(rows, s.drift_clock, pace, None)
        learnt = np.ones(rows, dtype=np.bool_) if weights is None else weights > 0.0
        if t is None:
            until = (learnt.cumsum() - float(learnt.sum())) * pace
            return cls(rows, s.drift_clock, pace, until)
        if not learnt.any():
            return cls(rows, s.drift_clock, pace, np.zeros(rows))
        with np.errstate(over="ignore"):
            gaps = np.diff(t[learnt], prepend=t[learnt][:1])
        elapsed = np.minimum(gaps, min(s.half_life, LONGEST_TIME)).cumsum()
        place = np.maximum(learnt.cumsum() - 1, 0)
        return cls(rows, s.drift_clock, pace, (elapsed - elapsed[-1])[place])

    def of(self, places: Integers) -> Floats:
        """Arrivals (n,) of the rows at some places (n,)."""
        if self.until is None:
            return self.end + (places.astype(np.float64) - (self.rows - 1.0)) * self.pace
        return self.end + self.until[places]
