"""Silence: the evidence that a cluster gets no points any more.

Page's test compares two explanations of the points of a cluster since the last observation: it has
its share of the stream as before, or next to nothing of it. The logarithm of the ratio of their
probabilities, added up from where it was least, is the evidence. So a cluster that should have had
e points, and had none, has an evidence of e, and each single point takes 6 from it.
"""

from typing import NamedTuple

import numpy as np

_LEFT = 0.002  # of its share, what a dead cluster gets: points that belong to none
_MOST = 8.0  # evidence of one observation: a death takes three, whatever the share
DEAD = 16.0  # evidence that makes a cluster dead: by chance once in some ten million observations


class Silence(NamedTuple):
    """A cluster's share of the points, and the evidence that it has none of them any more."""

    share: float  # when it last was not silent
    evidence: float = 0.0

    def after(self, points: float, arrived: float, share: float) -> "Silence":
        """The same after so many points of the stream, of which some have arrived here.

        `share` is that of the cluster now, by faded counts.
        """
        expected = self.share * points
        more = (1.0 - _LEFT) * expected + arrived * np.log(_LEFT)
        evidence = self.evidence + min(more, _MOST)
        return Silence(share) if evidence <= 0.0 else Silence(self.share, float(evidence))
