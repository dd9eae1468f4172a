"""Kafka: partition and offset are the place of a message."""

from bisect import bisect_left
from collections.abc import Sequence
from logging import getLogger
from typing import Any

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from spclust.brokers.broker_url import BrokerUrl
from spclust.brokers.message import (
    Messages,
    Outgoing,
    Stopped,
    gone,
    missing,
    not_sent,
    replaced,
    unreachable,
)
from spclust.tables.table_error import TableError, sentence_of

_SECONDS = 10.0  # without an answer
_QUEUE = 16_384  # kilobytes that are read ahead
# Milliseconds without a fetch after the queue was full. The client's default, a second, is longer
# than the queue lasts: of small messages, it would leave three quarters of the time unused.
_PAUSE = 10
_LONGEST = 1_000_000_000  # bytes of a message: it is refused later, and by name
_WAITING = 10_000  # messages to be sent
_POLL = 0.1
_KEY = b"spclust"  # of all messages
_partition: Any = Message.partition  # of messages without an error, which always have both
_offset: Any = Message.offset
_AT_ONCE = 1000  # messages that are read at a time when those of an earlier run are


def _settings(url: BrokerUrl) -> dict[str, Any]:
    told = False

    def tell(error: KafkaError) -> None:
        nonlocal told
        if error.code() == KafkaError._ALL_BROKERS_DOWN and not told:
            getLogger("spclust").warning(
                "lost the connection to %s, and try again: %s.", url.server, error.str()
            )
        told = error.code() == KafkaError._ALL_BROKERS_DOWN

    login: dict[str, Any] = {}
    if url.user is not None:
        login = {"sasl.username": url.user, "sasl.password": url.password or ""}
    return {
        "bootstrap.servers": url.server,
        "error_cb": tell,
        "log_level": 0,  # what matters is told above, or raised
        "reconnect.backoff.max.ms": 5000,
        **login,
        **url.options,
    }


def _partitions(client: Any, url: BrokerUrl) -> list[int]:
    """Numbers of the partitions of a topic; TableError if there is no server, or no topic."""
    try:
        topic = client.list_topics(url.topic, timeout=_SECONDS).topics[url.topic]
    except KafkaException as error:
        raise unreachable(url, error.args[0].str()) from None
    if topic.error is not None or not topic.partitions:
        raise missing(url, "topic", "create it, with kafka-topics.sh --create")
    return sorted(topic.partitions)


def _made(kind: Any, settings: dict[str, Any]) -> Any:
    try:
        return kind(settings)
    except (KafkaException, ValueError, TypeError) as error:
        raise TableError(f"Kafka's client refuses its settings: {sentence_of(error)}") from None


