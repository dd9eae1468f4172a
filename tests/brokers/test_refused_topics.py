"""What topics refuse: bad messages, servers and topics that are not there, wrong addresses."""

import json
import re
import socketserver
import threading

import pytest

from spclust.brokers import batches
from spclust.brokers.broker_url import parsed_url
from spclust.tables import TableError
from tests.brokers.test_topics import grouped, lines, topic_of
from tests.command.common import blobs, run, summary
from tests.ports import free_port

BAD = {
    b"": "it is empty",
    b"  \n": "it is empty",
    b"{broken": "it is no JSON object",
    b'{"x": 1}{"x": 2}': "it is no JSON object",
    b"[1, 2]": "it is no JSON object",
    b'{"x": 1}': "column 'y' is empty",
    b'{"x": "red", "y": 1}': "column 'x' holds 'red', which is not a number",
    b"a,b\n1,2": "it has no column 'x'",
    b"x,y\n1,2,3": "it has 3 cells where the first row has 2",
    b"\xff\xff\xff\xff\x10\x00\x00\x00oops": "it is no Arrow IPC file or stream",
    b"\x80\x81\x82": "it is not UTF-8 text",
}


def test_bad_messages_are_bad_rows(server, tmp_path, monkeypatch):
    """Each is named by its place, and those around it are read."""
    monkeypatch.chdir(tmp_path)
    good = lines(blobs(20 * len(BAD))[0])
    values = [v for bad, some in zip(BAD, grouped(good, 20), strict=True) for v in (bad, *some)]
    topic, places = topic_of(server, values)
    given = ("cluster", server.url(topic), "--until-end", "-c", "x,y", "-q")
    found = summary(*given, "--on-bad-row", "skip")
    assert (found["rows"], found["bad_rows"]) == (len(good), len(BAD) + 1)  # [1, 2] has two rows
    run(*given, "--on-bad-row", "collect", "bad.ndjson")
    told = {}
    for record in map(json.loads, (tmp_path / "bad.ndjson").read_text().splitlines()):
        assert record["file"] == server.url(topic)
        told[record["message"]] = (record["row"], record["why"])
    assert list(told) == [places[21 * number] for number in range(len(BAD))]
    for (place, (row, said)), why in zip(told.items(), BAD.values(), strict=True):
        assert said.startswith(why)
        assert said.endswith(f", in message {place}")
        assert row - places.index(place) in (1, 2)  # 2 after the two rows of one message


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_bad_message_ends_a_run(server, bad):
    topic, places = topic_of(server, [*lines(blobs(20)[0]), bad])
    said = run("cluster", server.url(topic), "--until-end", "-c", "x,y", "-q", code=1).stderr
    assert f"{server.url(topic)!r}, row 21: {BAD[bad]}" in said
    assert f", in message {places[20]}. --on-bad-row" in said


def test_a_server_that_is_not_there(server):
    url = f"{server.scheme}://127.0.0.1:{free_port()}/topic"
    said = run("cluster", url, "--until-end", code=1).stderr
    assert re.search(rf"No {server.scheme} server answers at 127.0.0.1:\d+: start it, or ", said)
    assert len(said.splitlines()) == 1


class Greeting(socketserver.StreamRequestHandler):
    """A NATS server that dies after its greeting: connections stay open, nothing is answered."""

    def handle(self):
        self.wfile.write(b'INFO {"server_id":"gone","max_payload":1024,"headers":true}\r\n')
        for line in self.rfile:
            if line == b"PING\r\n":
                self.wfile.write(b"PONG\r\n")
                break
        self.rfile.read()


@pytest.mark.parametrize("opened", ["NatsSubscription", "NatsSink"])
def test_a_server_that_dies_when_a_stream_is_opened(opened, monkeypatch):
    broker = pytest.importorskip("spclust.brokers.nats_broker")
    monkeypatch.setattr(broker, "_SECONDS", 1.0)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greeting) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = parsed_url(f"nats://127.0.0.1:{server.server_address[1]}/stream")
        options = {"until_end": True} if opened == "NatsSubscription" else {}
        arguments = (url, "") if opened == "NatsSubscription" else (url,)
        with pytest.raises(TableError, match="No nats server answers at"):
            getattr(broker, opened)(*arguments, stopped=lambda: False, **options)
        server.shutdown()


def test_a_topic_that_is_not_there(server):
    if server.scheme == "kafka":
        pytest.skip("the cluster inside librdkafka makes any topic that is asked for")
    said = run("cluster", server.url("nothing"), "--until-end", code=1).stderr
    assert "has no stream 'nothing': check the name, or " in said
    assert len(said.splitlines()) == 1


def test_a_topic_without_messages(server):
    topic, _ = topic_of(server, [])
    said = run("cluster", server.url(topic), "--until-end", code=1).stderr
    assert f"{server.url(topic)!r} has no messages" in said


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("kafka:///topic", "is no address of a topic"),
        ("redis://host", "is no address of a topic"),
        ("nats://host:x/topic", "is no address of a topic"),
    ],
)
def test_addresses_that_are_none(url, words):
    assert words in " ".join(run("cluster", url, code=2).stderr.replace("│", "").split())


def test_what_is_for_topics_only(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    assert "--until-end" in run("cluster", tmp_path / "a.csv", "--until-end", code=2).stderr
    said = run("cluster", "redis://host/a", tmp_path / "a.csv", code=1).stderr
    assert "is read by itself" in said


def test_a_password_is_shown_nowhere():
    url = f"redis://user:secret@127.0.0.1:{free_port()}/topic"
    said = run("cluster", url, "--until-end", code=1).output
    assert "127.0.0.1" in said
    assert "secret" not in said


def test_messages_that_were_removed_are_missed(tmp_path, monkeypatch, server):
    """A checkpoint does not go on after a gap."""
    if server.scheme != "nats":
        pytest.skip("only NATS removes messages at a word in all its versions")
    monkeypatch.chdir(tmp_path)
    values = lines(blobs(300)[0])
    topic, _ = topic_of(server, values[:100])
    given = ("cluster", server.url(topic), "--until-end", "--checkpoint", "c", "-q")
    run(*given)
    server.send(topic, values[100:])
    server.ask(lambda js: js.purge_stream(topic, keep=50))
    assert "no longer has all messages after 100" in run(*given, code=1).stderr
    (batch,) = batches(server.url(topic), ["x", "y"], until_end=True)
    rest = batches(server.url(topic), ["x", "y"], since=batch.end._replace(message="20"))
    with pytest.raises(TableError, match="no longer has all"):
        next(rest)
