"""A real `spclust serve` in a process of its own, and requests to it."""

import http.client
import importlib.util
import io
import json
import re
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from tests.command.common import COMMAND, blobs, started

PACKAGES = ("starlette", "uvicorn", "httptools", "prometheus_client")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
needs_a_server = pytest.mark.skipif(
    bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'spclust[live]'"
)

NDJSON, JSON, CSV = "application/x-ndjson", "application/json", "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
SECONDS = 30  # that something may take on a busy machine
LISTENING = re.compile(r"listening at http://(?:127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d+)/")


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The sentence of a refusal."""
        return self.json()["error"]


class Served:
    """A service that listens."""

    def __init__(self, *arguments, command=COMMAND, log):
        self._log = Path(log)
        with self._log.open("wb") as file:
            self.process = started("serve", "--port", 0, *arguments, command=command, stderr=file)
        self.port = self._listening()

    def _listening(self):
        for _ in waiting():
            if found := LISTENING.search(self.log()):
                return int(found[1])
            assert self.process.poll() is None, self.log()
        raise AssertionError(self.log())

    def log(self):
        return self._log.read_text(errors="replace")

    def lines(self):
        """What it said since it listens."""
        return self.log().split("/\n", 1)[1].splitlines()

    def connection(self, timeout=SECONDS):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=SECONDS):
        """For what is no HTTP, or no good one."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, **headers):
        """One request; `_` in names of headers stands for `-`."""
        connection = self.connection()
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, kind=NDJSON, **headers):
        return self.ask("POST", path, body, Content_Type=kind, **headers)

    def learn(self, rows, **headers):
        answer = self.post("/learn", ndjson(rows), **headers)
        assert answer.status == 200, answer
        return answer.json()

    def metric(self, name, **headers):
        """The value of a metric without labels."""
        text = self.get("/metrics", **headers).body.decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])

    def wait_for_rows(self, rows):
        """Until it has learnt so many."""
        for _ in waiting():
            if self.metric("spclust_rows_total") >= rows:
                return
        raise AssertionError(f"{self.metric('spclust_rows_total')} of {rows} rows")

    def memory(self):
        """Resident memory in bytes, of a service that was not started by a preloaded process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def end(self, number=signal.SIGTERM):
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def waiting(seconds=SECONDS, step=0.02):
    """Try again for as long as something may take."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield
        time.sleep(step)


@contextmanager
def served(folder, *arguments, **options):
    """A service that ends in order, and never with a traceback in its log."""
    service = Served(*arguments, log=folder / "log", **options)
    try:
        yield service
        if service.process.poll() is None:
            assert service.end() == 0, service.log()
        assert "Traceback" not in service.log()
    finally:
        with suppress(subprocess.TimeoutExpired):
            service.process.kill()
            service.process.wait(5)


def stream(rows=2000, seed=0):
    """Rows (n, 2) of four clusters."""
    return blobs(rows, seed=seed)[0]


def records(rows):
    return [{"x": x, "y": y} for x, y in rows.tolist()]


def ndjson(rows):
    return "".join(f"{json.dumps(record)}\n" for record in records(rows)).encode()


def csv(rows):
    return "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in rows.tolist())


def arrow(table, **options):
    """A table, or rows (n, 2), as an Arrow stream."""
    if not isinstance(table, pa.Table):
        table = pa.table({"x": table[:, 0], "y": table[:, 1]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, **options) as writer:
        writer.write_table(table)
    return sink.getvalue()