class KafkaSubscription:
    """A topic that is read.

    Messages of one partition are in their order. Those of several come in any order; those of one
    fetch are put in the order of partitions, so that the ends of fetches say the order of all. The
    cursor has an offset for each partition.
    """

    replays = True

    def __init__(self, url: BrokerUrl, since: str, *, until_end: bool, stopped: Stopped) -> None:
        self._url, self._until_end, self._stopped = url, until_end, stopped
        self._consumer = _made(
            Consumer,
            {
                **_settings(url),
                "group.id": "spclust",  # the client needs one; nothing is committed to it
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "queued.max.messages.kbytes": _QUEUE,
                "fetch.queue.backoff.ms": _PAUSE,
                "receive.message.max.bytes": _LONGEST + 1_000_000,
                "fetch.max.bytes": 50_000_000,
            },
        )
        self._held = Messages([], [])  # read, but to be fetched later
        known = _offsets(since)
        self._next, self._end = dict[int, int](), dict[int, int]()
        for partition in _partitions(self._consumer, url):
            low, high = self._range(partition)
            start = known.get(partition, low)
            if start < low:
                raise gone(url, f"{partition}:{start}")
            if start > high:
                raise replaced(url, f"{partition}:{start}")
            self._next[partition], self._end[partition] = start, high
        self.is_ordered = len(self._next) == 1
        self._consumer.assign(
            [TopicPartition(url.topic, number, start) for number, start in self._next.items()]
        )

    def _range(self, partition: int) -> tuple[int, int]:
        """Offsets of the first message and after the last one."""
        place = TopicPartition(self._url.topic, partition)
        try:
            low, high = self._consumer.get_watermark_offsets(place, timeout=_SECONDS)
        except KafkaException as error:
            raise unreachable(self._url, error.args[0].str()) from None
        return low, high

    def fetch(self, most: int, seconds: float) -> Messages | None:
        """Messages as they come."""
        ended = all(self._next[one] >= end for one, end in self._end.items())
        if self._until_end and ended and not self._held.values:
            return None
        if self._held.values:
            found, self._held = self._held, Messages([], [])
            return found
        return self._consumed(most, seconds)

    def _consumed(self, most: int, seconds: float) -> Messages:
        # The client waits until it has as many as are asked for: first for one, then for no more.
        found = self._consumer.consume(1, seconds)
        if found:
            found += self._consumer.consume(most, 0)
        # There are a million messages a second: methods are called by `map`, not one by one.
        failed = []
        if any(map(Message.error, found)):
            failed = [message for message in found if message.error() is not None]
            found = [message for message in found if message.error() is None]
        if not self.is_ordered:
            found.sort(key=_partition)
        places = list(zip(map(_partition, found), map(_offset, found), strict=True))
        self._next.update(_after(places))
        for message in failed:
            self._failed(message)
        # A message without a value is b"", to be refused.
        return Messages([value or b"" for value in map(Message.value, found)], places)

    def fetch_until(self, cursor: str) -> Messages:
        """The messages of a fetch of an earlier run, none if the topic ends before that."""
        wanted = _offsets(cursor)
        if any(self._end.get(number, 0) < offset for number, offset in wanted.items()):
            return Messages([], [])
        values, places = self._held
        while any(self._next[number] < offset for number, offset in wanted.items()):
            more = self._consumed(_AT_ONCE, _POLL)
            values += more.values
            places += more.places
            if self._stopped():
                return Messages([], [])
        # What is held is a fetch, too: it is in the order of partitions when it is fetched again.
        pairs = sorted(zip(places, values, strict=True), key=lambda pair: pair[0])
        inside = [pair for pair in pairs if pair[0][1] < wanted.get(pair[0][0], 0)]
        outside = [pair for pair in pairs if pair[0][1] >= wanted.get(pair[0][0], 0)]
        self._held = _messages(outside)
        return _messages(inside)

    def _failed(self, message: Any) -> None:
        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            # The last offsets may be those of transactions, which are no messages.
            self._next[message.partition()] = message.offset()
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise gone(self._url, f"{message.partition()}:{message.offset()}")
        elif not error.retriable():
            raise TableError(f"{str(self._url)!r} cannot be read: {error.str()}.")

    def cursor(self, before: str, places: Sequence[Any]) -> str:
        """The next offset of each partition of which something was read."""
        after = _offsets(before)
        after.update(_after(places))
        return ",".join(f"{partition}:{offset}" for partition, offset in sorted(after.items()))

    def name(self, place: Any) -> str:
        """Partition and offset."""
        return f"{place[0]}:{place[1]}"

    def close(self) -> None:
        """Leave the server."""
        self._consumer.close()


def _messages(pairs: list[tuple[Any, bytes]]) -> Messages:
    """Messages of places and values."""
    return Messages([value for _, value in pairs], [place for place, _ in pairs])


def _after(places: Sequence[Any]) -> dict[int, int]:
    """The next offset of each partition; places are in the order of partitions and offsets."""
    after, stop = dict[int, int](), len(places)
    while stop:
        partition, offset = places[stop - 1]
        after[partition] = offset + 1
        stop = bisect_left(places, (partition, -1), 0, stop)
    return after


def _offsets(cursor: str) -> dict[int, int]:
    pairs = (each.split(":") for each in cursor.split(",") if each)
    return {int(partition): int(offset) for partition, offset in pairs}


class KafkaSink:
    """A topic that is written to: one partition of it, so that messages stay in their order."""

    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._url, self._stopped = url, stopped
        self._error: Any = None
        settings = {
            "enable.idempotence": True,
            "queue.buffering.max.messages": _WAITING,
            "message.timeout.ms": 0,  # a server may be away for as long as it takes
            "linger.ms": 5,
        }
        self._producer = _made(Producer, {**_settings(url), **settings})
        _partitions(self._producer, url)

    def send(self, messages: list[Outgoing]) -> None:
        """Let messages wait to be sent."""
        for value, headers in messages:
            while not self._is_taken(value, list(headers.items())):
                self._producer.poll(_POLL)
                self._require_sent()
        self._producer.poll(0)
        self._require_sent()

    def _is_taken(self, value: bytes, headers: list[tuple[str, str]]) -> bool:
        """False if so many messages wait that there is no room for another one."""
        try:
            self._producer.produce(
                self._url.topic, value, key=_KEY, headers=headers, on_delivery=self._sent
            )
        except BufferError:
            return False
        except KafkaException as error:
            raise TableError(f"{str(self._url)!r}: {error.args[0].str()}.") from None
        return True

    def _sent(self, error: Any, _: Any) -> None:
        self._error = self._error or error

    def _require_sent(self) -> None:
        if self._error is not None:
            raise TableError(f"{str(self._url)!r} cannot be written: {self._error.str()}.")

    def flush(self) -> None:
        """Wait until the server has all messages, however long it is away."""
        while left := self._producer.flush(_POLL):
            if self._stopped():
                left = self._producer.flush(_SECONDS)
                break
        self._require_sent()
        if left:
            raise not_sent(self._url)

    def close(self) -> None:
        """Leave the server."""
        self._producer.flush(_SECONDS)
