"""Kills processes that save two models in turn to one file, at random moments, 200 times.

A program: forks, which wants a process without threads. It prints what was found in the file after
each kill, 0 or 1 for the two models, and how many other files there were, for each kill.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from spclust.persistence.atomic_file import write_whole

KILLS = 200
LONGEST = 0.2  # seconds


def save_for_ever(path, models):
    while True:
        for model in models:
            write_whole(path, model)


def main(path, *sources):
    models = [Path(source).read_bytes() for source in sources]
    rng, start = random.Random(0), time.perf_counter()
    for model in 2 * models:
        write_whole(path, model)
    # Disks differ: time for several saves, most of which are not the first.
    longest = min(LONGEST, 0.005 + 1.5 * (time.perf_counter() - start))
    for _ in range(KILLS):
        saver = os.fork()
        if saver == 0:
            save_for_ever(path, models)
        time.sleep(rng.uniform(0.0, longest))
        os.kill(saver, signal.SIGKILL)
        os.waitpid(saver, 0)
        found = models.index(Path(path).read_bytes())  # a ValueError if it is neither
        print(found, len(list(Path(path).parent.iterdir())) - 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
