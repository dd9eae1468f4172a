"""How well labels agree with known classes, in memory that does not grow.

Labels may change their meaning while a stream goes on, so each batch is scored by itself; what is
told is the mean over all rows.
"""

from typing import Any

import numpy as np

from spclust.arrays import Integers

NAMES = ("purity", "nmi", "ari")


class Scores:
    """Sums of scores, each weighted by the rows of its batch."""

    def __init__(self) -> None:
        self.rows = 0
        self.sums = dict.fromkeys(NAMES, 0.0)

    def add(self, classes: Any, labels: Integers) -> None:
        """Score a batch: classes and labels (n,) of its rows."""
        from spclust.metrics import SCORES

        known = np.array(classes.to_pylist(), dtype=object).astype(str)
        for name in NAMES:
            self.sums[name] += len(labels) * SCORES[name](known, labels)
        self.rows += len(labels)

    def means(self) -> dict[str, float]:
        """The scores; none if nothing was scored."""
        return {name: total / self.rows for name, total in self.sums.items()} if self.rows else {}

    def state(self) -> dict[str, Any]:
        """What `restore` takes."""
        return {"rows": self.rows, "sums": self.sums}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.rows, self.sums = int(state["rows"]), dict(state["sums"])
