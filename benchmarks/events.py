"""Events of drifting streams: how many are told in time, with a half-life alone.

`python -m benchmarks.events 100 120` learns the streams of seeds 100 to 119. An event is right if
it is told at most 500 points late. With `--stationary` it learns streams of the same seeds in which
nothing happens, prints how many events each tells, and how fast a watched stream is learnt.
"""

import sys
import time
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


def stationary(seed: int, n: int = 30_000) -> Any:
    """Points of two to eight unit Gaussians with unequal shares in 2 to 10 features, shuffled."""
    rng = np.random.default_rng(seed)
    clusters, features = int(rng.integers(2, 9)), int(rng.choice([2, 3, 5, 10]))
    centres = rng.uniform(0.0, 8.0 * clusters ** (1.0 / features), (clusters, features))
    of = rng.choice(clusters, size=n, p=rng.dirichlet(np.full(clusters, 5.0)))
    return centres[of] + rng.normal(size=(n, features))


def told_of_nothing(half_life: float, seed: int) -> tuple[int, float]:
    """Events after the burn-in of a stationary stream, and points a second while it is watched."""
    X = stationary(seed)
    started = time.perf_counter()
    events = list(SPC(half_life=half_life).watch([X]))
    return sum(e.index > BURN_IN for e in events), len(X) / (time.perf_counter() - started)


def main() -> None:
    """Print the figures of docs/explanation/tracking.md."""
    arguments = [a for a in sys.argv[1:] if a != "--stationary"]
    first, last = map(int, arguments[:2])
    if "--stationary" in sys.argv:
        for half_life in HALF_LIVES:
            told = [told_of_nothing(half_life, seed) for seed in range(first, last)]
            events, rates = zip(*told, strict=True)
            print(half_life, "events:", *events, f"points a second: {np.median(rates):,.0f}")
        return
    for half_life in HALF_LIVES:
        for kind, counts in counted(half_life, range(first, last)).items():
            print(half_life, kind, f"{f1(counts):.2f}", *counts.tolist(), flush=True)


if __name__ == "__main__":
    main()
