"""Topics that are waited for: latency, an orderly end, the service, MQTT, memory, huge messages."""

import json
import re
import signal
import subprocess
import time

import pytest

from spclust.brokers import batches, message_stream
from spclust.brokers.broker_url import parsed_url
from spclust.brokers.message_rows import MOST_BYTES
from spclust.brokers.message_stream import MessageStream
from spclust.tables.batches import ReadAhead, in_batches
from spclust.tables.chunks import Columns, Position
from spclust.tables.formats import ReadOptions
from tests.brokers.servers import KafkaServer, NatsServer, RedisServer, records, running
from tests.command.common import blobs, run, started
from tests.live.common import needs_a_server, served, waiting


def lines(rows):
    return [json.dumps({"x": x, "y": y}).encode() for x, y in rows.tolist()]


def wait_for_labels(server, topic, rows):
    for _ in waiting(step=0.1):
        found = records(server.read(topic))
        if len({each["row"] for each in found}) == rows:
            return found
    raise AssertionError(f"{len(found)} of {rows} labels")


def ended(process, number=signal.SIGTERM):
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    return process.returncode, error.decode()


def test_rows_are_labelled_when_no_more_come(server, quick, tmp_path):
    """Without waiting for a full batch; after SIGTERM the same command goes on."""
    rows = lines(blobs(900)[0])
    for name in ("sensors", "sensorlabels"):
        server.create(name)
    given = ("cluster", server.url("sensors"), "--out", server.url("sensorlabels"), "-c", "x,y")
    given += ("--checkpoint", tmp_path / "run.ck", "-q")
    process = started(*given, command=quick, stderr=subprocess.PIPE)
    server.send("sensors", rows[:300])
    wait_for_labels(server, "sensorlabels", 300)
    server.send("sensors", rows[300:600])
    wait_for_labels(server, "sensorlabels", 600)
    code, said = ended(process)
    assert (code, "stopped after 600 rows" in said) == (0, True), said
    process = started(*given, command=quick, stderr=subprocess.PIPE)
    server.send("sensors", rows[600:])
    found = wait_for_labels(server, "sensorlabels", 900)
    assert sorted(each["row"] for each in found) == list(range(1, 901))
    code, said = ended(process)
    assert code == 0, said
    assert "going on after row 600" in said


@needs_a_server
def test_the_service_learns_a_topic(server, quick, tmp_path):
    server.create("flows")
    server.send("flows", lines(blobs(2000)[0]))
    given = (server.url("flows"), "-c", "x,y", "--checkpoint", tmp_path / "state")
    for rows in (2000, 500):
        with served(tmp_path, *given, command=quick) as service:
            service.wait_for_rows(rows)  # since its start
            assert service.end() == 0
            assert f"stopped after {2000 if rows == 2000 else 2500:,} rows" in service.log()
        server.send("flows", lines(blobs(500)[0]))


