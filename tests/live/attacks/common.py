"""Requests as bytes, and what comes back for them."""

import http.client
from contextlib import suppress

from tests.live.common import NDJSON, SECONDS, waiting

TOKEN = "correct-horse-battery-staple+/="
LONGEST = 16_000_000  # bytes of a body
MOST_MEMORY = 300_000_000  # bytes that an attack may add


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


def head(path="/learn", **headers):
    named = {"Host": "127.0.0.1", "Content-Type": NDJSON, **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode()
