"""The way of posted batches to the learner: first to the journal, then into a queue.

The event loop of the server puts batches in, a thread writes those that wait to the disk at once,
and the learner takes them out, in the same order.
"""

import asyncio
import logging
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from spclust.live.posts.bodies import BodyError
from spclust.live.posts.journal import MOST_KEYS, Journal, Posted
from spclust.tables.chunks import BadRow, Columns, Position
from spclust.tables.table_error import sentence_of

MOST_ROWS = 2_000_000  # that may wait to be learnt,
MOST_BYTES = 256_000_000  # and their size
_BAD_ROW = 1000  # bytes, about
_AT_ONCE = 256  # batches that are written to the disk together

logger = logging.getLogger("spclust.live")


class Receipt(NamedTuple):
    """The answer to a batch that was accepted."""

    rows: int
    repeated: bool  # True if a batch with this key was accepted before


class Accepted(NamedTuple):
    """A batch that waits for the learner."""

    posted: Posted
    end: Position
    bad: list[BadRow]


class Intake:
    """Batches that were posted, and not learnt yet."""

    def __init__(self, journal: Journal | None, *, stops: bool = True) -> None:
        """Begin; a batch whose time is before that of an accepted one is refused if it `stops`."""
        self.journal = journal
        self.columns: Columns | None = None if journal is None else journal.columns
        self.keep: tuple[str, ...] = ()
        self.waiting_rows, self._waiting_bytes = 0, 0  # accepted, and not taken
        self._entering_rows, self._entering_bytes = 0, 0  # not accepted yet
        self._keys: dict[str, int] = {}  # without a journal
        self._stops = stops
        self._latest = -math.inf  # time of the batches that were let in,
        self._accepted = -math.inf  # and accepted
        self._rows = 0
        self._in_flight: dict[str, asyncio.Future[int]] = {}
        self._ready: deque[Accepted] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._pending: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="spclust journal", daemon=True)
        if journal is not None:
            self._writer.start()

    # The event loop calls these.

    def begin(self, columns: Columns, keep: tuple[str, ...]) -> Columns:
        """Use these columns from now on, unless there are some already; return those in use.

        Any thread may call this: of two batches that are read at once, one is the first.
        """
        with self._changed:
            if self.columns is None:
                if self.journal is not None:
                    self.journal.begin(columns)
                self.columns, self.keep = columns, keep
                self._changed.notify_all()
            return self.columns

    async def put(self, posted: Posted, bad: list[BadRow]) -> Receipt:
        """Accept a batch: when this returns, it is on the disk, if there is a journal."""
        rows, size = len(posted.values), _size(posted, bad)
        self._require_room(rows, size)
        known = self._rows_of(posted.key)
        if known is not None:
            return Receipt(known, repeated=True)
        if posted.key in self._in_flight:
            return Receipt(await asyncio.shield(self._in_flight[posted.key]), repeated=True)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._changed:  # nothing enters after the end
            self._require_open()
            self._require_order(posted)
            if self.journal is None:
                self._accept([self._in_memory(posted, bad)])
                return Receipt(rows, repeated=False)
            self._pending.put(_Pending(posted, bad, future))
        if posted.key:
            self._in_flight[posted.key] = future
            future.add_done_callback(lambda _: self._in_flight.pop(posted.key, None))
        self._entering_rows += rows
        self._entering_bytes += size
        try:
            return Receipt(await asyncio.shield(future), repeated=False)
        finally:
            self._entering_rows -= rows
            self._entering_bytes -= size

    def _require_open(self) -> None:
        if self._closed:
            raise BodyError(503, "This service is stopping: post the batch again later.")

    def _require_order(self, posted: Posted) -> None:
        """Raise BodyError if a batch begins before the last one ended, in time."""
        if self.columns is None or self.columns.time is None or not len(posted.values):
            return
        first = float(posted.values[0, -1])
        if first < self._latest and self._stops:
            raise BodyError(
                422,
                f"The batch begins at the time {first:.17g}, before that of a batch that was "
                f"accepted, {self._latest:.17g}: post rows in order of time.",
            )
        self._latest = max(self._latest, float(posted.values[:, -1].max()))

    def _require_room(self, rows: int, size: int) -> None:
        self._require_open()
        waiting = self.waiting_rows + self._entering_rows
        waiting_bytes = self._waiting_bytes + self._entering_bytes
        if waiting + rows > MOST_ROWS or waiting_bytes + size > MOST_BYTES:
            if not waiting_bytes:
                return  # or it could never be accepted
            raise BodyError(
                503, f"{waiting:,} rows wait to be learnt, which is enough: try again in a second."
            )

    def _rows_of(self, key: str) -> int | None:
        return self._keys.get(key) if self.journal is None else self.journal.rows_of(key)

    def _in_memory(self, posted: Posted, bad: list[BadRow]) -> Accepted:
        self._rows += len(posted.values)
        if posted.key:
            self._keys[posted.key] = len(posted.values)
            if len(self._keys) > MOST_KEYS:
                del self._keys[next(iter(self._keys))]
        return Accepted(posted, Position(row=self._rows, offset_row=self._rows), bad)

    def close(self) -> None:
        """Accept no more; what was accepted is still learnt."""
        with self._changed:
            self._closed = True
            self._pending.put(None)
            self._changed.notify_all()

    # The thread of the journal.

    def _write(self) -> None:
        assert self.journal is not None
        while (first := self._pending.get()) is not None:
            batch: list[_Pending] = [first]
            ended = False
            while len(batch) < _AT_ONCE and not self._pending.empty():
                more = self._pending.get()
                if more is None:
                    ended = True
                    break
                batch.append(more)
            try:
                ends = self.journal.append([each.posted for each in batch])
            except Exception as error:  # this thread must not end, or nobody would get an answer
                logger.warning("the journal cannot be written: %s", sentence_of(error))
                sentence = f"The journal cannot be written: {sentence_of(error)}"
                self._latest = self._accepted  # they may be posted again
                _settle(batch, BodyError(507, sentence))
            else:
                accepted = [
                    Accepted(each.posted, end, each.bad)
                    for each, end in zip(batch, ends, strict=True)
                ]
                self._accept(accepted)
                _settle(batch, None)
            if ended:
                break

    def _accept(self, batches: list[Accepted]) -> None:
        with self._changed:
            if self.columns is not None and self.columns.time is not None:
                times = (each.posted.values[:, -1].max(initial=-math.inf) for each in batches)
                self._accepted = max(self._accepted, *map(float, times))
            self._ready.extend(batches)
            self.waiting_rows += sum(len(each.posted.values) for each in batches)
            self._waiting_bytes += sum(_size(each.posted, each.bad) for each in batches)
            self._changed.notify_all()

    # The learner calls these.

    def wait_for_columns(self, stopped: Callable[[], bool], seconds: float) -> Columns | None:
        """The columns, when they are known; None if the service is stopped before."""
        while self.columns is None and not stopped() and not self._closed:
            with self._changed:
                self._changed.wait(seconds)
        return self.columns

    def take(self, most: int, seconds: float) -> list[Accepted] | None:
        """Batches of up to `most` rows, at least one; none after some time; None at the end."""
        with self._changed:
            if not self._ready and not self._closed:
                self._changed.wait(seconds)
            if not self._ready:
                ended = self._closed and not self._writer.is_alive()
                return None if ended else []
            taken, rows = [self._ready.popleft()], 0
            rows = len(taken[0].posted.values)
            while self._ready and rows + len(self._ready[0].posted.values) <= most:
                taken.append(self._ready.popleft())
                rows += len(taken[-1].posted.values)
            self.waiting_rows -= rows
            self._waiting_bytes -= sum(_size(each.posted, each.bad) for each in taken)
            return taken


def _size(posted: Posted, bad: list[BadRow]) -> int:
    """Bytes of memory that a batch needs, about."""
    return posted.values.nbytes + len(posted.extra) + _BAD_ROW * len(bad)


class _Pending(NamedTuple):
    """A batch on its way to the disk."""

    posted: Posted
    bad: list[BadRow]
    future: "asyncio.Future[int]"


def _settle(batch: list[_Pending], failure: Exception | None) -> None:
    """Tell those who posted batches of one event loop whether they are on the disk."""

    def tell() -> None:
        for each in batch:
            if each.future.done():
                continue
            if failure is None:
                each.future.set_result(len(each.posted.values))
            else:
                each.future.set_exception(failure)

    try:
        batch[0].future.get_loop().call_soon_threadsafe(tell)
    except RuntimeError:  # the event loop has ended; nobody waits for an answer any more
        time.sleep(0.0)
