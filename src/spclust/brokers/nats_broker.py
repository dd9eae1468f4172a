"""NATS JetStream: the sequence number in its stream is the place of a message."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import nats
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, NotFoundError

from spclust.brokers.broker_url import BrokerUrl
from spclust.brokers.message import (
    Messages,
    OrderedTopic,
    Outgoing,
    Patience,
    Stopped,
    gone,
    missing,
    not_sent,
    replaced,
    unreachable,
)
from spclust.tables.table_error import TableError, sentence_of

_SECONDS = 10.0  # without an answer
_UNUSED = 60.0  # seconds after which a server forgets a consumer

_Lost = (NatsError, APIError, OSError, asyncio.TimeoutError)
Answer = TypeVar("Answer")


class _Connection:
    """A connection in an event loop with a thread of its own: the server is always answered."""

    def __init__(self, url: BrokerUrl) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self.client: Any = self.wait(self._connect(url))
        except _Lost as error:
            self._end()
            raise unreachable(url, error) from None
        self.jetstream = self.client.jetstream(timeout=_SECONDS)

    async def _connect(self, url: BrokerUrl) -> Any:
        return await nats.connect(
            f"nats://{url.server}",
            user=url.user,
            password=url.password,
            error_cb=_nothing,  # errors are raised where something is asked for
            allow_reconnect=False,  # a consumer has to be made anew, too
            max_reconnect_attempts=1,
            reconnect_time_wait=0.1,
            connect_timeout=int(_SECONDS),
        )

    def wait(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """The answer to a call."""
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    @property
    def is_lost(self) -> bool:
        """True if it was closed by the server."""
        return not self.client.is_connected

    def close(self) -> None:
        """Leave the server."""
        with suppress(*_Lost):
            self.wait(asyncio.wait_for(self.client.close(), 1.0))
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _nothing(*_: Any) -> None:
    pass


def _state(connection: _Connection, url: BrokerUrl) -> Any:
    """What a server knows of a stream; TableError if there is none."""
    try:
        return connection.wait(connection.jetstream.stream_info(url.topic))
    except NotFoundError:
        raise missing(url, "stream", "create it, with nats stream add") from None


def _refusal(url: BrokerUrl, error: Exception) -> TableError:
    """What is told of an error when a stream is opened: the server says no, or nothing."""
    if isinstance(error, TableError):
        return error
    if isinstance(error, APIError):
        return TableError(f"{str(url)!r} cannot be used: {sentence_of(error)}")
    return unreachable(url, error)


class NatsSubscription(OrderedTopic):
    """A stream that is read, by a consumer that is made anew after each loss of a connection."""

    replays = True

    def __init__(self, url: BrokerUrl, since: str, *, until_end: bool, stopped: Stopped) -> None:
        self._url, self._until_end = url, until_end
        self._patience = Patience(url, stopped)
        self._last = int(since or 0)
        self._connection: _Connection | None = _Connection(url)
        try:
            state = _state(self._connection, url).state
            self._end = state.last_seq
            self._subscribe(self._connection)
        except (TableError, *_Lost) as error:
            self.close()
            raise _refusal(url, error) from None

    def _subscribe(self, connection: _Connection) -> None:
        state = _state(connection, self._url).state
        if state.last_seq < self._last:
            raise replaced(self._url, str(self._last))
        if self._last and state.first_seq > self._last + 1:
            raise gone(self._url, str(self._last))
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._last + 1,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=_UNUSED,
            mem_storage=True,
        )
        jetstream = connection.jetstream
        made = connection.wait(jetstream.add_consumer(self._url.topic, config))
        self._subscription: Any = connection.wait(
            jetstream.pull_subscribe_bind(made.name, self._url.topic)
        )
        self._delivered = 0
        self._waited = False  # for messages on their way

    def fetch(self, most: int, seconds: float) -> Messages | None:
        """Messages after the last ones."""
        if self._until_end and self._last >= self._end:
            return None
        try:
            if self._connection is None or self._connection.is_lost:
                self._connect_again()
            connection = self._connection
            assert connection is not None
            try:
                found = connection.wait(self._subscription.fetch(most, timeout=seconds))
            except TimeoutError:  # there is none, or it comes later
                found = []
            if not found:
                # An error, if the server was started again: it has forgotten its consumers.
                info = connection.wait(self._subscription.consumer_info())
                on_their_way = info.delivered.consumer_seq > self._delivered
                if self._until_end and info.num_pending == 0 and not on_their_way:
                    return None
                if on_their_way and self._waited:  # lost: they are asked for again
                    self._drop()
                self._waited = on_their_way
        except _Lost as error:
            if not self._patience.is_over:
                self._drop()
                self._patience.lost(error)
            return Messages([], [])
        self._patience.found()
        return self._in_order(found)

    def _connect_again(self) -> None:
        self._drop()
        try:
            self._connection = _Connection(self._url)
        except TableError as error:
            raise OSError(str(error)) from None
        self._subscribe(self._connection)

    def _in_order(self, found: list[Any]) -> Messages:
        """The messages up to a gap, where some were lost on their way: they are asked for again."""
        values, places = list[bytes](), list[Any]()
        for message in found:
            numbers = message.metadata.sequence
            if numbers.consumer != self._delivered + 1:
                self._drop()
                break
            self._delivered, self._last = numbers.consumer, numbers.stream
            self._waited = False
            values.append(message.data)
            places.append(numbers.stream)
        return Messages(values, places)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Leave the server."""
        self._drop()


class NatsSink:
    """A stream that is written to, under its first subject that is no pattern."""

    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._url, self._patience = url, Patience(url, stopped)
        self._connection: _Connection | None = _Connection(url)
        try:
            subjects = _state(self._connection, url).config.subjects or []
        except (TableError, *_Lost) as error:
            self.close()
            raise _refusal(url, error) from None
        plain = [subject for subject in subjects if not set(subject) & set("*>")]
        if not plain:
            self.close()
            raise TableError(
                f"{str(url)!r} has no subject without * and > to write to: add one, with nats "
                "stream edit."
            )
        self._subject = plain[0]

    def send(self, messages: list[Outgoing]) -> None:
        """Publish messages; after a lost connection some of them may be there twice."""
        while True:
            try:
                if self._connection is None or self._connection.is_lost:
                    self.close()
                    self._connection = _Connection(self._url)
                self._connection.wait(self._publish(self._connection.jetstream, messages))
            except (*_Lost, TableError) as error:
                if self._patience.is_over:
                    raise not_sent(self._url) from None
                self.close()
                self._patience.lost(error)
            else:
                self._patience.found()
                return

    async def _publish(self, jetstream: Any, messages: list[Outgoing]) -> None:
        """All at once, in their order; each is acknowledged."""
        await asyncio.gather(
            *(jetstream.publish(self._subject, data, headers=h) for data, h in messages)
        )

    def flush(self) -> None:
        """Nothing: whatever was sent is there."""

    def close(self) -> None:
        """Leave the server."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
