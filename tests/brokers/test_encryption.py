"""Connections by TLS, `rediss://` and `mqtts://`, and of NATS; certificates are checked."""

import getpass
import json
import shutil
import ssl
import subprocess
import threading
import time

import pytest

from spclust.brokers import batches
from spclust.brokers.broker_url import parsed_url
from spclust.brokers.message import Outgoing
from spclust.brokers.sinks import opened_sink
from spclust.tables import TableError
from tests.brokers.servers import MqttServer, NatsServer, RedisServer, running

ROWS = [{"x": float(i), "y": 0.5} for i in range(20)]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of this machine that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl: apt-get install openssl")
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key", folder / "certificate"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    command += ["-addext", names, "-keyout", key, "-out", made]
    subprocess.run(command, capture_output=True, check=True)
    return made, key


class Encrypted:
    """A server with a certificate."""

    certificate: tuple = ()

    def url(self, topic):
        mark = "" if self.scheme == "nats" else "s"  # NATS' client does as its server says
        return f"{self.scheme}{mark}://127.0.0.1:{self.port}/{topic}"


class EncryptedRedis(Encrypted, RedisServer):
    def command(self):
        made, key = self.certificate
        files = ("--tls-cert-file", made, "--tls-key-file", key, "--tls-auth-clients", "no")
        return [self.require(), "--port", 0, "--tls-port", self.port, *files, "--save", ""]

    def wait_until_ready(self):
        pass

    def create(self, topic):
        pass


class EncryptedNats(Encrypted, NatsServer):
    def command(self):
        made, key = self.certificate
        return [*super().command(), "--tls", "--tlscert", made, "--tlskey", key]

    def create(self, topic):
        import asyncio

        import nats

        async def create():
            context = ssl.create_default_context(cafile=self.certificate[0])
            client = await nats.connect(f"tls://127.0.0.1:{self.port}", tls=context)
            await client.jetstream().add_stream(name=topic, subjects=[f"{topic}.rows"])
            await client.close()

        asyncio.run(create())


class EncryptedMqtt(Encrypted, MqttServer):
    def command(self):
        made, key = self.certificate
        settings = self.folder / "mosquitto.conf"
        settings.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\n"
            f"certfile {made}\nkeyfile {key}\nuser {getpass.getuser()}\n"
        )
        return [self.require(), "-c", settings]


def send(url):
    sink = opened_sink(parsed_url(url), lambda: False)
    sink.send([Outgoing(json.dumps(row).encode(), {}) for row in ROWS])
    sink.flush()
    sink.close()


@pytest.fixture(params=[EncryptedRedis, EncryptedNats], ids=["redis", "nats"])
def server(request, certificate, tmp_path, monkeypatch):
    monkeypatch.setattr(Encrypted, "certificate", certificate)
    with running(request.param, tmp_path / "server") as found:
        yield found


def test_topics_are_written_and_read(server, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    server.create("rows")
    send(server.url("rows"))
    (batch,) = batches(server.url("rows"), until_end=True)
    assert batch.values.tolist() == [[row["x"], row["y"]] for row in ROWS]


def test_a_certificate_that_nobody_trusts_is_refused(server):
    with pytest.raises(TableError, match=r"No (redis|nats) server answers at 127\.0\.0\.1.*ertif"):
        next(batches(server.url("rows"), until_end=True))


# paho-mqtt does not close a socket whose handshake failed.
unclosed = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@unclosed
def test_mqtt(certificate, tmp_path, monkeypatch):
    monkeypatch.setattr(Encrypted, "certificate", certificate)
    with running(EncryptedMqtt, tmp_path / "server") as server:
        with pytest.raises(TableError, match=r"No mqtt server answers.*ertif"):
            next(batches(server.url("rows")))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))

        def send_later():
            time.sleep(1.0)
            send(server.url("rows"))

        sender = threading.Thread(target=send_later)
        sender.start()
        batch = next(batches(server.url("rows"), ["x"], size=len(ROWS)))
        sender.join()
        assert batch.values[0].tolist() == [0.0]


def test_addresses():
    assert parsed_url("mqtts://host/topic").port == 8883
    assert parsed_url("redis://host/topic").encrypted is False
    secret = parsed_url("rediss://me:secret@host/topic")
    assert (secret.scheme, secret.encrypted) == ("redis", True)
    assert str(secret) == "rediss://host:6379/topic"
    for scheme in ("kafkas", "natss", "redisss"):
        with pytest.raises(TableError, match=f"'{scheme}://host/topic' is no address of a topic"):
            parsed_url(f"{scheme}://host/topic")
