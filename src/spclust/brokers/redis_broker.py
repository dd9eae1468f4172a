"""Redis Streams: a stream is a topic, the id of an entry is its place."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

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
from spclust.tables.cells import is_number
from spclust.tables.table_error import TableError, sentence_of

_FIRST = "0-0"  # before all entries
_FIELD = b"value"  # of an entry with several fields
_SECONDS = 10.0  # without an answer

_Lost = (redis.ConnectionError, redis.TimeoutError)
Answer = TypeVar("Answer")


def _connected(url: BrokerUrl) -> Any:
    client = redis.Redis(
        url.host,
        url.port,
        username=url.user,
        password=url.password,
        protocol=2,  # in which the answer to XREAD is a list
        retry=Retry(NoBackoff(), 0),  # a loss is told, and then waited for, here
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        ssl=url.encrypted,
        ssl_check_hostname=True,
    )
    # The lists of the protocol as they are: entries as dictionaries would take half of the time.
    client.set_response_callback("XREAD", lambda answer, **_: answer)
    try:
        client.ping()
    except redis.RedisError as error:
        raise unreachable(url, error) from None
    return client


def _asked(url: BrokerUrl, patience: Patience, ask: Callable[[], Answer]) -> Answer | None:
    """An answer of the server, however often it must be asked; None if nobody waits any more."""
    while True:
        try:
            answer = ask()
        except _Lost as error:
            if patience.is_over:
                return None
            patience.lost(error)
        except redis.RedisError as error:
            raise TableError(f"{str(url)!r}: {sentence_of(error)}") from None
        else:
            patience.found()
            return answer


class RedisSubscription(OrderedTopic):
    """A stream that is read."""

    replays = True

    def __init__(self, url: BrokerUrl, since: str, *, until_end: bool, stopped: Stopped) -> None:
        self._url, self._last = url, since or _FIRST
        self._until_end = until_end
        self._patience = Patience(url, stopped)
        self._client = _connected(url)
        if self._client.type(url.topic) != b"stream":
            raise missing(url, "stream", "add an entry first, with XADD")
        info = self._client.xinfo_stream(url.topic)
        if since and _number(info["last-generated-id"]) < _number(since):
            raise replaced(url, since)
        # Servers before Redis 7 do not tell which entries were removed.
        if since and _number(info.get("max-deleted-entry-id", _FIRST)) > _number(since):
            raise gone(url, since)
        self._end = _number(info["last-generated-id"])

    def fetch(self, most: int, seconds: float) -> Messages | None:
        """Entries after the last ones."""
        if self._until_end and _number(self._last) >= self._end:
            return None
        block = [] if self._until_end else ["BLOCK", max(1, int(1000 * seconds))]
        command = ["XREAD", "COUNT", most, *block, "STREAMS", self._url.topic, self._last]
        answer = _asked(
            self._url, self._patience, lambda: self._client.execute_command(*command) or []
        )
        if not answer:
            # Only a server that was reached can say that there is nothing.
            return None if self._until_end and answer is not None else Messages([], [])
        ((_, entries),) = answer
        self._last = entries[-1][0].decode()
        return Messages(
            [fields[1] if len(fields) == 2 else _value(fields) for _, fields in entries],
            [place for place, _ in entries],
        )

    def name(self, place: Any) -> str:
        """The id of an entry."""
        return str(place.decode())

    def close(self) -> None:
        """Leave the server."""
        self._client.close()


def _value(fields: list[bytes] | None) -> bytes:
    """The field `value` of an entry of several fields; without it, all of them as columns."""
    cells = dict(zip((fields or [])[::2], (fields or [])[1::2], strict=True))
    if _FIELD in cells or not cells:
        return cells.get(_FIELD, b"")
    texts = [(name.decode("utf-8", "replace"), _cell(cell)) for name, cell in cells.items()]
    return json.dumps(dict(texts)).encode()


def _cell(cell: bytes) -> float | int | str:
    """A number, if it is one; Redis has but texts."""
    text = cell.decode("utf-8", "replace")
    if not is_number(text):
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)


def _number(place: Any) -> tuple[int, int]:
    """An id, to be compared with others."""
    text = place.decode() if isinstance(place, bytes) else str(place)
    milliseconds, _, sequence = text.partition("-")
    return int(milliseconds), int(sequence or 0)


class RedisSink:
    """A stream that is written to: the field `value`, and one for each header."""

    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._url, self._patience = url, Patience(url, stopped)
        self._client = _connected(url)

    def send(self, messages: list[Outgoing]) -> None:
        """Add entries; after a lost connection some of them may be there twice."""

        def add() -> bool:
            pipe = self._client.pipeline(transaction=False)
            for value, headers in messages:
                pipe.xadd(self._url.topic, {**headers, "value": value})
            pipe.execute()
            return True

        if not _asked(self._url, self._patience, add):
            raise not_sent(self._url)

    def flush(self) -> None:
        """Nothing: whatever was sent is there."""

    def close(self) -> None:
        """Leave the server."""
        self._client.close()
