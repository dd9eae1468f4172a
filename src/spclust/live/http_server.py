"""The HTTP server in a thread of its own, with limits that uvicorn does not have."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any, Self

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 256
HEADER_SECONDS = 10.0  # from the first byte of a request to the end of its headers
HEADER_BYTES = 65536
STALLED_SECONDS = 10.0  # without a byte of the answer being read
_LINGER, _LINGER_BYTES = 2.0, 100_000_000  # seconds and bytes of the rest of a refused body
_BACKLOG = 128
_GRACE = 5  # seconds for answers that are under way at the end

logger = logging.getLogger("spclust.live")


class _Timer:
    """Calls a function after some seconds, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    def __bool__(self) -> bool:
        return self._handle is not None

    def start(self, seconds: float, call: Callable[..., None], *args: Any) -> None:
        self.stop()
        self._handle = self._loop.call_later(seconds, call, *args)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class _JoinedWrites:
    """A transport that sends all that is written in one step of the event loop at once.

    uvicorn writes the headers and the body of an answer one by one. Sent together they wake the
    client once, and the GIL is released once: a twentieth to a tenth more rows a second.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)

    def _send(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed if it takes too long, is too large, or is one of too many."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline = _Timer(self.loop)  # runs while headers are waited for,
        self._stall = _Timer(self.loop)  # while an answer waits to be read,
        self._linger = _Timer(self.loop)  # and while the rest of a body is read for nothing
        self._header_bytes = self._lingered_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the headers of a request."""
        super().connection_made(_JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse("there are too many connections")
            return
        self._wait()

    def _wait(self) -> None:
        self._header_bytes = 0
        self._deadline.start(HEADER_SECONDS, self._refuse, "its headers took too long")

    def _refuse(self, why: str) -> None:
        self._deadline.stop()
        if not self.transport.is_closing():
            self._end(why)

    def _end(self, why: str) -> None:
        client = self.client[0] if self.client else "?"
        logger.warning("closed a connection from %s: %s", client, why)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read bytes of a request."""
        if self._linger:
            self._lingered_bytes += len(data)
            if self._lingered_bytes > _LINGER_BYTES:
                self.transport.abort()
                return
        self._header_bytes += len(data)
        super().data_received(data)
        if self._deadline and self._header_bytes > HEADER_BYTES:
            self._refuse("its headers are too long")

    def on_message_begin(self) -> None:
        """A request begins, perhaps the second one of this connection."""
        super().on_message_begin()
        if not self._deadline:
            self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header of a request; those after a body are not needed, and could be any number."""
        if self._deadline:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The headers are there."""
        self._deadline.stop()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEADER_BYTES:
            raise ValueError("its headers are too long")  # which is answered by 400
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """The answer is written; if that was before the end of the body, there is little left."""
        super().on_response_complete()
        cycle = self.cycle
        if cycle.response_complete and cycle.more_body and not self.transport.is_closing():
            # Who sends a body reads no answer before the end of it, if it is not given some time.
            self._lingered_bytes = 0
            self._linger.start(_LINGER, self.transport.abort)

    def on_message_complete(self) -> None:
        """The body has ended."""
        super().on_message_complete()
        self._linger.stop()

    def pause_writing(self) -> None:
        """More is written than is read: wait until it is read, but not for ever."""
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def _watch(self, unread: int) -> None:
        self._stall.start(STALLED_SECONDS, self._require_progress, unread)

    def _require_progress(self, before: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread >= before:
            self._end("its answer is not read")
        else:
            self._watch(unread)

    def resume_writing(self) -> None:
        """Most of what was written is read."""
        super().resume_writing()
        self._stall.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._deadline.stop()
        self._stall.stop()
        self._linger.stop()
        super().connection_lost(exc)


class HttpServer:
    """A server of an application, which listens as soon as it is made."""

    def __init__(self, app: Any, host: str, port: int) -> None:
        """Listen; OSError if that is not possible, because a port is taken for example."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # With its protocol, without which asyncio would not switch Nagle's algorithm off.
        self._socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        self.host, self.port = host, int(self._socket.getsockname()[1])
        config = uvicorn.Config(
            app,
            http=LimitedProtocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_GRACE,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="spclust http", daemon=True
        )

    @property
    def url(self) -> str:
        """The address of the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            threading.Event().wait(0.01)
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Let answers that are under way end, and close."""
        self._server.should_exit = True
        self._thread.join(_GRACE + 2)
        self._socket.close()
