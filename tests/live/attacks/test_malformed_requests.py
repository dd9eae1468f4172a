"""What is no good HTTP is refused, with a line in the log."""

import io

import pytest

from tests.live.attacks.common import (
    head,
    new_lines,
    received,
    sent,
    status_of,
)
from tests.live.common import (
    ndjson,
    needs_a_server,
    stream,
)

pytestmark = needs_a_server


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
