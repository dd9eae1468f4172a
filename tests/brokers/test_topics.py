"""Topics as sources and sinks: formats, positions, labels, runs that go on."""

import io
import json
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

from spclust import SPC
from spclust.brokers import batches
from spclust.brokers.broker_url import parsed_url
from spclust.brokers.kafka_broker import KafkaSubscription
from spclust.brokers.nats_broker import NatsSubscription
from spclust.tables import TableError
from tests.brokers.servers import (
    KafkaServer,
    NatsServer,
    RedisServer,
    records,
    running,
)
from tests.command.common import blobs, run, summary

NUMBERS = count()


def topic_of(server, values):
    """A new topic with these messages, and their places."""
    topic = f"topic{next(NUMBERS)}"
    server.create(topic)
    return topic, server.send(topic, values)


def lines(rows):
    return [json.dumps({"x": x, "y": y}).encode() for x, y in rows.tolist()]


def arrow(rows):
    table = pa.table({"x": rows[:, 0], "y": rows[:, 1]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def grouped(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]


def as_messages(kind, rows):
    """Rows as messages, one or several in each."""
    groups = grouped(rows, 7)
    text = [[f"{x!r},{y!r}" for x, y in group.tolist()] for group in groups]
    return {
        "one object": lambda: lines(rows),
        "objects in lines": lambda: [b"\n".join(lines(group)) for group in groups],
        "lines that end": lambda: [b"\n".join(lines(group)) + b"\r\n" for group in groups],
        "an array": lambda: [b"[" + b",\n".join(lines(group)) + b"]" for group in groups],
        "an indented object": lambda: [
            json.dumps(json.loads(r), indent=2).encode() for r in lines(rows)
        ],
        "csv": lambda: [("x,y\n" + "\n".join(group)).encode() for group in text],
        "csv in turns": lambda: [
            ("x,y\n" if i % 2 else "name,x,y\n").encode()
            + "\n".join(line if i % 2 else f"a,{line}" for line in group).encode()
            for i, group in enumerate(text)
        ],
        "arrow": lambda: [arrow(group) for group in groups],
        "all kinds": lambda: [
            *lines(rows[:100]),
            *(arrow(group) for group in grouped(rows[100:200], 9)),
            *(b"x,y\n%r,%r" % tuple(row) for row in rows[200:300].tolist()),
            *(b"[" + b",".join(lines(group)) + b"]" for group in grouped(rows[300:], 11)),
        ],
    }[kind]()


KINDS = (
    *("one object", "objects in lines", "lines that end", "an array", "an indented object"),
    *("csv", "csv in turns", "arrow", "all kinds"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_that_were_sent(server, kind):
    rows = blobs(1000)[0]
    topic, _ = topic_of(server, as_messages(kind, rows))
    found = list(batches(server.url(topic), ["x", "y"], size=300, until_end=True))
    assert [len(batch.values) for batch in found] == [300, 300, 300, 100]
    assert np.array_equal(np.concatenate([batch.values for batch in found]), rows)
    assert np.array_equal(np.concatenate([batch.row for batch in found]), np.arange(1, 1001))


@pytest.mark.parametrize("kind", ["one object", "objects in lines", "all kinds"])
def test_every_position_can_be_resumed_at(server, kind):
    """Also one within a message."""
    rows = blobs(500)[0]
    topic, _ = topic_of(server, as_messages(kind, rows))
    for batch in list(batches(server.url(topic), ["x", "y"], size=61, until_end=True)):
        rest = [*batches(server.url(topic), ["x", "y"], since=batch.end, size=50, until_end=True)]
        values = [each.values for each in rest]
        assert np.array_equal(np.concatenate([*values, rows[:0]]), rows[batch.row[-1] :])
        assert not rest or rest[0].row[0] == batch.row[-1] + 1


def test_an_iterator_feeds_an_estimator(server):
    rows = blobs(1000)[0]
    topic, _ = topic_of(server, lines(rows))
    model = SPC()
    for batch in batches(server.url(topic), size=100, until_end=True):
        model.partial_fit(batch.values)
    assert np.array_equal(model.structures_.mean, SPC().partial_fit(rows).structures_.mean)


def test_times_are_those_of_a_file_with_the_same_rows(server, tmp_path):
    rows = blobs(600)[0]
    stamps = [f"2026-01-01T00:{i // 60 % 60:02}:{i % 60:02}Z" for i in range(600)]
    pairs = zip(rows.tolist(), stamps, strict=True)
    values = [json.dumps({"x": x, "y": y, "at": at}).encode() for (x, y), at in pairs]
    (tmp_path / "rows.ndjson").write_bytes(b"\n".join(values))
    topic, _ = topic_of(server, values)
    memory = ("--time", "at", "--half-life", "2m", "--batch", 100, "--until-end")
    run("cluster", server.url(topic), *memory, "--save", tmp_path / "topic.spc")
    run("cluster", tmp_path / "rows.ndjson", *memory[:-1], "--save", tmp_path / "file.spc")
    assert (tmp_path / "topic.spc").read_bytes() == (tmp_path / "file.spc").read_bytes()
    values[300] = values[300].replace(stamps[300].encode(), stamps[0].encode())
    topic, _ = topic_of(server, values)
    said = run("cluster", server.url(topic), *memory, code=1).stderr
    assert "row 301: column 'at', of times, goes back from" in said


def test_headerless_csv_has_columns_by_number(server):
    topic, _ = topic_of(server, [b"1.5,2", b"2.5,3\n3.5,4\n"])
    (batch,) = batches(server.url(topic), until_end=True)
    assert batch.values.tolist() == [[1.5, 2.0], [2.5, 3.0], [3.5, 4.0]]


def test_labels_and_events_go_to_topics(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    topic, places = topic_of(server, lines(blobs(3000)[0]))
    for name in ("labels", "events"):
        server.create(f"{topic}{name}")
    given = (
        "cluster",
        server.url(topic),
        "--until-end",
        "--batch",
        700,
        "--keep",
        "_message",
        "-q",
    )
    run(*given, "--out", "labels.ndjson", "--events", "events.ndjson")
    sinks = [server.url(f"{topic}{name}") for name in ("labels", "events")]
    run(*given, "--out", sinks[0], "--events", sinks[1], "--typicality")
    labels = sorted(records(server.read(f"{topic}labels")), key=lambda each: each["row"])
    typicalities = [each.pop("typicality") for each in labels]
    assert all(0.0 <= one <= 1.0 for one in typicalities)
    in_file = records([(tmp_path / "labels.ndjson").read_bytes()])
    assert labels == in_file
    assert [each["_message"] for each in labels] == places
    events = sorted(records(server.read(f"{topic}events")), key=lambda each: each["number"])
    assert [each.pop("number") for each in events] == list(range(1, len(events) + 1))
    assert events == records([(tmp_path / "events.ndjson").read_bytes()])
    assert events


def test_a_saved_model_labels_a_topic(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    topic, _ = topic_of(server, lines(blobs(1000)[0]))
    run("cluster", server.url(topic), "--until-end", "--save", "m.spc", "-q")
    server.create(f"{topic}labels")
    run("predict", "m.spc", server.url(topic), "--until-end", "--out", server.url(f"{topic}labels"))
    run("predict", "m.spc", server.url(topic), "--until-end", "--out", "labels.ndjson")
    labels = sorted(records(server.read(f"{topic}labels")), key=lambda each: each["row"])
    assert labels == records([(tmp_path / "labels.ndjson").read_bytes()])
    assert len(labels) == 1000


def test_a_run_goes_on_where_it_ended(server, tmp_path, monkeypatch):
    """Also with messages that were not there yet; nothing is learnt twice."""
    monkeypatch.chdir(tmp_path)
    values = lines(blobs(3000)[0])
    topic, _ = topic_of(server, values[:1700])
    given = ("cluster", server.url(topic), "--until-end", "--checkpoint", "c", "--out", "l.csv")
    assert summary(*given)["rows"] == 1700
    server.send(topic, values[1700:])
    again = summary(*given)
    assert (again["rows"], again["resumed_after"]) == (3000, 1700)
    numbers = [line.split(",")[0] for line in (tmp_path / "l.csv").read_text().splitlines()[1:]]
    assert numbers == [str(number) for number in range(1, 3001)]
    assert summary(*given)["rows"] == 3000


def test_fields_of_entries_are_columns(tmp_path):
    """As `XADD stream * x 1.5 y 2` writes them; Redis has but texts."""
    with running(RedisServer, tmp_path / "server") as server:
        with server.client() as client:
            for i in range(10):
                client.xadd("rows", {"x": i, "y": f"{i}.5", "name": "a", "z": "nan"})
            client.xadd("rows", {"x": "red", "y": 1, "name": "b", "z": "1"})
        url = server.url("rows")
        (batch,) = batches(url, ["x", "y"], until_end=True, on_bad_row="skip", extra=["name"])
        assert batch.values.tolist() == [[i, i + 0.5] for i in range(10)]
        assert set(batch.extra["name"].to_pylist()) == {'"a"'}  # cells of JSON, as they are
        with pytest.raises(TableError, match=r"column 'x' holds 'red', which is not a number"):
            list(batches(url, ["x", "y"], until_end=True))
        with pytest.raises(TableError, match=r"column 'z' holds nan, which is not finite"):
            list(batches(url, ["z"], until_end=True))


def test_an_end_is_not_told_while_messages_are_on_their_way(tmp_path):
    with running(NatsServer, tmp_path) as server:
        server.create("hurried")
        server.send("hurried", [b'{"x": 1}'] * 500)
        url = parsed_url(server.url("hurried"))
        for seconds in [0.001, 0.002] * 8:
            topic = NatsSubscription(url, "", until_end=True, stopped=lambda: False)
            found = 0
            while (messages := topic.fetch(1000, seconds)) is not None:
                found += len(messages.values)
            topic.close()
            assert found == 500


def test_messages_that_are_held_back_are_in_the_order_of_partitions(tmp_path):
    """As those of any fetch: a run that is resumed twice reads them in that order."""
    with running(KafkaServer, tmp_path) as server:
        server.create("parts")
        for part in range(4):
            for _ in range(3):
                server.send("parts", [b'{"x": 1}'] * 900, part)
        url, stop = parsed_url(server.url("parts")), {0: 10, 1: 20, 2: 2600, 3: 30}
        topic = KafkaSubscription(url, "", until_end=True, stopped=lambda: False)
        inside = topic.fetch_until(",".join(f"{part}:{end}" for part, end in stop.items()))
        held = topic.fetch(1, 1.0)
        topic.close()
        assert inside.places == [(part, n) for part, end in stop.items() for n in range(end)]
        assert held.places == sorted(held.places)
        assert len({part for part, _ in held.places}) > 1