def test_a_lost_connection_is_told_once(quick, tmp_path):
    """And the run goes on when the server is there again."""
    for kind in (RedisServer, NatsServer):
        with running(kind, tmp_path / kind.scheme) as server:
            server.create("stream")
            rows = lines(blobs(200)[0])
            server.send("stream", rows[:100])
            given = ("cluster", server.url("stream"), "-c", "x,y", "--json", "-q")
            process = started(*given, command=quick, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(1.0)
            server.kill()
            time.sleep(1.5)
            server.start()
            server.send("stream", rows[100:])
            time.sleep(3.0)
            process.send_signal(signal.SIGTERM)
            out, error = process.communicate(timeout=30)
            assert json.loads(out)["rows"] == 200, error
            said = error.decode().splitlines()
            assert sum("lost the connection" in line for line in said) == 1, said
            assert sum("again." in line for line in said) == 1, said
            assert process.returncode == 0


def test_a_slow_model_does_not_fill_the_memory(server, monkeypatch):
    """Few messages are fetched before they are needed, however many wait at the server."""
    server.create("backlog")
    message = b"\n".join(lines(blobs(200)[0]))  # 10 kB
    server.send("backlog", 400 * [message])
    fetched, subscribe = [], message_stream.subscribed

    def counted(*given, **options):
        found = subscribe(*given, **options)
        fetch = found.fetch

        def counting(*asked):
            messages = fetch(*asked)
            fetched.extend(messages.values)
            return messages

        found.fetch = counting
        return found

    monkeypatch.setattr(message_stream, "subscribed", counted)
    options = {"until_end": True, "stopped": lambda: False}
    with MessageStream(parsed_url(server.url("backlog")), ReadOptions(), **options) as stream:
        columns = Columns(("x", "y"))
        with ReadAhead(in_batches(stream, columns, Position(), size=1000)) as ahead:
            for number in range(1, 4):
                next(ahead)
                time.sleep(0.5)
                assert sum(map(len, fetched)) < 3e6, number
    assert len(fetched) < 400


@pytest.mark.parametrize("kind", [RedisServer, KafkaServer], ids=lambda kind: kind.scheme)
def test_a_message_of_a_hundred_megabytes_is_a_bad_row(kind, tmp_path):
    """NATS has messages of 64 MB at the most."""
    with running(kind, tmp_path) as server:
        server.create("stream")
        good = lines(blobs(20)[0])
        huge = b'{"x": 1, "y": 2, "z": "' + b"z" * 100_000_000 + b'"}'
        # The cluster inside librdkafka keeps nothing else in the partition of such a message.
        apart = {"partition": 1} if kind is KafkaServer else {}
        server.send("stream", good[:10])
        (place,) = server.send("stream", [huge], **apart)
        server.send("stream", good[10:])
        said = run("cluster", server.url("stream"), "--until-end", "-c", "x,y", code=1).stderr
        assert re.search(rf"row \d+: it has {len(huge):,} bytes, more than {MOST_BYTES:,}", said)
        assert f"in message {place}" in said
        (batch,) = batches(server.url("stream"), until_end=True, on_bad_row="skip")
        assert len(batch.values) == 20


# MQTT


def test_mqtt_messages_are_learnt_and_labelled(mqtt, quick, tmp_path):
    """In a batch whenever no more come; nothing that was sent before is read."""
    rows, labels = lines(blobs(1000)[0]), []
    listener = mqtt.client("labels/a", labels.append)
    sender = mqtt.client()
    sender.publish("rows/a", rows[0], qos=1).wait_for_publish(10)
    given = ("cluster", mqtt.url("rows/a"), "--out", mqtt.url("labels/a"), "-c", "x,y", "-q")
    process = started(
        *(*given, "--checkpoint", "run.ck", "--json"),
        command=quick,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(3.0)
    for row in rows:
        sender.publish("rows/a", row, qos=1).wait_for_publish(10)
    for _ in waiting():
        if len(records(labels)) == 1000:
            break
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 0, error
    assert json.loads(out)["rows"] == 1000, error
    assert [each["row"] for each in records(labels)] == list(range(1, 1001))
    for client in (listener, sender):
        client.disconnect()
        client.loop_stop()


def test_mqtt_goes_on_after_a_lost_connection(mqtt, quick, tmp_path):
    """A restart of the server is survived; what is sent afterwards is learnt."""
    rows = lines(blobs(200)[0])
    given = ("cluster", mqtt.url("rows/b"), "-c", "x,y", "-q", "--json")
    process = started(*given, command=quick, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(3.0)
    for part in (rows[:100], rows[100:]):
        sender = mqtt.client()
        for row in part:
            sender.publish("rows/b", row, qos=1).wait_for_publish(10)
        sender.disconnect()
        sender.loop_stop()
        if part is not rows[100:]:
            time.sleep(1.0)
        if len(part) == 100 and part == rows[:100]:
            mqtt.kill()
            mqtt.start()
            time.sleep(5.0)
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=30)
    assert json.loads(out)["rows"] == 200, error
    assert b"lost the connection" in error


def test_mqtt_has_no_end(mqtt):
    said = run("cluster", mqtt.url("rows/c"), "--until-end", code=1).stderr
    assert "an MQTT topic keeps no messages" in said
