"""The rows of all inputs in batches of the same size, however they are read from disks and pipes.

So that labels, which depend on what was learnt when they were asked for, do not depend on reading.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, Self, TypeVar

import numpy as np
import pyarrow as pa

from spclust.arrays import Floats, Integers
from spclust.cli.exit_codes import CommandError
from spclust.cli.options import Reading
from spclust.tables.chunks import BadRow, Piece, Position, Wanted
from spclust.tables.readers import Source, open_source, refuse_missing

_PATIENCE = 0.2  # seconds between two looks at whether anybody still waits
_PARTING = 0.5  # seconds to wait for the thread that reads, at the end
_AHEAD = 3  # batches read before they are needed
_MOST_NUMBERS = 1_000_000  # in a batch, if its size is not given: memory stays flat in wide tables
_MOST_ROWS = 10_000

Item = TypeVar("Item")


def usual_size(features: int) -> int:
    """Rows of a batch, if nobody says how many."""
    return max(1, min(_MOST_ROWS, _MOST_NUMBERS // features))


class Batch(NamedTuple):
    """Rows that are learnt together."""

    values: Floats  # (n, d)
    row: Integers  # (n,) number of each in the whole input, from 1
    extra: pa.Table
    bad: list[tuple[str, BadRow]]  # rows left out among these, each with the name of its file
    end: Position | None  # None if these are only bad rows, of a batch that is to come
    consumed: int  # bytes of all files read so far


class Tables:
    """The inputs of a command, one after the other."""

    def __init__(
        self, paths: list[str], reading: Reading, *, follow: bool, stopped: Callable[[], bool]
    ) -> None:
        self.paths = paths
        self._reading, self.follows, self.stopped = reading, follow, stopped
        self._opened: dict[int, Source] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Close what is open still."""
        for source in self._opened.values():
            source.close()

    def first(self, since: int = 0) -> tuple[str, Source]:
        """The first file that has columns, and what it is opened as."""
        for number in range(since, len(self.paths)):
            source = self._open(number)
            if source.names:
                return self.paths[number], source
        raise CommandError(f"{self.paths[since]!r} is empty.")

    def _open(self, number: int) -> Source:
        if number not in self._opened:
            self._opened[number] = open_source(
                self.paths[number], self._reading, follow=self.follows, stopped=self.stopped
            )
        return self._opened[number]

    def pieces(self, wanted: Wanted, since: Position) -> Iterator[tuple[Piece, Position] | None]:
        """The rows of all files from a position on, each piece with the position after it."""
        before = since.before
        for number in range(since.file, len(self.paths)):
            source = self._open(number)
            known = since if number == since.file else None
            rows = known.row if known else 0
            if source.names:
                refuse_missing((*wanted.features, *wanted.extra), source, self.paths[number])
            for piece in source.pieces(wanted, known) if source.names else ():
                if piece is None:
                    yield None
                    continue
                rows = piece.end_row
                end = Position(number, before, rows, piece.offset, piece.offset_row, piece.identity)
                if known is not None:
                    piece = piece.since(known.row)
                yield piece, end
            self._opened.pop(number).close()
            before += rows
            if self.stopped():
                return


def in_batches(
    tables: Tables, wanted: Wanted, since: Position, *, size: int, warmup: int = 0
) -> Iterator[Batch]:
    """The rows from a position on, `size` at a time; the first batch has at least `warmup`.

    Where a growing file stands still, what there is makes a smaller batch; and at the end. Bad rows
    do not wait for a batch to be full: there may be no end to them.
    """
    sizes = [os.path.getsize(p) if os.path.isfile(p) else 0 for p in tables.paths]
    waiting: list[tuple[Piece, Position]] = []
    count, due, least = 0, max(size, warmup), max(1, warmup)

    def batch_of(parts: list[tuple[Piece, Position]]) -> Batch:
        last, end = parts[-1]
        return Batch(
            np.concatenate([piece.values for piece, _ in parts]),
            np.concatenate([piece.row + (1 + at.before) for piece, at in parts]),
            pa.concat_tables([piece.extra for piece, _ in parts]),
            [(tables.paths[at.file], bad) for piece, at in parts for bad in piece.bad],
            end,
            sum(sizes[: end.file]) + last.consumed,
        )

    def gathered() -> Batch:
        nonlocal waiting, count, due, least
        parts, waiting, count, due, least = waiting, [], 0, size, 1
        return batch_of(parts)

    for found in tables.pieces(wanted, since):
        if found is None:
            if count >= least:
                yield gathered()
            continue
        piece, end = found
        start = 0
        while count + len(piece.row) - start >= due:
            stop = start + due - count
            part = piece.part(start, stop)
            waiting.append((part, end._replace(row=part.end_row)))
            start = stop
            yield gathered()
        if start < len(piece.row) or (start == 0 and piece.bad):
            rest = piece.part(start, len(piece.row))
            if rest.bad:
                yield batch_of([(rest.without_rows(), end)])._replace(end=None)
            if waiting and not len(waiting[-1][0].row):
                waiting.pop()
            waiting.append((rest._replace(bad=[]), end))
            count += len(rest.row)
    # After an interrupt the rows of an unfinished batch are left for the next run, so that its
    # batches are the same; what follows a growing file has no such batches.
    if waiting and (tables.follows or not tables.stopped()):
        yield gathered()


class Ahead(Generic[Item]):
    """Items of an iterator that a thread of its own gets, a few before they are needed.

    PyArrow and the machine code that learns both let other threads run.
    """

    def __init__(self, items: Iterator[Item], given_up: Callable[[], bool]) -> None:
        self._given_up = given_up  # whether to wait no longer, even if more may come
        self._queue: queue.Queue[Item | BaseException | None] = queue.Queue(_AHEAD)
        self._closed = False
        self._thread = threading.Thread(target=self._run, args=(items,), daemon=True)
        self._thread.start()

    def _run(self, items: Iterator[Item]) -> None:
        try:
            for item in items:
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)

    def _put(self, item: Item | BaseException | None) -> bool:
        while not self._closed:
            try:
                self._queue.put(item, timeout=_PATIENCE)
            except queue.Full:
                continue
            return True
        return False

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        while True:
            try:
                item = self._queue.get(timeout=_PATIENCE)
                break
            except queue.Empty:
                if self._given_up():
                    self._closed = True
                    raise StopIteration from None
        if item is None or isinstance(item, BaseException):
            self._closed = True
            raise StopIteration if item is None else item
        return item

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Get no more items; a thread that waits for a pipe is left behind."""
        self._closed = True
        self._thread.join(_PARTING)
