"""What is refused, in one sentence: bodies, encodings, bad rows, methods, keys."""

import gzip

import pytest

from tests.command.common import run
from tests.live.common import ARROW, CSV, JSON, NDJSON, ndjson, needs_a_server, stream

pytestmark = needs_a_server


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
