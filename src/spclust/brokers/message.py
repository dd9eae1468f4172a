"""What a broker is asked for: messages with their places, and room for others."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from logging import getLogger
from typing import Any, NamedTuple, Protocol

from spclust.brokers.broker_url import BrokerUrl
from spclust.tables.table_error import TableError, sentence_of

_SHORTEST, _LONGEST = 0.1, 5.0  # seconds between two attempts to reach a server
_SLICE = 0.1  # seconds between two checks whether to go on waiting

Stopped = Callable[[], bool]


class Messages(NamedTuple):
    """Messages in the order of their topic."""

    values: list[bytes]
    places: list[Any]  # one for each, as the broker counts them


class Outgoing(NamedTuple):
    """A message to be sent."""

    value: bytes
    headers: dict[str, str]


class Subscription(Protocol):
    """A topic that is read from a place on.

    A cursor is a text that stands for a place between two messages; "" is the first message there
    is. Messages after a cursor are the same whenever they are read.
    """

    replays: bool  # False if messages that were fetched cannot be fetched again
    is_ordered: bool  # False if messages may come in another order the next time

    def fetch(self, most: int, seconds: float) -> Messages | None:
        """Up to `most` messages as soon as there are any; none after some seconds without one.

        None once the end is reached, if it is to be read to its end.
        """
        ...

    def fetch_until(self, cursor: str) -> Messages:
        """All messages up to a cursor that was reached before, if the order is not certain.

        They are in the order of the fetches that they were in then.
        """
        ...

    def cursor(self, before: str, places: Sequence[Any]) -> str:
        """The cursor after messages that follow another cursor."""
        ...

    def name(self, place: Any) -> str:
        """The place of a message, without spaces, as messages and outputs have it."""
        ...

    def close(self) -> None:
        """Leave the server."""
        ...


class OrderedTopic:
    """What subscriptions have in common whose messages always come in the same order."""

    is_ordered = True

    def fetch_until(self, cursor: str) -> Messages:
        """Nothing: the order is certain."""
        return Messages([], [])

    def cursor(self, before: str, places: Sequence[Any]) -> str:
        """The place of the last message."""
        return self.name(places[-1]) if places else before

    def name(self, place: Any) -> str:
        """The number of a message."""
        return str(place)


class Sink(Protocol):
    """A topic that is written to."""

    def send(self, messages: list[Outgoing]) -> None:
        """Send messages, or let them wait to be sent at once."""
        ...

    def flush(self) -> None:
        """Wait until the server has all messages."""
        ...

    def close(self) -> None:
        """Leave the server."""
        ...


def unreachable(url: BrokerUrl, error: object) -> TableError:
    """The error that a server does not answer at all."""
    reason = sentence_of(error) if isinstance(error, BaseException) else f"{error}."
    return TableError(
        f"No {url.scheme} server answers at {url.server}: start it, or check host and port "
        f"({reason.rstrip('.')})."
    )


def missing(url: BrokerUrl, what: str, remedy: str) -> TableError:
    """The error that a server has no such topic."""
    return TableError(f"{url.server} has no {what} {url.topic!r}: check the name, or {remedy}.")


def gone(url: BrokerUrl, cursor: str) -> TableError:
    """The error that messages after a cursor were removed before they were read."""
    return TableError(
        f"{str(url)!r} no longer has all messages after {cursor}, where the checkpoint is: keep "
        "messages for longer, or remove the checkpoint to start with those that are there."
    )


def replaced(url: BrokerUrl, cursor: str) -> TableError:
    """The error that a topic ends before a cursor."""
    return TableError(
        f"{str(url)!r} ends before {cursor}, where the checkpoint is: name the topic that it was "
        "made with, or remove the checkpoint to start anew."
    )


def not_sent(url: BrokerUrl) -> TableError:
    """The error that a run was ended while a server could not be reached."""
    return TableError(
        f"{str(url)!r} could not be reached to the end: not all was sent, and what is missing will "
        "be sent when the run is resumed from its checkpoint."
    )


class Patience:
    """Attempts to reach a server again, with growing pauses; the first and the last are told."""

    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._url, self._stopped = url, stopped
        self._pause = 0.0

    @property
    def is_over(self) -> bool:
        """True if nobody waits any more."""
        return self._stopped()

    def lost(self, error: object) -> None:
        """Tell that the connection was lost, and wait before the next attempt."""
        if not self._pause:
            reason = sentence_of(error) if isinstance(error, BaseException) else f"{error}."
            getLogger("spclust").warning(
                "lost the connection to %s, and try again: %s", self._url.server, reason
            )
        self._pause = min(max(2 * self._pause, _SHORTEST), _LONGEST)
        until = time.monotonic() + self._pause
        while time.monotonic() < until and not self._stopped():
            time.sleep(_SLICE)

    def found(self) -> None:
        """Tell that the server answers again."""
        if self._pause:
            getLogger("spclust").warning("connected to %s again.", self._url.server)
            self._pause = 0.0


@contextmanager
def needed_package(extra: str) -> Iterator[None]:
    """Raise TableError that says what to install, if a client is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise TableError(
            f"{extra}:// needs {error.name}: install it with pip install 'spclust[cli,{extra}]'."
        ) from None
