"""Everything that was ever broken, tried again: `make fuzz`, or `python -m fuzz`.

    python -m fuzz [--minutes 10] [--seed SEED] [--only models] [--processes 2]

In an hour there are 20,000 corrupted models, 500 crafted ones, 10,000 damaged inputs, 300 of them
in processes of their own, 100 runs that are killed and resumed, 1,000 runs with interrupts, and 50
of several threads; in fewer minutes, a share of each. Every trial follows from the seed, which is
printed. As many processes as there are cores have a share of the trials each. A table of trials and
failures is the last thing that is printed; the exit code is 1 if anything failed.
"""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from rich.console import Console
from rich.table import Table

from fuzz.trials import tried

MOST_MEMORY = 1_000_000  # kB that a process of trials, or one that it starts, may have


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
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    seed = int(time.time()) % 10**9 if options.seed is None else options.seed
    print(f"--minutes {options.minutes:g} --seed {seed}", flush=True)
    context = multiprocessing.get_context("spawn")  # threads and handlers of one are not another's
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        running = [
            pool.submit(tried, options.only, seed, options.minutes, process, options.processes)
            for process in range(options.processes)
        ]
        results = [one.result() for one in running]
    table = Table("kind", "trials", "seconds", "failures")
    failed = False
    for name in results[0][0]:
        tallies = [done[name] for done, _ in results]
        trials, failures = (sum(t.trials for t in tallies), sum(len(t.failures) for t in tallies))
        seconds = sum(tally.seconds for tally in tallies)
        table.add_row(name, f"{trials:,}", f"{seconds:.0f}", str(failures))
        failed |= failures > 0
    Console().print(table)
    here, below = (max(peaks) for peaks in zip(*(peaks for _, peaks in results), strict=True))
    print(f"Memory: {here // 1000} MB here, at most {below // 1000} MB in other processes")
    return int(failed or max(here, below) > MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
