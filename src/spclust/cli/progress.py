"""The progress bar, on standard error and only if that is a terminal."""

import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_EVERY = 0.2  # seconds between two updates


class ProgressBar:
    """Rows, rows per second, structures, clusters, and the time left if the size is known."""

    def __init__(self, total_bytes: int | None, *, quiet: bool, task: str = "reading") -> None:
        """Prepare a bar; `task` is what happens before the first rows are learnt."""
        console = Console(stderr=True)
        self._shown = console.is_terminal and not quiet
        columns = [SpinnerColumn(), TextColumn("{task.description}")]
        if total_bytes is not None:
            columns += [BarColumn(None), TextColumn("{task.percentage:>3.0f} %")]
            columns += [TimeRemainingColumn()]
        self._progress = Progress(*columns, console=console, disable=not self._shown, expand=True)
        self._task: TaskID = self._progress.add_task(task, total=total_bytes)
        self._started = self._drawn = time.perf_counter()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def update(self, model: "SPC", rows: int, consumed: int) -> None:
        """Show the progress: rows of this run, and bytes of all inputs."""
        now = time.perf_counter()
        if not self._shown or now - self._drawn < _EVERY:
            return
        self._drawn = now
        rate = rows / (now - self._started)
        text = f"{rows:,} rows, {rate:,.0f}/s, {len(model.clustering())} structures, "
        self._progress.update(
            self._task, description=f"{text}{model.n_clusters_} clusters", completed=consumed
        )

    def __exit__(self, failure: object, *_: object) -> None:
        self._progress.stop()
