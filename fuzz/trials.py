"""Trials of all kinds, each by a seed; a process has a share of them."""

import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzz import inputs, interrupts, kills, models, threads

ROUNDS = 20  # in each of which all kinds have their share: what is stopped early has tried them all


class Kind(NamedTuple):
    """A kind of trials."""

    name: str
    in_an_hour: int
    trial: Callable[[int], str]  # by a seed; "" if all was well


def model(kind: Callable[[np.random.Generator], Iterator[tuple[str, bytes]]], seed: int) -> str:
    """One crafted or corrupted model."""
    name, data = next(kind(np.random.default_rng(seed)))
    found = models.tried(data)
    return "" if found in ("refused", "works") else f"{name}: {found}"


def damaged_input(seed: int, *, anew: bool) -> str:
    """One damaged input; a file that makes a problem is kept."""
    rng = np.random.default_rng(seed)
    name, data = next(inputs.mutants(rng))
    arguments = inputs.arguments_for(rng, name)
    with tempfile.TemporaryDirectory() as folder:
        result = inputs.outcome(name, data, arguments, folder, anew=anew)
    if result.problem is None:
        return ""
    kept = Path(tempfile.gettempdir(), f"fuzz-{seed}-{name}")
    kept.write_bytes(data)
    return f"{result.problem}: {kept}: {' '.join(arguments)}: {result.message[-300:]}"


def killed(seed: int) -> str:
    """One run that is killed and resumed."""
    done = kills.trial(seed)
    return f"{done.input} to {done.output}: {done.failure}" if done.failure else ""


KINDS = (
    Kind("corrupted models", 20_000, lambda seed: model(models.corrupted, seed)),
    Kind("crafted models", 500, lambda seed: model(models.crafted, seed)),
    Kind("damaged inputs", 9_700, lambda seed: damaged_input(seed, anew=False)),
    Kind("damaged inputs, new processes", 300, lambda seed: damaged_input(seed, anew=True)),
    Kind("killed and resumed runs", 100, killed),
    Kind("runs with interrupts", 1_000, interrupts.trial),
    Kind("several threads", 50, threads.trial),
)


class Tally(NamedTuple):
    """Results of the trials of a kind."""

    trials: int = 0
    seconds: float = 0.0
    failures: tuple[str, ...] = ()


def tried(
    only: str, seed: int, minutes: float, process: int, processes: int
) -> tuple[dict[str, Tally], tuple[int, int]]:
    """A tally of each kind in at most so many minutes, and kB of this process and its children.

    Of the trials of all processes, those with the numbers process, process + processes, ...
    """
    inputs.load()
    done = {kind.name: Tally() for kind in KINDS if only in kind.name}
    deadline = time.monotonic() + 60.0 * minutes
    for part in range(1, ROUNDS + 1):
        for kind in KINDS:
            if kind.name not in done:
                continue
            trials, seconds, failures = done[kind.name]
            started = time.monotonic()
            wanted = math.ceil(kind.in_an_hour * minutes / 60.0 * part / ROUNDS)
            while (number := process + processes * trials) < wanted:
                if time.monotonic() >= deadline:
                    break
                failure = kind.trial(seed + number)
                trials += 1
                if failure:
                    failures = (*failures, failure)
                    print(f"{kind.name}, seed {seed + number}: {failure}", flush=True)
            done[kind.name] = Tally(trials, seconds + time.monotonic() - started, failures)
        if process == 0:
            total = processes * sum(tally.trials for tally in done.values())
            print(f"{part} of {ROUNDS} parts, about {total:,} trials", file=sys.stderr, flush=True)
    return done, (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    )
