"""The service against the command: `python -m benchmarks.live`, a table on the terminal.

`spclust cluster` and `spclust serve` read a stream from the same pipe, the latter while ten readers
are connected to its page. Then `cluster` reads a file, and `serve` gets its rows posted, a thousand
at a time. Rows a second are those after the first tenth, which is the start: modules and kernels
are loaded. Clients share the cores with the service: they only send bytes that were made before,
and wait for the answer. With --minutes, rows are posted for so long while five readers never read,
and the memory of the service is printed every ten seconds.
"""

import argparse
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import stored
from benchmarks.clocked import SAID

ROWS_POSTED = 1000  # at a time
READERS = 10
CLIENTS = 2
START = 10  # of so many parts the first one is not measured
NDJSON, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


def stream(rows: int, d: int) -> NDArray[np.float64]:
    """Gaussian clusters."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (7, d))
    return centres[rng.integers(0, 7, rows)] + rng.normal(size=(rows, d))


def bodies(X: NDArray[np.float64], kind: str) -> list[bytes]:
    """The rows as bodies of requests."""
    names, found = _names(X), []
    for start in range(0, len(X), ROWS_POSTED):
        part = X[start : start + ROWS_POSTED]
        if kind == NDJSON:
            lines = (json.dumps(dict(zip(names, row, strict=True))) for row in part.tolist())
            found.append(("\n".join(lines) + "\n").encode())
        else:
            sink = io.BytesIO()
            table = pa.table(dict(zip(names, part.T, strict=True)))
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            found.append(sink.getvalue())
    return found


def _names(X: NDArray[np.float64]) -> list[str]:
    return [f"x{i}" for i in range(X.shape[1])]


class Clocked:
    """The command in a process of its own, with a clock."""

    def __init__(self, *arguments: str, skipped: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.clocked", str(skipped), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def said(self, pattern: str) -> str:
        """The group of a pattern in the next line on standard error that has one."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(pattern, line):
                return found[1]
        raise SystemExit("the command failed")

    def rate(self) -> float:
        """Rows a second, after the end."""
        found = float(self.said(rf"{SAID} (\S+)"))
        self._process.wait(60)
        return found


