"""Requests of strangers: each is refused, with a line in the log, and the service goes on."""

import gzip
import http.client
import io
import json
import os
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress

import numpy as np
import pyarrow as pa
import pytest
from fuzz.inputs import mutants, valid_files

from tests.command.common import spclust
from tests.live.common import (
    ARROW,
    CSV,
    JSON,
    NDJSON,
    SECONDS,
    arrow,
    ndjson,
    needs_a_server,
    served,
    stream,
    waiting,
)

pytestmark = needs_a_server

TOKEN = "correct-horse-battery-staple+/="
GIGABYTE, LONGEST = 10**9, 16_000_000  # bytes of a body: too long, and the longest that is not
# `SPCLUST_CONNECTIONS=20000 pytest tests/live/test_attacks.py` is the long version.
CONNECTIONS = int(os.environ.get("SPCLUST_CONNECTIONS", "1000"))
MOST_MEMORY = 300_000_000  # bytes that an attack may add
KINDS = {".csv": CSV, ".tsv": "text/tab-separated-values", ".ndjson": NDJSON, "json": JSON}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A process of its own, whose memory can be measured."""
    folder = tmp_path_factory.mktemp("attacked")
    options = ("--columns", "x,y", "--on-bad-row", "skip", "--max-body", LONGEST)
    with served(folder, *options) as found:
        found.learn(stream(3000))
        found.post("/score", ndjson(stream(1000)))
        found.wait_for_rows(3000)
        yield found


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, quick):
    """One that needs a token, and has a name."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(f"{TOKEN}\n")
    options = ("--token-file", folder / "token", "--allowed-host", "stream.example.org")
    with served(folder, *options, command=quick) as found:
        yield found


@pytest.fixture(autouse=True)
def _unharmed(request):
    """After each test the service answers, quickly, and its memory is what it was, about."""
    if "service" not in request.fixturenames:
        yield
        return
    service = request.getfixturevalue("service")
    before = service.memory()
    yield
    wait_for_health(service)
    assert service.get("/healthz").body == b"ok\n"
    assert service.memory() < before + MOST_MEMORY
    assert "Traceback" not in service.log()


def wait_for_health(service):
    """Until connections that have ended are gone, and others are answered."""
    for _ in waiting():
        with suppress(OSError, http.client.HTTPException):
            if service.get("/healthz").status == 200:
                return


def new_lines(service, act):
    """What the service says while something is done, once it says anything."""
    before = len(service.lines())
    found = act()
    for _ in waiting():
        if len(service.lines()) > before:
            break
    return found, service.lines()[before:]


def sent(service, data, seconds=SECONDS):
    """What comes back for bytes, until the connection ends."""
    with service.socket(seconds) as connection, suppress(ConnectionError):
        connection.sendall(data)
        return received(connection)
    return b""


def received(connection):
    parts = []
    with suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status_of(data):
    return int(data.split(b" ", 2)[1]) if data.startswith(b"HTTP/1.1 ") else None


# Who may ask


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


