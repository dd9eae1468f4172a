"""Everything that was ever broken, tried again: `make fuzz`, or `python -m fuzz`.

    python -m fuzz [--minutes 10] [--seed SEED] [--only models]

In an hour there are 20,000 corrupted models, 500 crafted ones, 10,000 damaged inputs, 300 of them
in processes of their own, 100 runs that are killed and resumed, 1,000 runs with interrupts, and 50
of several threads; in fewer minutes, a share of each. Every trial follows from the seed, which is
printed. A table of trials and failures is the last thing that is printed; the exit code is 1 if
anything failed.
"""

import argparse
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from fuzz import inputs, interrupts, kills, models, threads

ROUNDS = 20  # in each of which all kinds have their share: what is stopped early has tried them all
MOST_MEMORY = 1_000_000  # kB that this process, or one that it starts, may have


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


def tried(kinds: list[Kind], seed: int, minutes: float) -> dict[str, tuple[int, float, list[str]]]:
    """Numbers of trials, seconds and failures of each kind, in at most so many minutes."""
    done: dict[str, tuple[int, float, list[str]]] = {kind.name: (0, 0.0, []) for kind in kinds}
    deadline = time.monotonic() + 60.0 * minutes
    for part in range(1, ROUNDS + 1):
        for kind in kinds:
            trials, seconds, failures = done[kind.name]
            started = time.monotonic()
            wanted = math.ceil(kind.in_an_hour * minutes / 60.0 * part / ROUNDS)
            while trials < wanted and time.monotonic() < deadline:
                failure = kind.trial(seed + trials)
                trials += 1
                if failure:
                    failures.append(failure)
                    print(f"{kind.name}, seed {seed + trials - 1}: {failure}", flush=True)
            done[kind.name] = trials, seconds + time.monotonic() - started, failures
        total = sum(trials for trials, _, _ in done.values())
        print(f"{part} of {ROUNDS} parts, {total:,} trials", file=sys.stderr, flush=True)
    return done


def main() -> int:
    """Run all trials and print a table; 1 if anything failed."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="part of the name of a kind")
    options = parser.parse_args()
    seed = int(time.time()) % 10**9 if options.seed is None else options.seed
    print(f"--minutes {options.minutes:g} --seed {seed}", flush=True)
    inputs.load()
    done = tried([kind for kind in KINDS if options.only in kind.name], seed, options.minutes)
    table = Table("kind", "trials", "seconds", "failures")
    for name, (trials, seconds, failures) in done.items():
        table.add_row(name, f"{trials:,}", f"{seconds:.0f}", str(len(failures)))
    Console().print(table)
    peaks = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(f"Memory: {peaks[0] // 1000} MB here, at most {peaks[1] // 1000} MB in other processes")
    return int(any(failures for *_, failures in done.values()) or max(peaks) > MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
