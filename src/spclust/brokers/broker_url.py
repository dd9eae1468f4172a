"""Addresses of topics in brokers: `kafka://host:port/topic` and the like."""

import os
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from spclust.tables.inputs import is_topic
from spclust.tables.table_error import TableOptionError

_PORTS = {"kafka": 9092, "redis": 6379, "nats": 4222, "mqtt": 1883}
_ENCRYPTED_PORTS = {"redis": 6379, "mqtt": 8883}  # with an s after the scheme
_PASSWORD = "SPCLUST_BROKER_PASSWORD"  # an environment variable, which no list of processes shows


class BrokerUrl(NamedTuple):
    """A topic, or what a broker calls so, and the server that has it."""

    scheme: str
    host: str
    port: int
    topic: str
    user: str | None
    password: str | None
    options: dict[str, str]  # of the client, after a question mark; Kafka only
    encrypted: bool  # by TLS, for Redis and MQTT; Kafka has an option for that

    def __str__(self) -> str:
        """The address without user and password, for messages and checkpoints."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = f"{self.scheme}s" if self.encrypted else self.scheme
        return f"{scheme}://{host}:{self.port}/{self.topic}"

    @property
    def server(self) -> str:
        """Host and port."""
        return str(self).split("/")[2]


def parsed_url(text: str) -> BrokerUrl:
    """The parts of an address; TableOptionError if it is none of a topic."""
    given, _, rest = text.partition("://")
    encrypted = given not in _PORTS
    scheme = given.removesuffix("s") if encrypted else given
    ports = _ENCRYPTED_PORTS if encrypted else _PORTS
    place, _, topic = rest.partition("/")
    login, _, server = place.rpartition("@")
    user, _, password = login.partition(":")
    query = ""
    if scheme == "kafka":  # elsewhere, a question mark may be part of a name
        topic, _, query = topic.partition("?")
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        host, port = server, str(ports.get(scheme, ""))
    host = host.strip("[]")
    if not is_topic(text) or not host or not port.isdecimal() or not topic:
        shown = f"{given}://{server}/{topic}"
        examples = ", ".join(f"{name}://host:{port}/topic" for name, port in _PORTS.items())
        raise TableOptionError(f"{shown!r} is no address of a topic: write it as {examples}.")
    return BrokerUrl(
        scheme,
        host,
        int(port),
        unquote(topic),
        unquote(user) or None,
        unquote(password) or (os.environ.get(_PASSWORD) if user else None),
        dict(parse_qsl(query)),
        encrypted,
    )
