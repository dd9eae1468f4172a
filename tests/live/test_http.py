"""The service over HTTP: what is posted, what is asked, and how it ends."""

import gzip
import json
import re
import shutil
import subprocess
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spclust import SPC
from tests.command.common import csv_file, run, spclust
from tests.live.common import (
    ARROW,
    CSV,
    JSON,
    NDJSON,
    SECONDS,
    arrow,
    csv,
    ndjson,
    needs_a_server,
    records,
    served,
    stream,
    waiting,
)

pytestmark = needs_a_server

BODIES = {
    "ndjson": lambda rows: (ndjson(rows), NDJSON),
    "json": lambda rows: (json.dumps(records(rows)).encode(), JSON),
    "csv": lambda rows: (csv(rows).encode(), CSV),
    "tsv": lambda rows: (csv(rows).replace(",", "\t").encode(), "text/tab-separated-values"),
    "arrow": lambda rows: (arrow(rows), ARROW),
    "charset": lambda rows: (csv(rows).encode(), "Text/CSV; charset=utf-8"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory, quick):
    """A service that has learnt a stream that was posted."""
    options = ("--half-life", 1000, "--track-every", 50)
    with served(tmp_path_factory.mktemp("posted"), *options, command=quick) as found:
        assert found.get("/readyz").status == 200
        assert found.post("/score", b"").error.startswith("Nothing was learnt yet")
        assert found.get("/model").status == 503
        assert found.get("/clusters").json() == {"clusters": []}
        found.learn(stream())
        found.wait_for_rows(2000)
        yield found


@pytest.fixture(scope="module")
def of_a_file(tmp_path_factory, quick):
    """A service that learns from a file, which has ended."""
    folder = tmp_path_factory.mktemp("file")
    path = csv_file(folder / "rows.csv", 3000)
    with served(folder, path, "--keep", "name", command=quick) as found:
        found.wait_for_rows(3000)
        yield found


def loaded(service, folder):
    """The model of a service."""
    answer = service.get("/model")
    assert answer.headers["content-disposition"] == 'attachment; filename="model.spc"'
    (folder / "model.spc").write_bytes(answer.body)
    return SPC.load(folder / "model.spc")


# What is posted


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("form", BODIES)
def test_rows_of_each_format_are_learnt(service, form, compressed):
    rows = stream(50, seed=3)
    body, kind = BODIES[form](rows)
    before = service.metric("spclust_rows_total")
    headers = {"Content_Encoding": "gzip"} if compressed else {}
    answer = service.post("/learn", gzip.compress(body) if compressed else body, kind, **headers)
    assert answer.json() == {"rows": 50, "bad_rows": 0, "repeated": False}
    service.wait_for_rows(before + 50)


@pytest.mark.parametrize("form", BODIES)
def test_scores_are_those_of_the_model_that_is_downloaded(service, form, tmp_path):
    rows = np.concatenate([stream(200, seed=4), [[1e6, -1e6]]])
    found = service.post("/score", *BODIES[form](rows)).json()
    model, named = loaded(service, tmp_path), pd.DataFrame(rows, columns=["x", "y"])
    assert found["label"] == model.predict(named).tolist()
    assert found["id"] == found["label"]  # in the automatic mode
    assert found["typicality"] == np.exp(model.score_samples(named)).tolist()
    assert found["outlier"] == (-model.score_samples(named) > 3.0).tolist()
    assert found["outlier"][-1]
    assert not all(found["outlier"])


def test_scores_come_in_the_format_that_is_asked_for(service):
    rows = ndjson(stream(20, seed=5))
    plain = service.post("/score", rows).json()
    lines = service.post("/score", rows, Accept=NDJSON)
    assert lines.headers["content-type"] == NDJSON
    table = pa.Table.from_pylist([json.loads(line) for line in lines.body.splitlines()])
    assert table.to_pydict() == plain
    stream_of_arrow = service.post("/score", rows, Accept=ARROW)
    assert pa.ipc.open_stream(stream_of_arrow.body).read_all().to_pydict() == plain


def test_scoring_learns_nothing(service):
    before = service.get("/model").body
    service.post("/score", ndjson(stream(500, seed=6)))
    assert service.get("/model").body == before


def test_columns_may_come_in_any_order_and_with_others(service):
    row = {"z": "text", "y": 1.0, "x": 2.0}
    told = service.post("/score", json.dumps(row).encode()).json()
    assert told == service.post("/score", b"x,y\n2,1\n", CSV).json()


# What is asked


def test_clusters_and_structures_are_those_of_the_model(service, tmp_path):
    model = loaded(service, tmp_path)
    clusters, structures = (
        service.get(f"/{name}").json()[name] for name in ("clusters", "structures")
    )
    described = model.describe()
    assert [each["label"] for each in clusters] == described["label"].tolist()
    assert [list(each["centre"].values()) for each in clusters] == described["centre"].tolist()
    assert set(clusters[0]["centre"]) == {"x", "y"}
    assert len(structures) == len(model.structures_.mean)
    assert sum(each["count"] for each in clusters) <= model.n_samples_seen_


def test_events_go_on_after_the_last_one_that_is_known(service):
    events = service.get("/events").json()["events"]
    assert len(events) >= 4
    assert {each["event"] for each in events} <= {"birth", "death", "merge", "split", "move"}
    assert [each["number"] for each in events] == list(range(1, len(events) + 1))
    last = events[-1]["number"]
    assert service.get(f"/events?since={last - 2}").json()["events"] == events[-2:]
    assert service.get(f"/events?since={last}").json()["events"] == []
    # A number of a process of before: its events are not known, all of this one are new.
    assert service.get("/events?since=1000000").json()["events"] == events


@pytest.mark.parametrize("since", ["-1", "x", "%C2%B2", "1" * 5000, "1.5"])
def test_what_is_no_number_of_an_event_is_refused(service, since):
    answer = service.get(f"/events?since={since}")
    assert answer.status == 400
    assert answer.error.endswith("is not the number of an event.")


def messages(service, path, count, **headers):
    """The first server-sent events of a stream, as dictionaries."""
    connection = service.connection()
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        found, record, until = [], {}, time.monotonic() + SECONDS
        while len(found) < count:
            assert time.monotonic() < until, found
            name, _, value = answer.readline().decode().rstrip("\n").partition(": ")
            if name:
                record[name] = value
            elif "data" in record:
                found.append({**record, "data": json.loads(record["data"])})
                record = {}
        return found
    finally:
        connection.close()


def test_events_are_streamed_from_the_last_id_on(service):
    events = service.get("/events").json()["events"]
    assert len(events) > 2
    first = messages(service, "/events/stream", 2, **{"Last-Event-ID": "0"})
    assert [each["data"] for each in first] == events[:2]
    assert [each["event"] for each in first] == [each["event"] for each in events[:2]]
    assert [each["id"] for each in first] == ["1", "2"]
    (second,) = messages(service, "/events/stream", 1, **{"Last-Event-ID": "1"})
    assert second["data"] == events[1]
    (third,) = messages(service, "/events/stream?since=2", 1)
    assert third["data"] == events[2]
    (anew,) = messages(service, "/events/stream", 1, **{"Last-Event-ID": "99999999"})
    assert anew["data"] == events[0]


def test_the_page_gets_the_past_and_then_snapshots(service):
    past, snapshot, later = messages(service, "/live?x=y&y=x", 3)
    assert (past["event"], snapshot["event"]) == ("past", "snapshot")
    assert set(past["data"]["history"]) >= {"time", "rate", "clusters"}
    assert snapshot["data"]["source"] == "POST /learn"
    assert snapshot["data"]["view"] == {"x": "y", "y": "x", "projection": False}
    assert later["data"]["number"] > snapshot["data"]["number"]
    (_, projected) = messages(service, "/live?view=projection", 2)
    assert projected["data"]["view"]["projection"]
    (_, default) = messages(service, "/live?x=nothing&y=x", 2)
    assert default["data"]["view"] == {"x": "x", "y": "y", "projection": False}


def test_the_pages_files_are_there(service):
    """Those that documents name, and those that these name."""
    for path in ("/", "/docs"):
        page = service.get(path)
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'self'" in page.headers["content-security-policy"]
        named = re.findall(rb'(?:src|href)="?(/?[-\w./]+\.(?:json|js|css|svg))\b', page.body)
        assert named
        for file in named:
            assert service.get(f"/{file.decode().lstrip('/')}").status == 200, file


def test_it_is_alive_and_ready(service):
    assert service.get("/healthz").body == b"ok\n"
    assert service.get("/readyz").body == b"ready\n"
    assert service.ask("HEAD", "/healthz").status == 200


def test_the_description_has_every_path(service):
    described = service.get("/openapi.json").json()
    assert described["openapi"].startswith("3.")
    asked = {path for path, methods in described["paths"].items() if "get" in methods}
    assert asked >= {"/clusters", "/structures", "/events", "/model", "/metrics", "/healthz"}
    for path in asked - {"/events/stream", "/live"}:
        assert service.get(path).status == 200, path
    page = service.get("/docs").body.decode()
    assert all(path in page for path in described["paths"])


def test_metrics_are_those_that_prometheus_reads(service):
    answer = service.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    if shutil.which("promtool") is None:
        pytest.skip("no promtool: apt-get install prometheus")
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=answer.body, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_metrics_count(service):
    before = service.metric("spclust_rows_total")
    service.learn(stream(30, seed=7))
    service.wait_for_rows(before + 30)
    text = service.get("/metrics").body.decode()
    assert re.search(r'^spclust_answers_total\{path="/learn",status="200"\} \d', text, re.M)
    assert re.search(r'^spclust_events_total\{kind="birth"\} [1-9]', text, re.M)
    assert re.search(r'^spclust_typicality_bucket\{le="\+Inf"\} \d', text, re.M)
    for _ in waiting():  # what is read from the model is renewed once a second
        if service.metric("spclust_points_total") == before + 30:
            break
    assert service.metric("spclust_points_total") == before + 30
    assert service.metric("spclust_clusters") >= 4
    assert service.metric("spclust_memory_bytes") > 1e7


# What is refused

REFUSED = {
    "no body": (b"", NDJSON, 400, "The body has no rows."),
    "no rows": (b"x,y\n", CSV, 400, "The body has no rows."),
    "an empty array": (b"[]", JSON, 400, "The body has no rows."),
    "a number": (b"7", JSON, 422, "'the posted table', row 1: it is no JSON object."),
    "no JSON": (b"[{]", JSON, 400, "The body is no JSON: post an array of objects."),
    "deep JSON": (b"[" * 100_000, JSON, 400, "The body is no JSON: post an array of objects."),
    "a deep line": (b'{"x":' * 100_000, NDJSON, 422, "row 1: it is no JSON object."),
    "no Arrow": (b"nonsense", ARROW, 422, "is no Arrow IPC file or stream."),
    "no UTF-8": (b"x,y\n\xff\xfe,1\n", CSV, 422, "is not UTF-8 text"),
    "another type": (b"x", "application/pdf", 415, "Content-Type 'application/pdf' cannot be read"),
    "no type": (b"x", "", 415, "Content-Type '' cannot be read"),
    "a lack of columns": (b"x,z\n1,2\n", CSV, 422, "has no column 'y'"),
    "a lack of columns in a line": (b'{"x": 1}', NDJSON, 422, "row 1: column 'y' is empty."),
    "columns twice": (b"x,y,x\n1,2,3\n", CSV, 422, "has two columns 'x'"),
    "truth values": (b'{"x": true, "y": 1}', NDJSON, 422, "holds True, which is not a number"),
    "infinity": (b'{"x": 1e999, "y": 1}', NDJSON, 422, "holds inf, which is not finite"),
    "a long number": (b'{"x": 1, "y": 1%s}' % (b"0" * 5000), NDJSON, 422, "row 1: "),
    "ragged rows": (b"x,y\n1,2\n1,2,3\n", CSV, 422, "row 2: it has 3 cells where"),
}


@pytest.mark.parametrize("path", ["/learn", "/score"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_sentence(service, name, path):
    body, kind, status, sentence = REFUSED[name]
    before = service.metric("spclust_rows_total")
    answer = service.post(path, body, kind)
    assert answer.status == status, answer.body
    assert sentence in answer.error
    assert answer.error.endswith(".")
    assert "\n" not in answer.error
    assert service.metric("spclust_rows_total") == before


@pytest.mark.parametrize("path", ["/learn", "/score"])
def test_encodings_that_are_not_known_or_wrong_are_refused(service, path):
    body = ndjson(stream(10))
    whole = gzip.compress(body)
    for wrong in (body, whole[:-9], whole + whole, whole + b"more", b""):
        answer = service.post(path, wrong, Content_Encoding="gzip")
        assert answer.status == 400, answer
        assert "gzip" in answer.error
    assert service.post(path, body, Content_Encoding="br").status == 415


def test_a_bad_row_is_refused_as_the_command_does(service, tmp_path):
    text = b"x,y\n1,2\n3,what\n5,6\n"
    (tmp_path / "bad.csv").write_bytes(text)
    said = run("cluster", tmp_path / "bad.csv", "-q", "-c", "x,y", code=1).stderr
    answer = service.post("/learn", text, CSV)
    assert answer.status == 422
    expected, _, advice = said.strip().removeprefix("spclust: ").partition(" --on-bad-row")
    assert advice  # which is for the one who started the service
    assert answer.error == expected.replace(repr(str(tmp_path / "bad.csv")), "'the posted table'")


def test_other_methods_and_paths_are_refused(service):
    assert service.get("/learn").status == 405
    assert service.post("/clusters", b"").status == 405
    assert service.get("/nothing").status == 404


def test_a_long_key_is_refused(service):
    assert service.post("/learn", ndjson(stream(1)), Idempotency_Key="k" * 256).status == 400


def test_a_key_counts_once(service):
    rows, before = stream(40, seed=8), service.metric("spclust_rows_total")
    first = service.learn(rows, Idempotency_Key="forty")
    again = service.learn(rows, Idempotency_Key="forty")
    other = service.learn(rows[:10], Idempotency_Key="forty")  # whatever it has
    assert [each["repeated"] for each in (first, again, other)] == [False, True, True]
    assert [each["rows"] for each in (first, again, other)] == [40, 40, 40]
    service.learn(rows)
    service.wait_for_rows(before + 80)
    assert service.metric("spclust_rows_total") == before + 80


# Services of other kinds


def test_a_service_of_a_file_refuses_what_is_posted(of_a_file):
    answer = of_a_file.post("/learn", ndjson(stream(1)))
    assert answer.status == 409
    assert "rows.csv" in answer.error
    assert of_a_file.post("/score", ndjson(stream(1))).status == 200
    assert of_a_file.get("/readyz").status == 200


def test_bad_rows_are_left_out_if_that_is_wanted(tmp_path, quick):
    collected = tmp_path / "bad.ndjson"
    options = ("--columns", "x,y", "--on-bad-row", f"collect {collected}")
    with served(tmp_path, *options, command=quick) as service:
        only_bad = service.post("/learn", b"x,y\n,1\n", CSV)
        assert only_bad.json() == {"rows": 0, "bad_rows": 1, "repeated": False}
        answer = service.post("/learn", b"x,y\n1,2\n3,what\n5,6\n", CSV)
        assert answer.json() == {"rows": 2, "bad_rows": 1, "repeated": False}
        service.wait_for_rows(2)
        assert service.metric("spclust_bad_rows_total") == 2
        assert service.post("/score", b"x,y\n3,what\n", CSV).status == 422
    assert [json.loads(line)["value"] for line in collected.read_text().splitlines()] == [
        "",
        "what",
    ]


def test_rows_that_overflow_are_left_out_and_end_nothing(tmp_path, quick):
    with served(tmp_path, "--standardise", "--warmup", 20, command=quick) as service:
        service.learn(stream(30) * 1e-150)
        service.wait_for_rows(30)
        service.learn(np.concatenate([stream(10) * 1e-150, [[1e200, 0.0]]]))
        service.wait_for_rows(40)
        assert service.post("/score", ndjson(np.array([[1e200, 0.0]]))).status == 422
        service.learn(np.array([[1e200, 0.0]]))
        service.learn(stream(10) * 1e-150)
        service.wait_for_rows(50)
        assert loaded(service, tmp_path).n_samples_seen_ == 50
    assert "left out 1 posted rows that are too large to be standardised." in service.log()


def test_bad_rows_of_a_file_are_counted(tmp_path, quick):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "1,2\n3,\n" * 100)
    with served(tmp_path, path, "--on-bad-row", "skip", command=quick) as service:
        service.wait_for_rows(100)
        assert service.metric("spclust_bad_rows_total") == 100


def test_a_growing_file_is_followed(tmp_path, quick):
    path = csv_file(tmp_path / "rows.csv", 500)
    with served(tmp_path, path, "--follow", command=quick) as service:
        service.wait_for_rows(500)
        with path.open("a") as file:
            file.write('1.0,2.0,"more","c0"\n' * 10)
        service.wait_for_rows(510)
        assert service.get("/readyz").status == 200


def test_a_bad_file_ends_it_with_the_sentence_of_the_command(tmp_path, quick):
    path = tmp_path / "bad.csv"
    path.write_text("x,y\n1,2\n3,what\n")
    done = spclust("serve", "--port", 0, path, "--columns", "x,y", command=quick)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1].startswith(f"spclust: {str(path)!r}, row 2: ")


def test_a_port_that_is_taken_is_named(service, quick):
    done = spclust("serve", "--port", service.port, command=quick)
    assert done.returncode == 1
    assert f"port {service.port}: Address already in use." in done.stderr.decode()


# How it ends, and goes on


def test_without_a_row_it_ends_in_order(tmp_path, quick):
    with served(tmp_path, "--checkpoint", tmp_path / "state", command=quick) as service:
        assert service.end() == 0, service.log()
    assert "stopped after 0 rows" in service.log()


def test_open_streams_do_not_keep_it_from_ending(tmp_path, quick):
    with served(tmp_path, command=quick) as service:
        service.learn(stream(200))
        connections = [service.connection() for _ in range(4)]
        for connection, path in zip(connections, ["/live", "/events/stream"] * 2, strict=True):
            connection.request("GET", path)
            assert connection.getresponse().status == 200
        idle = service.socket()
        began = time.monotonic()
        assert service.end() == 0
        assert time.monotonic() - began < 4.0
        for connection in (*connections, idle):
            connection.close()


def test_the_end_finishes_the_queue_and_the_next_process_goes_on(tmp_path, quick):
    """Keys, columns and rows outlast a restart; two processes never share a checkpoint."""
    options = ("--checkpoint", tmp_path / "state", "--half-life", 500, "--columns", "x,y")
    rows = stream(60_000)
    with served(tmp_path, *options, command=quick) as service:
        service.learn(rows[:100], Idempotency_Key="first")
        second = spclust("serve", "--port", 0, *options, command=quick)
        assert second.returncode == 1
        assert re.fullmatch(
            r"spclust: The checkpoint '.*' is in use by process \d+: wait until it ends, or name "
            r"another file\.\n",
            second.stderr.decode(),
        )
        service.learn(rows[100:], Idempotency_Key="second")
        assert service.end() == 0
        assert "stopped after 60,000 rows; everything is saved." in service.log()
    with served(tmp_path, *options, command=quick) as service:
        while service.get("/readyz").status != 200:
            assert service.get("/healthz").status == 200
        assert len(service.get("/clusters").json()["clusters"]) >= 4
        assert "going on after row 60,000" in service.log()
        again = service.learn(rows[:100], Idempotency_Key="first")
        assert again == {"rows": 100, "bad_rows": 0, "repeated": True}
        service.learn(rows[:50], Idempotency_Key="third")
        service.wait_for_rows(50)
        model = loaded(service, tmp_path)
    undisturbed = SPC(half_life=500).partial_fit(rows).partial_fit(rows[:50])
    assert model.n_samples_seen_ == 60_050
    assert np.array_equal(model.structures_.mean, undisturbed.structures_.mean)
    assert np.array_equal(model.structures_.covariance, undisturbed.structures_.covariance)


def test_a_checkpoint_without_its_journal_is_refused(tmp_path, quick):
    options = ("--checkpoint", tmp_path / "state")
    with served(tmp_path, *options, command=quick) as service:
        service.learn(stream(100))
    shutil.rmtree(tmp_path / "state" / "posted")
    done = spclust("serve", "--port", 0, *options, command=quick)
    assert done.returncode == 1
    assert "does not belong to the checkpoint" in done.stderr.decode().splitlines()[-1]