WITHOUT = {
    "none": ("/clusters", {}),
    "a wrong one": ("/clusters", bearer("wrong" * 10)),
    "a part of it": ("/clusters", bearer(TOKEN[:-1])),
    "more than it": ("/clusters", bearer(TOKEN + "x")),
    "another way": ("/clusters", {"Authorization": f"Basic {TOKEN}"}),
    "not ASCII": ("/clusters", bearer("\xfc" * 30)),
    "a wrong cookie": ("/clusters", {"Cookie": "spclust_token=wrong"}),
    "an odd cookie": ("/clusters", {"Cookie": 'a="b; c[]=1; =; spclust_token'}),
    "a cookie of another name": ("/clusters", {"Cookie": f"token={TOKEN}"}),
    "in a wrong query": ("/clusters?token=wrong", {}),
    "in an empty query": ("/?token=", {}),
    "on the page": ("/", {}),
    "for a file of the page": ("/page/style.css", {}),
    "for metrics": ("/metrics", {}),
    "for what is not there": ("/nothing", {}),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_the_token_nothing_is_told(guarded, name):
    path, headers = WITHOUT[name]
    answer, said = new_lines(guarded, lambda: guarded.get(path, **headers))
    assert answer.status == 401
    assert answer.body.startswith(b"This service needs a token: ")
    assert len(said) == 1
    assert said[0].startswith("spclust: refused GET '/")
    assert TOKEN not in guarded.log()
    assert "wrong" not in guarded.log()


WITH = {
    "a header": ("/clusters", bearer(TOKEN)),
    "a cookie": ("/clusters", {"Cookie": f"spclust_token={TOKEN}"}),
    "a cookie among odd ones": ("/", {"Cookie": f'a[]="; b=1;spclust_token={TOKEN}; c'}),
    "a query": ("/clusters?token=correct-horse-battery-staple%2B%2F%3D", {}),
    "a query as it is": (f"/clusters?token={TOKEN}", {}),
    "nothing, for its health": ("/healthz", {}),
    "nothing, for its readiness": ("/readyz", {}),
}


@pytest.mark.parametrize("name", WITH)
def test_with_the_token_it_answers(guarded, name):
    path, headers = WITH[name]
    assert guarded.get(path, **headers).status == 200


def test_the_page_keeps_the_token_in_a_cookie(guarded):
    answer = guarded.get(f"/?token={TOKEN}")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert guarded.get("/", Cookie=cookie).status == 200


def test_posting_needs_the_token(guarded):
    assert guarded.post("/learn", ndjson(stream(1))).status == 401
    assert guarded.post("/learn", ndjson(stream(1)), **bearer(TOKEN)).status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_another_address_needs_a_token(host, quick):
    done = spclust("serve", "--port", 0, "--host", host, command=quick)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.startswith(f"spclust: Other machines can reach {host!r}: say --token-file FILE")
    assert said.count("\n") == 1


@pytest.mark.parametrize("token", [b"", b"short", b"with a space in the middle", b"\xff" * 20])
def test_a_token_that_cannot_be_sent_is_refused(token, quick, tmp_path):
    (tmp_path / "token").write_bytes(token)
    done = spclust("serve", "--port", 0, "--token-file", tmp_path / "token", command=quick)
    assert done.returncode == 1
    assert "must have 16 letters" in done.stderr.decode()


def test_with_a_token_it_may_listen_everywhere(quick, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    options = ("--host", "0.0.0.0", "--token-file", tmp_path / "token")
    with served(tmp_path, *options, command=quick) as service:
        assert service.get("/clusters", **bearer(TOKEN)).status == 200
        assert service.get("/clusters").status == 401


FOREIGN = ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "[", ""]


@pytest.mark.parametrize("host", FOREIGN)
def test_another_name_is_refused(service, host):
    """A site that gave itself this address would ask with its own name."""
    answer, said = new_lines(service, lambda: service.get("/clusters", Host=host))
    assert answer.status == 421
    assert b"is not known here" in answer.body
    assert len(said) == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:80", "192.0.2.7", "LOCALHOST"])
def test_own_names_and_addresses_are_known(service, host):
    assert service.get("/clusters", Host=host).status == 200


def test_allowed_names_are_known(guarded):
    given = bearer(TOKEN)
    assert guarded.get("/clusters", Host="stream.example.org", **given).status == 200
    assert guarded.get("/clusters", Host="other.example.org", **given).status == 421
    origin = "https://stream.example.org"
    rows = ndjson(stream(1))
    headers = {"Host": "stream.example.org", "Origin": origin, **given}
    assert guarded.post("/learn", rows, **headers).status == 200


CROSS = {
    "origin": {"Origin": "https://evil.example"},
    "origin without a name": {"Origin": "null"},
    "origin that is none": {"Origin": "http://["},
    "origin at another port": {"Origin": "http://127.0.0.1:1"},
    "another site": {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
    "another port of this name": {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", CROSS)
def test_pages_of_other_sites_are_refused(service, name, method):
    before = service.metric("spclust_rows_total")
    headers = {**CROSS[name], "Content_Type": "text/plain"}
    answer, said = new_lines(
        service, lambda: service.ask(method, "/learn", ndjson(stream(1)), **headers)
    )
    assert answer.status == 403
    assert len(said) == 1
    assert "access-control-allow-origin" not in answer.headers
    assert service.metric("spclust_rows_total") == before


def test_a_form_of_another_site_is_refused(service):
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert service.post("/learn", ndjson(stream(1)), **headers).status == 403


def test_a_link_of_another_site_and_the_own_page_are_answered(service):
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    answer = service.get("/", **headers)
    assert answer.status == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    own = {"Origin": f"http://127.0.0.1:{service.port}", "Sec_Fetch_Site": "same-origin"}
    assert service.post("/score", ndjson(stream(1)), **own).status == 200


TRAVERSALS = [
    "/page/../guard.py",
    "/page/..%2fguard.py",
    "/page/%2e%2e/guard.py",
    "/page/..%5cguard.py",
    "/page//etc/passwd",
    "/page/%2Fetc/passwd",
    "/page/scatter/../../service.py",
    "/page/style.css%00.js",
    "/page/" + "a/" * 20_000,
    "/page/" + "../" * 50 + "etc/passwd",
    "/page/",
    "/page/scatter",
]


@pytest.mark.parametrize("path", TRAVERSALS, ids=range(len(TRAVERSALS)))
def test_no_other_file_is_served(service, path):
    answer = service.get(path)
    assert answer.status in (400, 404)
    assert b"import" not in answer.body
    assert b"root:" not in answer.body


# Bodies


def head(path="/learn", **headers):
    named = {"Host": "127.0.0.1", "Content-Type": NDJSON, **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode()


@pytest.mark.parametrize("path", ["/learn", "/score", "/healthz"])
def test_a_long_body_is_refused_before_it_is_sent(service, path):
    """It is answered at once, and then not read for long."""
    with service.socket() as connection:
        began = time.monotonic()
        connection.sendall(head(path, **{"Content-Length": GIGABYTE}))
        start = connection.recv(4096)
        assert status_of(start) == (405 if path == "/healthz" else 413)
        assert flood(connection, b"x" * 100_000, GIGABYTE) < GIGABYTE // 4
        assert time.monotonic() - began < SECONDS


def flood(connection, part, most):
    """Send a part again and again, until it is not taken any more; return how much was."""
    total = 0
    with suppress(OSError):
        while total < most:
            connection.sendall(part)
            total += len(part)
    return total


@pytest.mark.parametrize("size", [50_000, 4])
def test_a_long_body_without_a_length_is_refused_early(service, size):
    """In chunks of many bytes, or of a few each."""
    part = b"%x\r\n%s\r\n" % (size, b"x" * size)
    before, highest = service.memory(), 0
    with service.socket() as connection:
        connection.sendall(head(**{"Transfer-Encoding": "chunked"}))
        block = part * (200_000 // len(part))
        taken = 0
        with suppress(OSError):
            for number in range(GIGABYTE // len(block)):
                connection.sendall(block)
                taken += len(block)
                if number % 50 == 0:
                    highest = max(highest, service.memory())
        assert taken < GIGABYTE // 4
        with suppress(ConnectionError):
            assert status_of(connection.recv(4096)) in (413, None)
    assert highest < before + MOST_MEMORY


def test_a_gzip_bomb_is_refused(service):
    bomb = gzip.compress(bytes(200_000_000))
    assert len(bomb) < 300_000
    for path in ("/learn", "/score"):
        before = service.memory()
        answer, said = new_lines(
            service, lambda path=path: service.post(path, bomb, Content_Encoding="gzip")
        )
        assert len(said) == 1
        assert answer.status == 413
        assert answer.error == "The body has more than 16,000,000 bytes when it is decompressed."
        assert service.memory() < before + MOST_MEMORY


def nulls(cells):
    """A column of nulls has no bytes, however many there are."""
    return pa.Array.from_buffers(pa.null(), cells, [None])


def null_rows(rows):
    return arrow(pa.table({"x": nulls(rows), "y": nulls(rows)}))


def nested_nulls():
    many = pa.ListArray.from_arrays(pa.array([0, 2**31 - 2], pa.int32()), nulls(2**31 - 2))
    return arrow(pa.table({"x": many, "y": [1.0]}))


def repeated_text():
    text = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), pa.array(["z" * 10**6]))
    return arrow(pa.table({"x": text, "y": np.zeros(100_000)}))


BOMBS = {
    "compressed Arrow": (
        lambda: arrow(
            pa.table({"x": np.zeros(10**7), "y": np.zeros(10**7)}),
            options=pa.ipc.IpcWriteOptions(compression="zstd"),
        ),
        ARROW,
        422,
        "has compressed buffers",
    ),
    "rows without bytes": (lambda: null_rows(2 * 10**9), ARROW, 422, "2,000,000,000 rows"),
    "bad rows without bytes": (lambda: null_rows(10**6), ARROW, 422, "10,000 bad rows"),
    "cells without bytes": (nested_nulls, ARROW, 422, "is of type list"),
    "a text of many cells": (repeated_text, ARROW, 422, "has large dictionaries"),
    "many rows": (lambda: b"x,y\n" + b"1,2\n" * 1_000_001, CSV, 413, "1,000,000 rows"),
    "many bad rows": (lambda: b"x,y\n" + b"1,\n" * 20_000, CSV, 422, "10,000 bad rows"),
    "many columns": (
        lambda: ",".join(f"c{i}" for i in range(100_000)).encode() + b",x,y\n",
        CSV,
        413,
        "100,002 columns",
    ),
    "many columns twice": (
        lambda: ",".join(f"c{i}" for i in range(100_000)).encode() + b",last,last\n",
        CSV,
        422,
        "has two columns 'last'",
    ),
    "an array of nothing": (lambda: b"[" + b"{}," * 3_000_000 + b"{}]", JSON, 413, "post NDJSON"),
    "a line of lists": (
        lambda: b'{"x": [' + b"[]," * 3_000_000 + b"[]]}",
        NDJSON,
        413,
        "A line of",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bodies_that_stand_for_more_than_they_have_are_refused(service, name):
    make, kind, status, sentence = BOMBS[name]
    body = make()
    before, began = service.memory(), time.monotonic()
    for path in ("/learn", "/score"):
        answer, said = new_lines(service, lambda path=path: service.post(path, body, kind))
        assert [line[:42] for line in said] == [
            f"spclust: refused POST {path} from 127.0.0.1: "[:42]
        ]
        if path == "/score" and status == 422 and "bad rows" in sentence:
            status, sentence = 422, "row 1"  # which is enough
        assert answer.status == status, answer.body[:300]
        assert sentence in answer.error
        assert service.memory() < before + 2 * MOST_MEMORY
    assert time.monotonic() - began < SECONDS


def test_damaged_bodies_are_refused_in_one_sentence(service):
    """Or accepted, if they can be read: never with a traceback."""
    rng, statuses = np.random.default_rng(0), set()
    connection, posted = service.connection(), 0
    for name, data in mutants(rng):
        ending = name[name.rindex(".") :]
        kind = KINDS.get(ending, ARROW)
        if ending in (".parquet", ".gz"):
            continue
        if ending == ".ndjson" and posted % 2:
            kind = JSON
        path = "/learn" if posted % 3 else "/score"
        connection.request("POST", path, data, {"Content-Type": kind})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        statuses.add(answer.status)
        assert answer.status in (200, 400, 413, 422), (name, told)
        if answer.status != 200:
            assert told["error"].endswith("."), told
            assert "\n" not in told["error"]
        posted += 1
        if posted == 500:
            break
    connection.close()
    assert statuses >= {200, 400, 422}


def test_random_bytes_are_refused_for_each_content_type(service):
    rng = np.random.default_rng(1)
    seen = set()
    for kind in (*KINDS.values(), ARROW, "text/plain", "x" * 1000, "application/json;;;="):
        for size in (1, 30, 1000, 100_000):
            body = rng.bytes(size)
            for encoding in ("identity", "gzip"):
                answer = service.post("/learn", body, kind, Content_Encoding=encoding)
                seen.add(answer.status)
                assert answer.status in (200, 400, 413, 415, 422), answer
                assert answer.status != 200 or answer.json()["rows"] == 0  # bad rows, left out
    assert seen >= {400, 415, 422}


def test_the_valid_files_of_the_fuzzer_are_accepted(service):
    accepted = 0
    for name, data in valid_files(np.random.default_rng(0)).items():
        if name.endswith((".parquet", ".gz", "zstd.arrows")):
            continue
        kind = KINDS.get(name[name.rindex(".") :], ARROW)
        answer = service.post("/learn", data, kind)
        assert answer.json() == {"rows": 40, "bad_rows": 0, "repeated": False}, name
        accepted += 1
    assert accepted >= 8


# Connections


def test_many_connections_that_open_and_close(service):
    """Some are reset, some say a little before, and none is left."""
    before = service.memory()
    address = ("127.0.0.1", service.port)
    reset = struct.pack("ii", 1, 0)
    for number in range(CONNECTIONS):
        with socket.socket() as connection:
            connection.settimeout(SECONDS)
            connection.connect(address)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            if number % 4 == 1:
                connection.send(b"GET / HT")
            if number % 4 == 2:
                connection.send(head(**{"Content-Length": 100}) + b"{")
    wait_for_health(service)
    assert service.memory() < before + MOST_MEMORY


def test_more_connections_than_are_allowed_are_closed(service):
    def open_many():
        with ExitStack() as stack:
            for _ in range(300):
                connection = stack.enter_context(service.socket())
                with suppress(ConnectionError):
                    connection.sendall(b"G")
            with suppress(ConnectionError):
                return connection.recv(1) == b""  # the last one
            return True

    refused, said = new_lines(service, open_many)
    assert refused
    assert {line for line in said if "too many connections" in line} == {
        "spclust: closed a connection from 127.0.0.1: there are too many connections"
    }


def test_no_more_readers_than_are_allowed(service):
    with ExitStack() as stack:
        for path in ("/live", "/events/stream"):
            answers = []
            for _ in range(65):
                connection = service.connection()
                stack.callback(connection.close)
                connection.request("GET", path)
                answer = connection.getresponse()
                if answer.status == 200:
                    answer.readline()  # it is read: it counts
                answers.append(answer.status)
            assert answers == [200] * 64 + [503]
    for _ in waiting():  # until they are gone
        if service.metric("spclust_readers") == 0:
            break
    for path in ("/live", "/events/stream"):
        connection = service.connection()
        connection.request("GET", path)
        assert connection.getresponse().status == 200
        connection.close()


def test_slow_requests_end(service):
    """Headers and bodies byte by byte, answers that are not read, connections that say nothing."""
    ends, began = {}, time.monotonic()

    def drip(name, start, part):
        with service.socket() as connection, suppress(OSError):
            connection.settimeout(0.5)
            connection.sendall(start)
            while time.monotonic() - began < SECONDS:
                connection.sendall(part)
                try:
                    found = connection.recv(4096)
                except TimeoutError:
                    continue
                ends[name] = status_of(found)
                return
        ends[name] = None

    chunked = head(**{"Transfer-Encoding": "chunked"})
    requests = {
        "headers": (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"a: b\r\n"),
        "a request line": (b"GET /", b"a"),
        "nothing": (b"", b""),
        "a body": (head(**{"Content-Length": 1000}), b"x"),
        "a body in chunks": (chunked, b"1\r\nx\r\n"),
        "headers after a body": (chunked + b"0\r\n", b"a: b\r\n"),
        "a body for a path that is not there": (head("/nothing", **{"Content-Length": 999}), b"x"),
        "a second request": (
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: y\r\n\r\n" * 2 + b"GET / HT",
            b"T",
        ),
    }
    threads = [
        threading.Thread(target=drip, args=(name, *parts)) for name, parts in requests.items()
    ]
    unread = service.socket()
    unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    unread.sendall(b"GET /page/vendor/uPlot.iife.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert set(ends) == set(requests)
    slow = ("a body", "a body in chunks", "headers after a body")
    assert {name: ends[name] for name in slow} == dict.fromkeys(slow, 408)
    assert ends["headers"] is None
    assert ends["nothing"] is None
    for _ in waiting():
        if any("its answer is not read" in line for line in service.lines()):
            break
    assert any("its answer is not read" in line for line in service.lines())
    unread.close()
    assert sum("its headers took too long" in line for line in service.lines()) >= 3
    assert sum("The body comes too slowly." in line for line in service.lines()) >= 3
    assert all(line.startswith("spclust: ") for line in service.lines())


# What is no good HTTP


INVALID = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "no method": b"NONSENSE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "two lengths": head(**{"Content-Length": "5\r\nContent-Length: 6"}) + b"12345",
    "a length that is none": head(**{"Content-Length": "-5"}),
    "length and chunks": head(**{"Content-Length": 5, "Transfer-Encoding": "chunked"}) + b"0\r\n",
    "chunks of no length": head(**{"Transfer-Encoding": "chunked"}) + b"zz\r\n",
    "a header with a null": b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
    "a header with a space": b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n more\r\n\r\n",
    "a path that is none": b"GET \xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a tunnel": b"CONNECT example.org:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a header of 1 MB": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 10**6 + b"\r\n\r\n",
    "headers of 1 MB": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 170_000 + b"\r\n",
    "headers of 100 kB": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 10**5 + b"\r\n\r\n",
    "a path of 1 MB": b"GET /" + b"x" * 10**6 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_good_http_is_refused(service, name):
    answer, said = new_lines(service, lambda: sent(service, INVALID[name]))
    assert status_of(answer) in (400, None)
    assert len(said) == 1, said
    assert said[0].startswith("spclust: ")


def test_other_hosts_in_the_request_line_and_twice(service):
    absolute = b"GET http://evil.example/clusters HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    with service.socket() as connection:
        connection.sendall(absolute)
        assert status_of(connection.recv(4096)) == 421
    without = b"GET /clusters HTTP/1.0\r\n\r\n"
    assert status_of(sent(service, without)) == 421


def test_an_upgrade_is_not_made(service):
    asked = (
        b"GET /clusters HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"
    )
    with service.socket() as connection:
        connection.sendall(asked)
        assert status_of(connection.recv(4096)) == 200


def test_headers_after_a_body_are_not_kept(service):
    """There could be any number of them."""
    rows = ndjson(stream(5))
    trailers = b"X-Forwarded-Host: evil\r\nHost: evil\r\n" * 100
    chunks = b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(rows), rows, trailers)
    with service.socket() as connection:
        connection.sendall(head("/score", **{"Transfer-Encoding": "chunked"}) + chunks)
        connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        assert received(connection).count(b"HTTP/1.1 200 OK") == 2


def test_many_requests_in_one_go_are_answered_in_order(service):
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2000
    last = b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
    answer = io.BytesIO(sent(service, asked + last)).getvalue()
    assert answer.count(b"HTTP/1.1 200 OK") == 2001
