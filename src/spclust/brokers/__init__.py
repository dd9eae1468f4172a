"""Topics of brokers, read and written: Kafka, Redis Streams, NATS JetStream and MQTT.

Addresses are those of the command, `kafka://host:port/topic`, `redis://host:port/stream`,
`nats://host:port/stream` and `mqtt://host:port/topic`. Each needs the extra of its name, and
PyArrow, which is in the extra `cli`.

`batches`
    Iterator of batches of rows from a topic, from a position on.

Modules: `broker_url` reads addresses; `kafka_broker`, `redis_broker`, `nats_broker` and
`mqtt_broker` fetch and send messages; `message_rows` turns values of messages into rows, and
`message_stream` the messages of a topic into chunks of rows with their positions; `sinks` writes
labels and events.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spclust.tables.batches import Batch
    from spclust.tables.chunks import Position
    from spclust.tables.formats import ReadOptions

__all__ = ["batches"]


def batches(
    url: str,
    columns: Sequence[str] | None = None,
    *,
    since: "Position | None" = None,
    until_end: bool = False,
    extra: Sequence[str] = (),
    size: int | None = None,
    on_bad_row: str = "stop",
    options: "ReadOptions | None" = None,
    dated: bool = False,
) -> "Generator[Batch, None, None]":
    """Rows of a topic in batches, none of which is empty.

    Parameters
    ----------
    url : str
        Address of the topic.
    columns : sequence of str, optional
        Columns to read as numbers; all columns of numbers but `extra`, judged by the first
        messages, if not given. They are needed with `since`.
    since : Position, optional
        Where to go on: `end` of the last batch that was learnt. From the first message there is if
        not given.
    until_end : bool, default False
        End with the last message that is there at the beginning, instead of waiting for more.
    extra : sequence of str, optional
        Columns to read as text; `_message` is the place of the message of each row.
    size : int, optional
        Rows in a batch, but the last one may be smaller, and those before a pause; 10,000 if not
        given, fewer if there are more than 100 columns.
    on_bad_row : {"stop", "skip", "collect FILE"}, default "stop"
        Raise TableError at the first bad row, leave bad rows out, or leave them out and write them
        to a file as NDJSON.
    options : ReadOptions, optional
        Format of the messages, by their first bytes if not given, delimiter, column of times and
        so on.
    dated : bool, default False
        With `since` and a column of times: True if these are dates, False if they are numbers.
    """
    from spclust.brokers.broker_url import parsed_url
    from spclust.brokers.message_stream import MessageStream
    from spclust.tables.bad_rows import BadRows
    from spclust.tables.batches import default_batch_size, in_batches
    from spclust.tables.chunks import Columns, Position
    from spclust.tables.columns.time_order import ordered
    from spclust.tables.formats import ReadOptions
    from spclust.tables.readers import choose_columns

    if since is not None and columns is None:
        raise ValueError("Name the columns to go on with: batches(url, columns, since=...).")
    options = options or ReadOptions()
    stream = MessageStream(parsed_url(url), options, until_end=until_end, stopped=lambda: False)
    last: float | None = None
    with stream, closing(BadRows(on_bad_row)) as bad:
        if since is None:
            name, reader = stream.first()
            chosen = choose_columns(reader, name, columns, tuple(extra), options.time)
        else:
            chosen = Columns(tuple(columns or ()), tuple(extra), options.time, dated=dated)
        rows = size or default_batch_size(len(chosen.features))
        for batch in in_batches(stream, chosen, since or Position(), size=rows):
            batch, last = ordered(batch, chosen, last)
            bad.add(batch.bad)
            if len(batch.values) and batch.end is not None:
                yield batch
