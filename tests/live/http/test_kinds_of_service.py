"""Services of files, and those that leave bad rows out."""

import json

import numpy as np

from tests.command.common import csv_file, spclust
from tests.live.common import CSV, ndjson, needs_a_server, served, stream
from tests.live.http.common import loaded

pytestmark = needs_a_server


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
