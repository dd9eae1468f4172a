"""Connections: many, slow, and more than are allowed."""

import os
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress

from tests.live.attacks.common import (
    MOST_MEMORY,
    head,
    new_lines,
    status_of,
    wait_for_health,
)
from tests.live.common import (
    SECONDS,
    needs_a_server,
    waiting,
)

pytestmark = needs_a_server

# `SPCLUST_CONNECTIONS=20000 pytest tests/live/attacks` is the long version.
CONNECTIONS = int(os.environ.get("SPCLUST_CONNECTIONS", "1000"))


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
