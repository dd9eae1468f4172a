"""Topics of brokers against a pipe: `python -m benchmarks.sources`, a table on the terminal.

`spclust cluster` learns the same rows as NDJSON from a pipe, and from topics with one row and with
a hundred rows in a message. Rows a second are those of its own summary, from the first row to the
last. Redis is a server that this program starts. Kafka is the cluster inside librdkafka, which
keeps about five megabytes of each of four partitions: its rows are fewer; with --kafka it is a real
one, in which the topics are made and left.
"""

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import stored

ROWS_OF_A_MESSAGE = (1, 100)
KEPT = 4_000_000  # bytes of a partition that the cluster inside librdkafka keeps for sure
MOST_KEPT = 90_000  # messages of it
PARTITIONS = 4


def lines(rows: int) -> list[bytes]:
    """Rows of two columns in Gaussian clusters, as JSON objects."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (7, 2))
    X = centres[rng.integers(0, 7, rows)] + rng.normal(size=(rows, 2))
    return [json.dumps({"x": x, "y": y}).encode() for x, y in X.tolist()]


def messages(rows: list[bytes], size: int) -> list[bytes]:
    """So many rows in each message."""
    return [b"\n".join(rows[start : start + size]) for start in range(0, len(rows), size)]


def learnt(given: list[str], stdin: Path | None = None) -> float:
    """Rows a second of a run, the best of three."""
    best = 0.0
    for _ in range(3):
        command = [sys.executable, "-m", "spclust.cli", "cluster", *given, "--json"]
        source = None
        if stdin is not None:
            source = subprocess.Popen(["cat", str(stdin)], stdout=subprocess.PIPE)
        done = subprocess.run(
            command,
            stdin=None if source is None else source.stdout,
            capture_output=True,
            text=True,
            check=True,
        )
        best = max(best, float(json.loads(done.stdout)["rows_per_second"]))
    return best


def piped(rows: list[bytes]) -> float:
    """Rows a second from a pipe."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.ndjson"
        path.write_bytes(b"\n".join(rows) + b"\n")
        return learnt(["-", "--format", "ndjson"], path)


@contextmanager
def redis_server() -> Iterator[int]:
    """The port of a server that keeps nothing on the disk."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            ["redis-server", "--port", str(port), "--save", "", "--dir", folder],
            stdout=subprocess.DEVNULL,
        )
        try:
            time.sleep(1.0)
            yield port
        finally:
            server.terminate()
            server.wait()


def from_redis(rows: list[bytes], port: int, size: int) -> float:
    """Rows a second from a stream."""
    import redis

    client, name = redis.Redis("127.0.0.1", port), f"rows{size}"
    pipe = client.pipeline(transaction=False)
    for number, value in enumerate(messages(rows, size), 1):
        pipe.xadd(name, {"value": value})
        if number % 10_000 == 0:
            pipe.execute()
    pipe.execute()
    found = learnt([f"redis://127.0.0.1:{port}/{name}", "--until-end"])
    client.delete(name)
    return found


def from_kafka(rows: list[bytes], producer: Any, server: str, size: int) -> float:
    """Rows a second from a topic."""
    name = f"spclust-rows-{size}-{time.time_ns()}"
    topic = producer.list_topics(name, timeout=10).topics[name]
    partitions = max(1, len(topic.partitions))
    for number, value in enumerate(messages(rows, size)):
        while True:
            try:
                producer.produce(name, value, partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)
    return learnt([f"kafka://{server}/{name}", "--until-end"])


def main(argv: list[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a real broker")
    stored.add_option(parser)
    options = parser.parse_args(argv)
    rows = lines(options.rows)
    table = Table("source", "rows", "rows a message", "rows a second", "of the pipe")
    pipe = piped(rows)
    table.add_row("pipe of NDJSON", f"{len(rows):,}", "", f"{pipe:,.0f}", "")
    figures = {"pipe/rows a second": pipe}

    def add(name: str, given: list[bytes], size: int, found: float, whole: float) -> None:
        shown = f"{found:,.0f}", f"{found / whole:.0%}"
        table.add_row(name, f"{len(given):,}", f"{size}", *shown)
        figures[f"{name}/{size}/rows a second"] = found
        figures[f"{name}/{size}/of the pipe, %"] = 100.0 * found / whole

    if shutil.which("redis-server"):
        with redis_server() as port:
            for size in ROWS_OF_A_MESSAGE:
                add("Redis", rows, size, from_redis(rows, port, size), pipe)
    from confluent_kafka import Producer

    settings: dict[str, Any] = {"bootstrap.servers": options.kafka or "x", "log_level": 0}
    if options.kafka is None:
        settings["test.mock.num.brokers"] = 1
    producer = Producer(settings)
    brokers = producer.list_topics(timeout=10).brokers.values()
    server = options.kafka or next(f"{each.host}:{each.port}" for each in brokers)
    for size in ROWS_OF_A_MESSAGE:
        some, whole = rows, pipe
        if options.kafka is None:
            most = PARTITIONS * min(KEPT // (len(rows[0]) + 25), MOST_KEPT * size)
            some = rows[:most]
            whole = piped(some)
        add("Kafka", some, size, from_kafka(some, producer, server, size), whole)
    Console().print(table)
    if options.store:
        stored.store("sources", figures, options)


if __name__ == "__main__":
    main()
