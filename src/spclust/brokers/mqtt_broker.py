"""MQTT: messages have no place that they could be read from again, they are counted."""

import queue
import ssl
import threading
import time
from typing import Any

from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from spclust.brokers.broker_url import BrokerUrl
from spclust.brokers.message import (
    Messages,
    OrderedTopic,
    Outgoing,
    Patience,
    Stopped,
    not_sent,
    unreachable,
)
from spclust.tables.table_error import TableError

_SECONDS = 10.0  # without an answer
_WAITING = 10_000  # messages that are kept
_POLL = 0.1
_EXPIRY = 300  # seconds for which a server keeps a session without a connection


def _properties(kind: int, **values: Any) -> Any:
    """Properties of a packet of MQTT 5."""
    made: Any = Properties
    properties = made(kind)
    for name, value in values.items():
        setattr(properties, name, value)
    return properties


class _Session:
    """A connection in a thread of its own, which connects again by itself."""

    def __init__(self, url: BrokerUrl, stopped: Stopped, subscribe: bool) -> None:
        self._url, self._topic = url, url.topic if subscribe else None
        self._patience = Patience(url, stopped)
        self._answered = threading.Event()
        self._refusal = ""
        self.received: queue.Queue[Any] = queue.Queue(_WAITING)
        self.client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"spclust-{time.time_ns():x}",
            protocol=MQTTProtocolVersion.MQTTv5,
            manual_ack=True,
        )
        if url.user is not None:
            self.client.username_pw_set(url.user, url.password)
        if url.encrypted:
            self.client.tls_set_context(ssl.create_default_context())
        self.client.reconnect_delay_set(1, 5)
        self.client.max_queued_messages_set(_WAITING)
        self.client.on_connect = self._connected
        self.client.on_subscribe = self._subscribed
        self.client.on_disconnect = self._disconnected
        self.client.on_message = self._came
        try:
            # The server keeps what comes while the connection is lost, and then forgets it.
            properties = _properties(PacketTypes.CONNECT, SessionExpiryInterval=_EXPIRY)
            self.client.connect(url.host, url.port, keepalive=30, properties=properties)
        except OSError as error:
            raise unreachable(url, error) from None
        self.client.loop_start()
        if not self._answered.wait(_SECONDS) or self._refusal:
            self.close()
            raise unreachable(url, self._refusal or "it does not answer")

    def _connected(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        if reason.is_failure:
            self._refusal = str(reason)
            self._answered.set()
        elif self._topic is None:
            self._answered.set()
        else:
            client.subscribe(self._topic, qos=1)
        self._patience.found()

    def _subscribed(self, _: Any, __: Any, ___: Any, reasons: Any, ____: Any) -> None:
        self._refusal = next((str(each) for each in reasons if each.is_failure), "")
        self._answered.set()

    def _disconnected(self, _: Any, __: Any, ___: Any, reason: Any, ____: Any) -> None:
        if reason.is_failure:
            self._patience.lost(f"{reason}")

    def _came(self, _: Any, __: Any, message: Any) -> None:
        # With QoS 1 the server sends no more than it may before it gets an answer. With QoS 0 it
        # does: then this waits, the server has to, and drops what it cannot keep.
        self.received.put(message)

    def close(self) -> None:
        """Leave the server, which is to forget the session."""
        self.client.on_disconnect = None
        properties = _properties(PacketTypes.DISCONNECT, SessionExpiryInterval=0)
        self.client.disconnect(properties=properties)
        self.client.loop_stop()


class MqttSubscription(OrderedTopic):
    """A topic that is read from now on."""

    replays = False

    def __init__(self, url: BrokerUrl, since: str, *, until_end: bool, stopped: Stopped) -> None:
        if until_end:
            raise TableError(
                f"{str(url)!r} has no end: an MQTT topic keeps no messages. Leave out --until-end."
            )
        self._count = int(since or 0)
        self._session = _Session(url, stopped, subscribe=True)

    def fetch(self, most: int, seconds: float) -> Messages | None:
        """Messages that came; the server is told that they were read."""
        values, places = list[bytes](), list[Any]()
        until = time.monotonic() + seconds
        while len(values) < most:
            try:
                wait = max(0.0, until - time.monotonic()) if not values else 0.0
                message = self._session.received.get(wait > 0.0, wait or None)
            except queue.Empty:
                break
            self._session.client.ack(message.mid, message.qos)
            self._count += 1
            values.append(bytes(message.payload))
            places.append(self._count)
        return Messages(values, places)

    def close(self) -> None:
        """Leave the server."""
        self._session.close()


class MqttSink:
    """A topic that is written to, with QoS 1."""

    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._url, self._stopped = url, stopped
        self._session = _Session(url, stopped, subscribe=False)
        self._waiting: list[Any] = []

    def send(self, messages: list[Outgoing]) -> None:
        """Publish messages."""
        for value, headers in messages:
            properties = _properties(PacketTypes.PUBLISH, UserProperty=list(headers.items()))
            self._waiting.append(
                self._session.client.publish(self._url.topic, value, qos=1, properties=properties)
            )
        if len(self._waiting) >= _WAITING // 10:
            self.flush()

    def flush(self) -> None:
        """Wait until the server has all messages."""
        until: float | None = None
        for sent in self._waiting:
            while not sent.is_published():
                sent.wait_for_publish(_POLL)
                if self._stopped():
                    until = until or time.monotonic() + _SECONDS
                    if time.monotonic() > until:
                        raise not_sent(self._url)
        self._waiting = []

    def close(self) -> None:
        """Leave the server."""
        self._session.close()
