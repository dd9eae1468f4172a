"""A topic of a broker as a source of rows; sources and outputs by their names."""

import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from spclust.cli.sources.file_source import FileSource
from spclust.cli.sources.source import Source
from spclust.tables.batches import Batch
from spclust.tables.chunks import Columns, Position
from spclust.tables.files import followed_files
from spclust.tables.formats import Format, ReadOptions
from spclust.tables.inputs import is_topic
from spclust.tables.table_error import TableOptionError
from spclust.tables.writers import RecordWriter, TableWriter, Written, open_writer

Stopped = Callable[[], bool]


class BrokerSource(FileSource):
    """A topic: what is true of one file that grows, but for its end and its positions."""

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        *,
        until_end: bool,
        stopped: Stopped,
        checkpoint: Path | None,
    ) -> None:
        from spclust.brokers.order_log import OrderLog

        super().__init__([name], options, follow=False, stopped=stopped, digests=False)
        self.names, self.follows = shown_names([name]), not until_end
        self._log = None if checkpoint is None else OrderLog(f"{checkpoint}.order", self.names[0])
        self._files: Any = topic_stream(
            name, options, until_end=until_end, stopped=stopped, log=self._log
        )

    def resume(self, ends: list[Position]) -> None:
        """Nothing: the position says where to go on."""

    def ends_before(self, position: Position) -> list[Position]:
        """There are none; a checkpoint is about to be written, and needs no older notes."""
        if self._log is not None:
            self._log.renew(position)
        return []

    def size(self) -> int | None:
        """It is not known."""
        return None

    def batches(
        self, columns: Columns, since: Position, *, size: int, warmup: int
    ) -> Iterator[Batch]:
        """Rows from a position on in batches of `size`."""
        # Messages are many small objects: all that was imported need not be searched for garbage
        # each time that so many of them were made. That doubles the rate of messages of one row.
        gc.freeze()
        return super().batches(columns, since, size=size, warmup=warmup)


def topic_stream(
    name: str, options: ReadOptions, *, until_end: bool, stopped: Stopped, log: Any = None
) -> Any:
    """The rows of a topic, with the interface of input files."""
    from spclust.brokers.broker_url import parsed_url
    from spclust.brokers.message_stream import MessageStream

    return MessageStream(parsed_url(name), options, until_end=until_end, stopped=stopped, log=log)


def shown_names(names: list[str]) -> list[str]:
    """Names of inputs without passwords, as checkpoints and messages have them."""
    from spclust.brokers.broker_url import parsed_url

    return [str(parsed_url(name)) if is_topic(name) else name for name in names]


def input_files(
    names: list[str],
    options: ReadOptions,
    *,
    follow: bool = False,
    until_end: bool,
    stopped: Stopped = lambda: False,
) -> Any:
    """Input files, or the topic that is named instead of them."""
    if is_topic(names[0]):
        return topic_stream(names[0], options, until_end=until_end, stopped=stopped)
    _require_topic(until_end)
    return followed_files.input_files(names, options, follow=follow, stopped=stopped)


def named_source(
    names: list[str],
    options: ReadOptions,
    *,
    follow: bool,
    until_end: bool,
    stopped: Stopped,
    checkpoint: Path | None,
) -> Source:
    """The source of files, or of the topic that is named instead of them."""
    if is_topic(names[0]):
        return BrokerSource(
            names[0], options, until_end=until_end, stopped=stopped, checkpoint=checkpoint
        )
    _require_topic(until_end)
    digests = checkpoint is not None
    return FileSource(names, options, follow=follow, stopped=stopped, digests=digests)


def _require_topic(until_end: bool) -> None:
    if until_end:
        raise TableOptionError("--until-end is for topics of brokers: files are read to their end.")


class EventWriter(Protocol):
    """What events are written to."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Append an event."""
        ...

    def sync(self) -> Written:
        """Let nothing of it be lost; what was written so far."""
        ...

    def close(self) -> None:
        """Finish."""
        ...


def label_writer(
    name: str, kind: Format | None, keep: Written | None, stopped: Stopped, *, digests: bool
) -> TableWriter:
    """The file, or the topic, that labels are written to."""
    if not is_topic(name):
        return open_writer(name, kind, keep, digests=digests)
    from spclust.brokers.broker_url import parsed_url
    from spclust.brokers.sinks import TableSink

    return TableSink(parsed_url(name), kind, stopped)


def event_writer(
    name: str, keep: Written | None, stopped: Stopped, *, count: int, digests: bool
) -> EventWriter:
    """The file, or the topic, that events are written to, after `count` of them."""
    if not is_topic(name):
        return RecordWriter(name, keep, digests=digests)
    from spclust.brokers.broker_url import parsed_url
    from spclust.brokers.sinks import RecordSink

    return RecordSink(parsed_url(name), count, stopped)
