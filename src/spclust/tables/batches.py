"""Rows of all inputs in batches of a fixed size, independent of how files are read.

Labels depend on the batches. Batches must therefore not depend on chunks, disks and pipes.
"""

import math
import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from spclust.array_types import Booleans, Floats, Integers
from spclust.tables.bad_rows import BadRows, collection_path
from spclust.tables.chunks import BadRow, Chunk, Columns, Position, filtered
from spclust.tables.columns.json_cells import as_text, joined
from spclust.tables.columns.time_order import ordered
from spclust.tables.files.input_files import InputFiles
from spclust.tables.files.output_files import require_writable
from spclust.tables.formats import ReadOptions
from spclust.tables.inputs import expand_inputs
from spclust.tables.readers import choose_columns

_POLL = 0.2  # seconds between two checks whether to go on waiting
_JOIN = 0.5  # seconds to wait at the end for the thread that reads
_AHEAD = 3  # batches read before they are needed
_MOST_NUMBERS = 1_000_000  # in a batch of default size, which limits the memory for wide tables
_MOST_ROWS = 10_000
_FEWEST_ROWS = 100  # of a part, whose clusters have to be read: that takes as long as so many rows

Item = TypeVar("Item")


def default_batch_size(features: int) -> int:
    """Default number of rows in a batch."""
    return max(1, min(_MOST_ROWS, _MOST_NUMBERS // features))


class PartLimit(NamedTuple):
    """How many rows, and what time, a part of a batch has at most."""

    rows: float = math.inf
    time: float = math.inf

    @classmethod
    def of_half_life(cls, half_life: float, *, timed: bool) -> Self:
        """Half of a half-life: when its rows are labelled, all are remembered."""
        return cls(time=half_life / 2.0) if timed else cls(rows=half_life / 2.0)


class Batch(NamedTuple):
    """Rows that are learnt and labelled together."""

    values: Floats  # (n, d)
    row: Integers  # (n,) number of each row in the whole input, from 1
    extra: pa.Table  # columns besides the features, n rows
    bad: list[tuple[str, BadRow]]  # rows left out between these, each with the name of its file
    end: Position | None  # None if these are only bad rows, whose batch is still to come
    consumed: int  # bytes of all files read so far
    time: Floats | None = None  # (n,) of each row; None if no column of times is read
    files: tuple[tuple[str, int], ...] = ()  # those of the rows, and the rows before each

    def bad_only(self) -> "Batch":
        """The bad rows without the good ones, whose batch is still to come."""
        none = self.extra.slice(0, 0)
        time = None if self.time is None else self.time[:0]
        return self._replace(
            values=self.values[:0], row=self.row[:0], extra=none, end=None, time=time
        )

    def parts(self, limit: PartLimit) -> list[slice]:
        """Its rows, whose times do not go backwards, in parts."""
        n, starts = len(self.values), [0]
        if self.time is not None and limit.time < math.inf:
            while n - starts[-1] > _FEWEST_ROWS:
                until = self.time[starts[-1]] + limit.time
                start = int(np.searchsorted(self.time, until, side="right"))
                starts.append(min(max(start, starts[-1] + _FEWEST_ROWS), n))
        elif limit.rows < n:
            count = math.ceil(n / max(limit.rows, _FEWEST_ROWS))
            starts = [n * at // count for at in range(count)]
        ends = [*starts[1:], n]
        return [slice(a, b) for a, b in zip(starts, ends, strict=True) if a < b]

    def part(self, rows: slice) -> "Batch":
        """Some of the rows, without the bad ones."""
        start, stop, _ = rows.indices(len(self.values))
        return self._replace(
            values=self.values[rows],
            row=self.row[rows],
            extra=self.extra.slice(start, stop - start),
            bad=[],
            time=None if self.time is None else self.time[rows],
        )

    def kept(self, rows: Booleans) -> "Batch":
        """Some of the rows, by a mask (n,)."""
        return self._replace(
            values=self.values[rows],
            row=self.row[rows],
            extra=filtered(self.extra, rows),
            time=None if self.time is None else self.time[rows],
        )


class ChunkSource(Protocol):
    """What rows in chunks come from: input files, or something like them."""

    paths: list[str]
    stopped: Callable[[], bool]

    @property
    def follows(self) -> bool:
        """True if rows that fill no batch are passed on also after an interrupt."""
        ...

    def name(self, number: int) -> str:
        """The name of a file, by its number in a position."""
        ...

    def chunks(self, columns: Columns, since: Position) -> Iterator[tuple[Chunk, Position] | None]:
        """Chunks from a position on, each with the position after it; None at a pause."""
        ...

    def position(self, end: Position, part: Chunk) -> Position:
        """The position after a part of a chunk, given that after all of it."""
        ...


def in_batches(
    files: ChunkSource, columns: Columns, since: Position, *, size: int, warmup: int = 0
) -> Iterator[Batch]:
    """Rows from a position on in batches of `size`; the first one has at least `warmup` rows.

    A batch is smaller at the end of the input and where a growing file pauses. Bad rows are passed
    on before their batch is full: an endless stream of them would fill none.
    """
    sizes = [os.path.getsize(p) if os.path.isfile(p) else 0 for p in files.paths]
    waiting: list[tuple[Chunk, Position]] = []
    count, due, least = 0, max(size, warmup), max(1, warmup)

    def batch_of(parts: list[tuple[Chunk, Position]]) -> Batch:
        last, end = parts[-1]
        return Batch(
            np.concatenate([chunk.values for chunk, _ in parts]),
            np.concatenate([chunk.row + (1 + at.before) for chunk, at in parts]),
            joined([chunk.extra for chunk, _ in parts]),
            [(files.name(at.file), bad) for chunk, at in parts for bad in chunk.bad],
            end,
            sum(sizes[: end.file]) + last.consumed,
            None if last.time is None else np.concatenate([chunk.time for chunk, _ in parts]),
            tuple(dict.fromkeys((files.name(at.file), at.before) for _, at in parts)),
        )

    def gathered() -> Batch:
        nonlocal waiting, count, due, least
        parts, waiting, count, due, least = waiting, [], 0, size, 1
        return batch_of(parts)

    for found in files.chunks(columns, since):
        if found is None:
            if count >= least:
                yield gathered()
            continue
        chunk, end = found
        start = 0
        while count + len(chunk.row) - start >= due:
            stop = start + due - count
            part = chunk.part(start, stop)
            waiting.append((part, files.position(end, part)))
            start = stop
            yield gathered()
        if start < len(chunk.row) or (start == 0 and chunk.bad):
            rest = chunk.part(start, len(chunk.row))
            end = files.position(end, rest)
            if rest.bad:
                yield batch_of([(rest.bad_only(), end)])._replace(end=None)
            if waiting and not len(waiting[-1][0].row):
                waiting.pop()
            waiting.append((rest._replace(bad=[]), end))
            count += len(rest.row)
    # After an interrupt the rows of an unfinished batch are left for the next run, so that its
    # batches are those of an uninterrupted run. Batches of a growing file depend on time anyway.
    if waiting and (files.follows or not files.stopped()):
        yield gathered()


def read_batches(
    names: Iterable[str],
    columns: Sequence[str] | None = None,
    *,
    extra: Sequence[str] = (),
    size: int | None = None,
    on_bad_row: str = "stop",
    options: ReadOptions | None = None,
) -> Generator[Batch, None, None]:
    """Rows of files in batches, none of which is empty.

    Parameters
    ----------
    names : iterable of str
        Files, globs, directories of Parquet files, or `-` for standard input.
    columns : sequence of str, optional
        Columns to read as numbers; all columns of numbers but `extra` if not given.
    extra : sequence of str, optional
        Columns to read as text.
    size : int, optional
        Rows in a batch, but the last one may be smaller; 10,000 if not given, fewer if there are
        more than 100 columns.
    on_bad_row : {"stop", "skip", "collect FILE"}, default "stop"
        Raise TableError at the first bad row, leave bad rows out, or leave them out and write them
        to a file as NDJSON.
    options : ReadOptions, optional
        Format, delimiter, encoding and so on.
    """
    paths = expand_inputs(names)
    require_writable({"--on-bad-row collect": collection_path(on_bad_row)}, paths)
    with InputFiles(paths, options or ReadOptions()) as files:
        path, reader = files.first()
        time = None if options is None else options.time
        chosen = choose_columns(reader, path, columns, tuple(extra), time)
        batch_size, last = size or default_batch_size(len(chosen.features)), None
        with closing(BadRows(on_bad_row)) as bad:
            for batch in in_batches(files, chosen, Position(), size=batch_size):
                batch, last = ordered(batch, chosen, last)
                bad.add(batch.bad)
                if len(batch.values):
                    yield batch._replace(extra=as_text(batch.extra))


class ReadAhead(Generic[Item]):
    """An iterator whose next few items are made by a thread of its own.

    PyArrow and the compiled kernels both release the GIL.
    """

    def __init__(self, items: Iterator[Item], given_up: Callable[[], bool] = lambda: False) -> None:
        self._given_up = given_up  # True: do not wait for more items
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
                self._queue.put(item, timeout=_POLL)
            except queue.Full:
                continue
            return True
        return False

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        while True:
            try:
                item = self._queue.get(timeout=_POLL)
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
        """Stop the thread; one that waits for a pipe is left to itself."""
        self._closed = True
        self._thread.join(_JOIN)
