"""Events of drifting streams: how many are told in time, with a half-life alone.

`python -m benchmarks.events 100 120` learns the streams of seeds 100 to 119. An event is right if
it is told at most 500 points late.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from spclust import SPC
from spclust.datasets import make_drifting

KINDS = ("birth", "death", "merge", "split")
HALF_LIVES = (300, 500, 1000)
DELAY = 500  # points
BURN_IN = 1500  # points, before anything happens in truth


def hits(truth: Sequence[Any], found: Sequence[Any], kind: str) -> Any:
    """Events of a kind that were found in time, that were missed, and that there were not."""
    true = [event for event in truth if event.kind == kind]
    told = [event for event in found if event.kind == kind and event.index > BURN_IN]
    right = 0
    for event in true:
        match = [t for t in told if event.start <= t.index <= event.index + DELAY]
        if match:
            told.remove(match[0])
            right += 1
    return np.array([right, len(true) - right, len(told)])


def f1(counts: Any) -> float:
    """F1 of numbers of right, missed and wrong events."""
    right, missed, wrong = counts
    return float(2 * right / (2 * right + missed + wrong))


def counted(half_life: float, seeds: Iterable[int]) -> dict[str, Any]:
    """Numbers of right, missed and wrong events of each kind, over the streams of some seeds."""
    counts = dict.fromkeys(KINDS, np.zeros(3, dtype=int))
    for seed in seeds:
        X, _, truth = make_drifting(seed=seed)
        found = list(SPC(half_life=half_life).watch([X]))
        counts = {kind: total + hits(truth, found, kind) for kind, total in counts.items()}
    return counts


def main() -> None:
    """Print the table of docs/living.md."""
    first, last = map(int, sys.argv[1:3])
    for half_life in HALF_LIVES:
        for kind, counts in counted(half_life, range(first, last)).items():
            print(half_life, kind, f"{f1(counts):.2f}", *counts.tolist(), flush=True)


if __name__ == "__main__":
    main()
