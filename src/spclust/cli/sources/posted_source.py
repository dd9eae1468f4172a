"""What is posted to a service as a source of rows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Self

import numpy as np
import pyarrow as pa

from spclust.cli.sources.source import ChosenColumns
from spclust.live.posts.bodies import NAME
from spclust.live.posts.intake import Accepted, Intake
from spclust.tables.batches import Batch
from spclust.tables.chunks import Columns, Position, without_columns
from spclust.tables.columns.json_cells import joined
from spclust.tables.readers import extra_columns, split_names
from spclust.tables.table_error import TableError, shortened

_POLL = 0.2  # seconds between two checks whether to go on waiting


class PostedSource:
    """Posted batches, first those of the journal that a model has not learnt."""

    def __init__(
        self, intake: Intake, stopped: Callable[[], bool], time: str | None = None
    ) -> None:
        self.names, self.follows, self.in_memory = [NAME], True, True
        self._time = time
        self._intake, self._stopped = intake, stopped

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._intake.journal is not None:
            self._intake.journal.close()

    def choose(
        self, given: Sequence[str] | None, label: str | None, keep: Sequence[str] | None
    ) -> ChosenColumns:
        """Columns of the first batch, which are chosen when it is posted."""
        recovered = self._intake.columns
        columns = self._intake.wait_for_columns(self._stopped, _POLL) or Columns(())
        if recovered is None:
            return ChosenColumns(columns, self._intake.keep)
        # A run was killed before it wrote its first checkpoint, which knows the options.
        kept = split_names(keep, columns.extra)
        features = split_names(given, columns.features) if given else columns.features
        if columns[:2] != (features, extra_columns(label, kept)) or columns.time != self._time:
            names = shortened([*columns.features, *columns.extra])
            raise TableError(
                f"What was posted before has the columns {names}: use the same --columns, --keep, "
                "--label and --time, or remove the folder of the checkpoint to start anew."
            )
        return ChosenColumns(columns, kept)

    def resume(self, ends: list[Position]) -> None:
        """Nothing: the journal has what follows."""

    def ends_before(self, position: Position) -> list[Position]:
        """None are needed: segments before a position may be gone."""
        return []

    def size(self) -> int | None:
        """It is not known."""
        return None

    def batches(
        self, columns: Columns, since: Position, *, size: int, warmup: int
    ) -> Iterator[Batch]:
        """Rows from a position on, several posted batches together if they wait."""
        waiting: list[Accepted] = []
        least = warmup
        for each in self._accepted(since, size):
            waiting += each
            rows = sum(len(accepted.posted.values) for accepted in waiting)
            if rows >= max(least, 1):
                yield _batch(waiting, columns)
                waiting, least = [], 0
            elif any(accepted.bad for accepted in each):
                # They are passed on: an endless stream of them would never fill a batch.
                yield _batch(each, columns).bad_only()
                waiting = [accepted._replace(bad=[]) for accepted in waiting]
            waiting = [*(a for a in waiting[:-1] if len(a.posted.values)), *waiting[-1:]]
        if waiting:
            yield _batch(waiting, columns)

    def _accepted(self, since: Position, size: int) -> Iterator[list[Accepted]]:
        journal = self._intake.journal
        if journal is not None:
            for posted, end in journal.recovered(since):
                yield [Accepted(posted, end, [])]
        while (taken := self._intake.take(size, _POLL)) is not None:
            if taken:
                yield taken


def _batch(accepted: list[Accepted], columns: Columns) -> Batch:
    parts, end, time = [each.posted.values for each in accepted], accepted[-1].end, None
    values = np.concatenate(parts) if len(parts) > 1 else parts[0]
    if columns.time is not None:
        values, time = np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()
    after = end.before + end.row + 1
    return Batch(
        values,
        np.arange(after - len(values), after),
        _extra(accepted, columns),
        [(NAME, bad) for each in accepted for bad in each.bad],
        end,
        0,
        time,
        ((NAME, 0),),
    )


def _extra(accepted: list[Accepted], columns: Columns) -> pa.Table:
    if not columns.extra:
        return without_columns(sum(len(each.posted.values) for each in accepted))
    return joined([pa.ipc.open_stream(e.posted.extra).read_all() for e in accepted])
