"""Events: what can happen to tracked clusters, and from when on it is believed.

A birth: a cluster of enough recent points that was no part of another one. A death: one that gets
no points any more. A merge: several that are one now. A split: one that is several now. A move: one
whose centre is far from where it was. In the automatic mode `label_tracker` finds and reports them;
in the mode of the paper `comparison` finds them, and `tracker` reports them.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["birth", "death", "merge", "split", "move"]
Change = tuple[Kind, tuple[int, ...]]  # a kind, and the cluster ids concerned

ENOUGH = 4.0  # weight that makes a cluster, in recent points; half of it keeps one
PART = 0.15  # share of what is left of a cluster id that makes a considerable part of it
FAR = 3.0  # standard deviations of a cluster between its places that make a move


@dataclass(frozen=True)
class ClusterEvent:
    """A birth, death, merge, split or move of clusters."""

    kind: Kind
    index: int  # points learnt when it was reported
    before: tuple[int, ...]  # cluster ids concerned
    after: tuple[int, ...]  # cluster ids that they have become
    centre: tuple[float, ...]  # centre of the (first) cluster, now or at last
