"""The command with a clock: `python -m benchmarks.clocked ROWS cluster FILE ...`.

At its end it says on standard error how many rows a second it learnt after the first ROWS, within
which modules are imported and kernels are loaded.
"""

import sys
import time
from typing import Any

from spclust.cli import app
from spclust.cli.cluster_run import ClusterRun

SAID = "clocked rows a second:"


def main(skipped: int) -> None:
    """Run the command."""
    marks: list[tuple[float, int]] = []
    learn = ClusterRun._add

    def add(run: ClusterRun, batch: Any) -> None:
        learn(run, batch)
        if run.rows >= skipped:
            marks[1:] = [(time.perf_counter(), run.rows)]

    ClusterRun._add = add  # type: ignore[assignment, method-assign]
    try:
        app()
    finally:
        (begun, before), (ended, rows) = marks[0], marks[-1]
        print(SAID, (rows - before) / max(ended - begun, 1e-9), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(int(sys.argv.pop(1)))