class Service(Clocked):
    """A service in a process of its own."""

    def __init__(self, *arguments: str, skipped: int = 0) -> None:
        super().__init__("serve", *arguments, "--port", "0", skipped=skipped)
        self.port = int(self.said(r"127\.0\.0\.1:(\d+)"))

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        return connection.getresponse().read()

    def metric(self, name: str) -> float:
        """The value of a metric."""
        found = re.search(rf"^{name} (\S+)$", self.get("/metrics").decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def wait_for(self, rows: int) -> float:
        """The time when so many rows were learnt."""
        begun, before = time.perf_counter(), self.metric("spclust_rows_total")
        learnt, pause = before, 0.005
        while learnt < rows:
            time.sleep(pause)
            learnt = self.metric("spclust_rows_total")
            # Asking costs the service time, too: wait for half of the time that is left.
            left = (rows - learnt) * (time.perf_counter() - begun) / max(learnt - before, 1.0)
            pause = min(max(0.5 * left, 0.005), 0.5)
        return time.perf_counter()

    def close(self) -> float:
        """End it as systemd does; return rows a second."""
        self._process.send_signal(signal.SIGTERM)
        return self.rate()


def read_page(port: int, count: int, *, stalled: bool = False) -> list[socket.socket]:
    """Connect readers to the page; stalled ones never read."""
    readers = []
    for _ in range(count):
        reader = socket.create_connection(("127.0.0.1", port))
        reader.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        readers.append(reader)
        if not stalled:
            threading.Thread(target=_drain, args=(reader,), daemon=True).start()
    return readers


def _drain(reader: socket.socket) -> None:
    try:
        while reader.recv(1 << 16):
            pass
    except OSError:
        pass


def requests(kind: str, given: list[bytes]) -> list[bytes]:
    """Requests that post bodies, with their headers."""
    head = f"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in given]


def post(port: int, given: list[bytes], until: float | None = None) -> int:
    """Send requests one after the other, again and again until a time; return how many."""
    connection = socket.create_connection(("127.0.0.1", port))
    posted = 0
    while True:
        for request in given:
            while (answer := _answer(connection, request)).startswith(b"HTTP/1.1 503 "):
                time.sleep(0.05)
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise SystemExit(answer.decode())
            posted += 1
            if until is not None and time.monotonic() > until:
                return posted
        if until is None:
            return posted


def _answer(connection: socket.socket, request: bytes) -> bytes:
    """The answer to a request: an object of JSON, without objects inside."""
    connection.sendall(request)
    answer = b""
    while not answer.endswith(b"}"):
        more = connection.recv(1 << 16)
        if not more:
            raise SystemExit("the service closed the connection")
        answer += more
    return answer


def command(path: Path, rows: int, *arguments: str) -> float:
    """Rows a second of `spclust cluster`, which reads a file."""
    return Clocked("cluster", str(path), *arguments, skipped=rows // START).rate()


def piped(path: Path, rows: int) -> float:
    """Rows a second of `spclust cluster`, which reads what a file has from a pipe."""
    with _pipe(path) as pipe:
        process = Clocked("cluster", str(pipe), skipped=rows // START)
        _fill(pipe, path)
        return process.rate()


def served(path: Path, rows: int) -> float:
    """Rows a second of `spclust serve` with readers, which are there before the first row."""
    with _pipe(path) as pipe:
        service = Service(str(pipe), skipped=rows // START)
        readers = read_page(service.port, READERS)
        _fill(pipe, path)
        service.wait_for(rows)
    for reader in readers:
        reader.close()
    return service.close()


@contextmanager
def _pipe(path: Path) -> Iterator[Path]:
    """A named pipe for what a file has."""
    fifo = path.with_suffix(".fifo" + path.suffix)
    os.mkfifo(fifo)
    try:
        yield fifo
    finally:
        fifo.unlink()


def _fill(pipe: Path, path: Path) -> None:
    data = path.read_bytes()
    with open(pipe, "wb") as file:  # opening it lets the other side begin
        file.write(data)


def posted(given: list[bytes], *arguments: str) -> float:
    """Rows a second that are posted and learnt, by clients in processes of their own."""
    service, start = Service(*arguments), len(given) // START
    post(service.port, given[:start])
    service.wait_for(start * ROWS_POSTED)
    begun = time.perf_counter()
    children = []
    for i in range(CLIENTS):
        child = os.fork()
        if child == 0:
            post(service.port, given[start + i :: CLIENTS])
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    rows = len(given) * ROWS_POSTED
    seconds = service.wait_for(rows) - begun
    service.close()
    return (rows - start * ROWS_POSTED) / seconds


def soak(minutes: float) -> None:
    """Post for some minutes while readers stall, and print the memory of the service."""
    service = Service("--half-life", "10000")
    given = requests(ARROW, bodies(stream(200_000, 2), ARROW))
    stalled = read_page(service.port, 5, stalled=True)
    read_page(service.port, 5)
    until = time.monotonic() + 60.0 * minutes
    threading.Thread(target=post, args=(service.port, given, until), daemon=True).start()
    while time.monotonic() < until:
        time.sleep(10.0)
        rows, memory = service.metric("spclust_rows_total"), service.metric("spclust_memory_bytes")
        print(f"{rows:16,.0f} rows, {memory / 1e6:7.1f} MB", flush=True)
    for reader in stalled:
        reader.close()
    service.close()


def main(argv: list[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, help="only watch the memory, for so long")
    stored.add_option(parser)
    options = parser.parse_args(argv)
    if options.minutes:
        soak(options.minutes)
        return
    figures: dict[str, float] = {}
    for d in options.columns:
        X = stream(options.rows, d)
        table = Table(title=f"{options.rows:,} rows of {d} columns, best of {options.rounds}")
        for title in ("", "cluster, rows/s", "serve, rows/s", "share", "bound"):
            table.add_column(title, justify="right")
        with tempfile.TemporaryDirectory() as name:
            for row in measured(Path(name), X, options.rounds):
                table.add_row(*row)
                for what, cell in zip(("cluster", "serve", "share, %"), row[1:], strict=False):
                    figures[f"{d}-D/{row[0]}/{what}"] = stored.number(cell)
        Console().print(table)
    if options.store:
        stored.store("live", figures, options)


def measured(folder: Path, X: NDArray[np.float64], rounds: int) -> list[tuple[str, ...]]:
    """A row of the table for each way."""
    ndjson, arrow = folder / "rows.ndjson", folder / "rows.arrows"
    lines = bodies(X, NDJSON)
    ndjson.write_bytes(b"".join(lines))
    table = pa.table(dict(zip(_names(X), X.T, strict=True)))
    with pa.OSFile(str(arrow), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as file:
        file.write_table(table, max_chunksize=10_000)
    posts = {NDJSON: requests(NDJSON, lines), ARROW: requests(ARROW, bodies(X, ARROW))}
    n, number = len(X), count()

    def checkpoint() -> tuple[str, str]:
        return "--checkpoint", str(folder / f"state-{next(number)}")

    ways: dict[str, tuple[Callable[[], float], Callable[[], float], str]] = {
        f"a pipe, {READERS} readers": (lambda: piped(arrow, n), lambda: served(arrow, n), "90%"),
        "posted NDJSON": (lambda: command(ndjson, n), lambda: posted(posts[NDJSON]), "50%"),
        "posted Arrow": (lambda: command(arrow, n), lambda: posted(posts[ARROW]), "80%"),
        "posted Arrow, checkpoint": (
            lambda: command(arrow, n, *checkpoint()),
            lambda: posted(posts[ARROW], *checkpoint()),
            "",
        ),
    }
    rows: list[tuple[str, ...]] = []
    for what, (one, other, bound) in ways.items():
        both = [(one(), other()) for _ in range(rounds)]
        ours, theirs = max(other for _, other in both), max(one for one, _ in both)
        rows.append((what, f"{theirs:,.0f}", f"{ours:,.0f}", f"{ours / theirs:.0%}", bound))
    return rows


if __name__ == "__main__":
    main()
