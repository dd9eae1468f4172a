"""Messages of a topic as a stream of rows, with the interface of input files."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from spclust.array_types import Integers
from spclust.brokers.broker_url import BrokerUrl
from spclust.brokers.message import Messages, Stopped, Subscription, needed_package
from spclust.brokers.message_rows import Run, runs, sample
from spclust.brokers.order_log import Noted, OrderLog
from spclust.tables.chunks import BadRow, Chunk, Columns, Position
from spclust.tables.formats import Format, ReadOptions
from spclust.tables.readers import Reader
from spclust.tables.table_error import TableError, TableOptionError

PLACE = "_message"  # column with the place of the message of each row
_QUIET = 0.3  # seconds without a message after which the rows so far are passed on
_SAMPLE = 1000  # messages by which columns are chosen
_TRIED = 10_000  # messages without columns after which none are expected
_BYTES = 1_000_000  # of messages that are fetched at a time, about
_MOST, _FIRST = 2000, 100  # messages at a time, and the first time


def subscribed(url: BrokerUrl, since: str, *, until_end: bool, stopped: Stopped) -> Subscription:
    """The subscription to a topic after a cursor; TableError if its client is not installed."""
    with needed_package(url.scheme):
        module = import_module(f"spclust.brokers.{url.scheme}_broker")
    kind = getattr(module, f"{url.scheme.capitalize()}Subscription")
    made: Subscription = kind(url, since, until_end=until_end, stopped=stopped)
    return made


class _Sample:
    """A reader of the first messages, which have one column more."""

    def __init__(self, reader: Reader) -> None:
        self.names = [*reader.names, PLACE]
        self.numeric_columns = reader.numeric_columns
        self.chunks, self.close = reader.chunks, reader.close


class _Place(NamedTuple):
    """Consecutive messages, and where they are."""

    before: str  # cursor
    first: int  # number of their first row in the stream
    places: list[Any]
    ends: Integers  # rows up to the end of each message


class MessageStream:
    """The messages of a topic, as rows."""

    def __init__(
        self,
        url: BrokerUrl,
        options: ReadOptions,
        *,
        until_end: bool,
        stopped: Stopped,
        log: OrderLog | None = None,
    ) -> None:
        """Prepare to read a topic; what cannot be seen again is noted in a log, if there is one."""
        if options.encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
            raise TableOptionError("Messages of a broker are UTF-8: leave out --encoding.")
        if options.format is Format.PARQUET:
            raise TableOptionError("Messages of a broker are JSON, CSV or Arrow, not Parquet.")
        self.paths, self.stopped = [str(url)], stopped
        self._url, self._options, self._until_end = url, options, until_end
        self._subscription: Subscription | None = None
        self._fetched: list[Messages] = []  # before columns were chosen
        self._most = _FIRST
        self._place: _Place | None = None
        self._log, self._pauses = log, list[int]()
        self._cursor, self._row = "", 0  # of what was passed on

    @property
    def follows(self) -> bool:
        """True if rows that were read, but fill no batch, would be lost at the end."""
        return self._subscription is not None and not self._subscription.replays

    def name(self, number: int) -> str:
        """The name of the topic."""
        return self.paths[number]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Leave the server."""
        if self._subscription is not None:
            self._subscription.close()
        if self._log is not None:
            self._log.close()

    def _subscribe(self, since: str) -> Subscription:
        self._subscription = subscribed(
            self._url, since, until_end=self._until_end, stopped=self.stopped
        )
        return self._subscription

    def first(self) -> tuple[str, Reader]:
        """The name of the topic, and a reader of the first messages that have columns."""
        subscription, count = self._subscribe(""), 0
        while not self.stopped() and count < _TRIED:
            found = subscription.fetch(_SAMPLE, _QUIET)
            if found is not None and found.values:
                self._fetched.append(found)
                count += len(found.values)
            if count >= _SAMPLE or found is None or (count and not found.values):
                values = [value for messages in self._fetched for value in messages.values]
                reader = sample(values, self._options)
                if reader is not None:
                    if not subscription.is_ordered and self._log is not None:
                        # They have to be read in the noted order.
                        subscription.close()
                        self._subscription, self._fetched = None, []
                    return self.paths[0], _Sample(reader)
            if found is None:
                break
        what = f"no columns in its first {count:,} messages" if count else "no messages"
        raise TableError(f"{self.paths[0]!r} has {what}: send JSON objects, CSV or Arrow.")

    def _messages(self, since: Position) -> Iterator[Messages]:
        """Messages from a position on, in the order in which they were read before, if they were.

        First those that were fetched already. There are none in a pause.
        """
        cursor = since.message.partition(" ")[0]
        subscription = self._subscription
        if subscription is None:
            subscription = self._subscribe(cursor)
        notes = [] if self._log is None else self._log.open(since)
        self._pauses = [note.row for note in notes if not note.cursor]
        for note in notes if not subscription.is_ordered else ():
            if note.cursor and not self.stopped():
                yield subscription.fetch_until(note.cursor)
        while not self.stopped():
            found = self._fetched.pop(0) if self._fetched else None
            found = found or subscription.fetch(self._most, _QUIET)
            if found is None:
                return
            if found.values:
                size = sum(map(len, found.values)) // len(found.values)
                self._most = max(1, min(_MOST, _BYTES // max(size, 1)))
                if self._log is not None and not subscription.is_ordered:
                    self._log.add(Noted(self._row, subscription.cursor(self._cursor, found.places)))
            yield found

    def chunks(self, columns: Columns, since: Position) -> Iterator[tuple[Chunk, Position] | None]:
        """Chunks of rows from a position on; None when no messages come, or came then."""
        self._cursor, _, part = since.message.partition(" ")
        name, _, read = part.rpartition("+")
        self._row, paused = since.row, since.row
        for messages in self._messages(since):
            if not messages.values:
                if not self._until_end and not self._pauses and self._row > paused:
                    paused = self._row
                    self._note_pause()
                    yield None
                continue
            while messages.values:
                messages, rest = self._divided(messages, name)
                skipped = 0
                if name and self._named(messages.places[0]) == name:
                    skipped, name = int(read), ""
                for chunk in self._rows(messages, columns, self._row - skipped):
                    for found in self._cut(chunk):
                        yield found
                        paused = self._row if found is None else paused
                messages = rest
        if self._row > paused and not self.stopped():
            self._note_pause()  # what comes later belongs to another batch

    def _cut(self, chunk: Chunk) -> Iterator[tuple[Chunk, Position] | None]:
        """The rows of a chunk that were not read yet, cut where a pause was noted."""
        while chunk.end_row > self._row:
            stop = min([chunk.end_row, *(row for row in self._pauses if row > self._row)])
            part = chunk if stop == chunk.end_row else chunk.until(stop)._replace(end_row=stop)
            if chunk.end_row - self._row < len(chunk.row) + len(chunk.bad):
                part = part.since(self._row)
            self._row = stop
            yield part, Position(row=stop)
            if self._pauses and self._pauses[0] <= stop:
                self._pauses = [row for row in self._pauses if row > stop]
                yield None

    def _note_pause(self) -> None:
        if self._log is not None:
            self._log.add(Noted(self._row))

    def _named(self, place: Any) -> str:
        assert self._subscription is not None
        return self._subscription.name(place)

    def _divided(self, messages: Messages, name: str) -> tuple[Messages, Messages]:
        """Messages up to that of a name, or that one by itself, and those that follow."""
        stop = len(messages.values)
        if name:
            names = [self._named(place) for place in messages.places]
            if name in names:
                stop = names.index(name) or 1
        values, places = messages
        return Messages(values[:stop], places[:stop]), Messages(values[stop:], places[stop:])

    def _rows(self, messages: Messages, columns: Columns, first: int) -> Iterator[Chunk]:
        """Chunks of messages after the cursor; `first` is the number of their first row."""
        wanted = columns._replace(extra=tuple(n for n in columns.extra if n != PLACE))
        start = 0
        for run in runs(messages.values, wanted, self._options):
            places = messages.places[start : start + len(run.counts)]
            self._place = _Place(self._cursor, first, places, np.cumsum(run.counts))
            for chunk in run.chunks:
                yield self._placed(chunk, run, columns)
            start += len(run.counts)
            first += sum(run.counts)
            assert self._subscription is not None
            self._cursor = self._subscription.cursor(self._cursor, places)

    def _placed(self, chunk: Chunk, run: Run, columns: Columns) -> Chunk:
        """A chunk with the numbers of its rows in the stream, and the places of its messages."""
        at = self._place
        assert at is not None
        extra = chunk.extra
        if PLACE in columns.extra:
            extra = extra.append_column(PLACE, self._names(chunk, run)).select(list(columns.extra))
        bad = [self._bad(each, at) for each in chunk.bad]
        return chunk._replace(
            row=chunk.row + at.first, extra=extra, bad=bad, end_row=chunk.end_row + at.first
        )

    def _bad(self, bad: BadRow, at: _Place) -> BadRow:
        name = self._named(at.places[int(np.searchsorted(at.ends, bad.row, "right"))])
        return BadRow(
            bad.row + at.first, f"{bad.why}, in message {name}", {"message": name, **bad.record}
        )

    def _names(self, chunk: Chunk, run: Run) -> pa.Array:
        """The place of each row: that of its message, and its number there if it has several."""
        at = self._place
        assert at is not None
        names = [self._named(place) for place in at.places]
        numbers = np.searchsorted(at.ends, chunk.row, "right")
        inside = chunk.row - (at.ends - np.array(run.counts))[numbers]
        return pa.array(
            names[number] if run.counts[number] == 1 else f"{names[number]}+{row}"
            for number, row in zip(numbers.tolist(), inside.tolist(), strict=True)
        ).cast(pa.string())

    def position(self, end: Position, part: Chunk) -> Position:
        """The position after a part of the last chunk."""
        at = self._place
        assert at is not None
        assert self._subscription is not None
        rows = part.end_row - at.first
        whole = int(np.searchsorted(at.ends, rows, "right"))
        message = self._subscription.cursor(at.before, at.places[:whole])
        rest = rows - (int(at.ends[whole - 1]) if whole else 0)
        if rest:
            message += f" {self._named(at.places[whole])}+{rest}"
        return end._replace(row=part.end_row, message=message)
