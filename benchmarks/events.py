"""Events of drifting streams: how many are told in time: `python -m benchmarks.events`.

Streams of `make_drifting` with seeds that were not used to choose anything, with a half-life alone,
and in the mode of the paper. An event is right if it is told at most 500 points late. Then streams
in which nothing happens: how many events each tells.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks import stored
from spclust import SPC
from spclust.datasets import make_drifting

KINDS = ("birth", "death", "merge", "split")
HALF_LIVES = (300, 500, 1000)
DRIFTING, STATIONARY = (160, 180), (200, 214)  # seeds
PAPER: dict[str, Any] = {
    "n_structures": 60, "scale": 1.5, "eps": 0.95, "beta": 0.02, "gamma": 0.1, "nlt_max": 0.001,
    "track_every": 25,
}  # fmt: skip
CHOSEN_ON, NOT_CHOSEN_ON = (0, 10), (10, 30)  # seeds of the mode of the paper
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


def counted(seed: int, parameters: Mapping[str, Any]) -> Any:
    """Numbers (4, 3) of right, missed and wrong events of each kind in the stream of a seed."""
    X, _, truth = make_drifting(seed=seed)
    found = list(SPC(**parameters).watch([X]))
    return np.array([hits(truth, found, kind) for kind in KINDS])


def stationary(seed: int, n: int = 30_000) -> Any:
    """Points of two to eight unit Gaussians with unequal shares in 2 to 10 features, shuffled."""
    rng = np.random.default_rng(seed)
    clusters, features = int(rng.integers(2, 9)), int(rng.choice([2, 3, 5, 10]))
    centres = rng.uniform(0.0, 8.0 * clusters ** (1.0 / features), (clusters, features))
    of = rng.choice(clusters, size=n, p=rng.dirichlet(np.full(clusters, 5.0)))
    return centres[of] + rng.normal(size=(n, features))


def told_of_nothing(seed: int, half_life: float) -> int:
    """Events after the burn-in of a stationary stream."""
    return sum(
        event.index > BURN_IN for event in SPC(half_life=half_life).watch([stationary(seed)])
    )


def main() -> None:
    """Print the figures of docs/explanation/tracking.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.events", description=__doc__)
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    stored.add_option(parser)
    options, figures = parser.parse_args(), dict[str, float]()
    runs: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
        f"h = {half_life}": (DRIFTING, {"half_life": half_life}) for half_life in HALF_LIVES
    }
    runs |= {"paper, chosen on": (CHOSEN_ON, PAPER), "paper, others": (NOT_CHOSEN_ON, PAPER)}
    with ProcessPoolExecutor(options.processes) as pool:
        for name, (seeds, parameters) in runs.items():
            found = pool.map(partial(counted, parameters=parameters), range(*seeds))
            for kind, counts in zip(KINDS, sum(found), strict=True):
                print(name, f"{kind}s", f"{f1(counts):.2f}", *counts.tolist(), flush=True)
                figures[f"{name}/{kind}s"] = f1(counts)
                for what, count in zip(("right", "missed", "wrong"), counts, strict=True):
                    figures[f"{name}/{kind}s/{what}"] = int(count)
        for half_life in HALF_LIVES:
            told = pool.map(partial(told_of_nothing, half_life=half_life), range(*STATIONARY))
            events = list(told)
            print(f"h = {half_life}, nothing happens:", *events, flush=True)
            figures[f"h = {half_life}/streams without an event"] = events.count(0)
            figures[f"h = {half_life}/most events of a stream"] = max(events)
    if options.store:
        stored.store("events", figures, options)


if __name__ == "__main__":
    main()
