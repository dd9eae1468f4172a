"""The service against the command: `python -m benchmarks.live`, a table on the terminal.

`spclust cluster` reads a stream from a file. `spclust serve` reads the same file while ten readers
are connected to its page, and gets the same rows posted, a thousand at a time. Rows a second are
those from the first row to the last, without the start. With --minutes, rows are posted for so long
while five readers never read, and the memory of the service is printed every ten seconds.
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
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

ROWS_POSTED = 1000  # at a time
READERS = 10
CLIENTS = 2
NDJSON, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


def stream(rows: int, d: int) -> NDArray[np.float64]:
    """Gaussian clusters."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (7, d))
    return centres[rng.integers(0, 7, rows)] + rng.normal(size=(rows, d))


def bodies(X: NDArray[np.float64], kind: str) -> list[bytes]:
    """The rows as bodies of requests."""
    names = [f"x{i}" for i in range(X.shape[1])]
    found = []
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


class Service:
    """A service in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "spclust.cli", "serve", *arguments, "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        while not (found := re.search(r"127\.0\.0\.1:(\d+)", self._process.stderr.readline())):
            if self._process.poll() is not None:
                raise SystemExit("the service did not start")
        self.port = int(found[1])

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
        while self.metric("spclust_rows_total") < rows:
            time.sleep(0.1)  # asking costs the service time, too
        return time.perf_counter()

    def close(self) -> None:
        """End it as systemd does."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)


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


def post(port: int, kind: str, given: list[bytes], until: float | None = None) -> int:
    """Post bodies one after the other, again and again until a time; return how many."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    posted = 0
    while True:
        for body in given:
            if until is not None and time.monotonic() > until:
                return posted
            connection.request("POST", "/learn", body, {"Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 503:
                time.sleep(0.05)
            elif answer.status != 200:
                raise SystemExit(text.decode())
            else:
                posted += 1
        if until is None:
            return posted


def command(path: Path, *arguments: str) -> float:
    """Rows a second of `spclust cluster`."""
    done = subprocess.run(
        [sys.executable, "-m", "spclust.cli", "cluster", str(path), *arguments, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    found: float = json.loads(done.stdout)["rows_per_second"]
    return found


def served(path: Path, rows: int) -> float:
    """Rows a second of `spclust serve` with readers: it waits for them before it learns."""
    fifo = path.with_suffix(".fifo" + path.suffix)
    os.mkfifo(fifo)
    service = Service(str(fifo))
    readers = read_page(service.port, READERS)
    with open(fifo, "wb") as pipe:  # opening it lets the service begin
        begun = time.perf_counter()
        pipe.write(path.read_bytes())
    seconds = service.wait_for(rows) - begun
    for reader in readers:
        reader.close()
    service.close()
    fifo.unlink()
    return rows / seconds


def posted(kind: str, X: NDArray[np.float64], *arguments: str) -> float:
    """Rows a second that are posted and learnt, by clients in processes of their own."""
    service = Service(*arguments)
    given = bodies(X, kind)
    post(service.port, kind, given[:1])
    service.wait_for(ROWS_POSTED)
    begun = time.perf_counter()
    children = []
    for i in range(CLIENTS):
        child = os.fork()
        if child == 0:
            post(service.port, kind, given[i::CLIENTS])
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    seconds = service.wait_for(ROWS_POSTED + len(X)) - begun
    service.close()
    return len(X) / seconds


def soak(minutes: float) -> None:
    """Post for some minutes while readers stall, and print the memory of the service."""
    service = Service("--half-life", "10000")
    given = bodies(stream(200_000, 2), ARROW)
    stalled = read_page(service.port, 5, stalled=True)
    read_page(service.port, 5)
    until = time.monotonic() + 60.0 * minutes
    threading.Thread(target=post, args=(service.port, ARROW, given, until), daemon=True).start()
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
    options = parser.parse_args(argv)
    if options.minutes:
        soak(options.minutes)
        return
    for d in options.columns:
        X = stream(options.rows, d)
        table = Table(title=f"{options.rows:,} rows of {d} columns, best of {options.rounds}")
        for title in ("", "cluster, rows/s", "serve, rows/s", "share", "bound"):
            table.add_column(title, justify="right")
        with tempfile.TemporaryDirectory() as name:
            for row in measured(Path(name), X, options.rounds):
                table.add_row(*row)
        Console().print(table)


def measured(folder: Path, X: NDArray[np.float64], rounds: int) -> list[tuple[str, ...]]:
    """A row of the table for each way."""
    paths = {NDJSON: folder / "rows.ndjson", ARROW: folder / "rows.arrows"}
    paths[NDJSON].write_bytes(b"".join(bodies(X, NDJSON)))
    names = [f"x{i}" for i in range(X.shape[1])]
    table = pa.table(dict(zip(names, X.T, strict=True)))
    with pa.OSFile(str(paths[ARROW]), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as file:
        file.write_table(table, max_chunksize=10_000)
    ways: dict[str, tuple[Any, Any, str]] = {
        f"file, {READERS} readers": (
            lambda: command(paths[ARROW]),
            lambda: served(paths[ARROW], len(X)),
            "90%",
        ),
        "posted NDJSON": (lambda: command(paths[NDJSON]), lambda: posted(NDJSON, X), "50%"),
        "posted Arrow": (lambda: command(paths[ARROW]), lambda: posted(ARROW, X), "80%"),
        "posted Arrow, checkpoint": (
            lambda: command(paths[ARROW], "--checkpoint", str(folder / f"{time.time()}.ck")),
            lambda: posted(ARROW, X, "--checkpoint", str(folder / f"state-{time.time()}")),
            "80%",
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
