"""Topics of brokers against a pipe: `python -m benchmarks.sources`, tables on the terminal.

`spclust cluster` learns the same rows as NDJSON from a pipe, and from topics with one row and with
a hundred rows in a message. Rows a second are those of its own summary, from the first row to the
last. Beside them is the rate of the broker's client by itself: a loop that fetches the messages
and drops them, with the settings of the command. Rounds are interleaved, the best one counts.

The memory of the command is measured while the broker is faster than the model, by small batches
whose rows are labelled: at a quarter, at half and at the end of the topic.

Redis is a server that this program starts. Kafka is the cluster inside librdkafka, in a process of
its own, which keeps about five megabytes of a partition: the topic has as many partitions as that
needs. With --kafka it is a real one, in which the topics are made and left.
"""

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import stored
from spclust.brokers.broker_url import parsed_url
from spclust.brokers.message_stream import subscribed

ROUNDS = 3
ROWS_OF_A_MESSAGE = (1, 100)
KEPT = 4_000_000  # bytes of a partition that the cluster inside librdkafka keeps for sure
MOST_KEPT = 90_000  # messages of it
OVERHEAD = 25  # bytes of a message besides its value, at most
FETCHED = 2000  # messages at a time
SLOW = ("--batch", "500", "--typicality")  # a model that is slower than any broker
MOMENTS = (0.25, 0.5, 1.0)

COMMAND = [sys.executable, "-m", "spclust.cli", "cluster"]


class Topic(NamedTuple):
    """Rows at a server."""

    broker: str
    size: int  # rows in a message
    url: str


def lines(rows: int) -> list[bytes]:
    """Rows of two columns in Gaussian clusters, as JSON objects."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (7, 2))
    X = centres[rng.integers(0, 7, rows)] + rng.normal(size=(rows, 2))
    return [json.dumps({"x": x, "y": y}).encode() for x, y in X.tolist()]


def messages(rows: list[bytes], size: int) -> list[bytes]:
    """So many rows in each message."""
    return [b"\n".join(rows[start : start + size]) for start in range(0, len(rows), size)]


def learnt(given: list[str], source: Any = None) -> float:
    """Rows a second of a run."""
    done = subprocess.run(
        [*COMMAND, *given, "--json"], stdin=source, capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout)["rows_per_second"])


def piped(path: Path) -> float:
    """Rows a second from a pipe."""
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as source:
        return learnt(["-", "--format", "ndjson"], source.stdout)


def fetched(topic: Topic, rows: int) -> float:
    """Rows a second of the client alone, after it has connected."""
    client = subscribed(parsed_url(topic.url), "", until_end=True, stopped=lambda: False)
    began = time.perf_counter()
    while client.fetch(FETCHED, 1.0) is not None:
        pass
    seconds = time.perf_counter() - began
    client.close()
    return rows / seconds


def resident(process: int) -> float:
    """Megabytes that a process has in memory; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS:")]
    return int(sizes[0]) / 1024 if sizes else 0.0


def memory(url: str) -> tuple[list[float], float]:
    """Megabytes of the command when parts of a topic are learnt, and rows a second."""
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.csv"
        given = [url, "--until-end", "--out", str(labels), *SLOW, "--json"]
        with subprocess.Popen([*COMMAND, *given], stdout=subprocess.PIPE) as run:
            while run.poll() is None:
                if labels.exists() and (size := resident(run.pid)):
                    seen.append((labels.stat().st_size, size))
                time.sleep(0.1)
            assert run.stdout is not None
            rate = float(json.loads(run.stdout.read())["rows_per_second"])
        whole = labels.stat().st_size
    return [
        next((size for written, size in seen if written >= part * whole), seen[-1][1])
        for part in MOMENTS
    ], rate


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


@contextmanager
def kafka_cluster(partitions: int, topics: list[str]) -> Iterator[str]:
    """The address of the cluster inside librdkafka, with topics."""
    command = [sys.executable, "-m", "benchmarks.kafka_cluster", str(partitions), *topics]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def in_redis(rows: list[bytes], stack: ExitStack) -> list[Topic]:
    """Streams of the rows."""
    import redis

    port = stack.enter_context(redis_server())
    client, found = redis.Redis("127.0.0.1", port), []
    for size in ROWS_OF_A_MESSAGE:
        pipe = client.pipeline(transaction=False)
        for number, value in enumerate(messages(rows, size), 1):
            pipe.xadd(f"rows{size}", {"value": value})
            if number % 10_000 == 0:
                pipe.execute()
        pipe.execute()
        found.append(Topic("Redis", size, f"redis://127.0.0.1:{port}/rows{size}"))
    return found


def in_kafka(rows: list[bytes], stack: ExitStack, server: str | None) -> list[Topic]:
    """Topics of the rows, in batches as large as those of a busy producer."""
    from confluent_kafka import Producer

    names = {size: f"spclust-rows-{size}-{time.time_ns()}" for size in ROWS_OF_A_MESSAGE}
    if server is None:
        in_one = min(KEPT // (max(map(len, rows)) + OVERHEAD), MOST_KEPT)
        partitions = -(-len(rows) // in_one)
        server = stack.enter_context(kafka_cluster(partitions, list(names.values())))
    producer = Producer({"bootstrap.servers": server, "log_level": 0, "linger.ms": 100})
    for size, name in names.items():
        partitions = max(1, len(producer.list_topics(name, timeout=10).topics[name].partitions))
        for number, value in enumerate(messages(rows, size)):
            while True:
                try:
                    producer.produce(name, value, partition=number % partitions)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush(60)
    return [Topic("Kafka", size, f"kafka://{server}/{name}") for size, name in names.items()]


def best(rounds: int, runs: dict[Any, Callable[[], float]]) -> dict[Any, float]:
    """The best of several rounds of each run; a round has all of them."""
    found = dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for key, run in runs.items():
            found[key] = max(found[key], run())
    return found


def speed(rows: list[bytes], topics: list[Topic], figures: dict[str, float]) -> Table:
    """A table of rates, which are added to the figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.ndjson"
        path.write_bytes(b"\n".join(rows) + b"\n")
        runs: dict[Any, Callable[[], float]] = {None: partial(piped, path)}
        for topic in topics:
            runs[topic] = partial(learnt, [topic.url, "--until-end"])
            runs[topic, "client"] = partial(fetched, topic, len(rows))
        found = best(ROUNDS, runs)
    pipe = figures["pipe/rows a second"] = found[None]
    table = Table("source", "rows a message", "rows a second", "of the pipe", "client alone")
    table.add_row("pipe of NDJSON", "", f"{pipe:,.0f}", "", "")
    for topic in topics:
        rate, alone = found[topic], found[topic, "client"]
        shown = f"{rate:,.0f}", f"{rate / pipe:.0%}", f"{alone:,.0f}"
        table.add_row(topic.broker, f"{topic.size}", *shown)
        name = f"{topic.broker}/{topic.size}"
        figures[f"{name}/rows a second"] = rate
        figures[f"{name}/of the pipe, %"] = 100.0 * rate / pipe
        figures[f"{name}/client alone, rows a second"] = alone
    return table


def growth(topics: list[Topic], figures: dict[str, float]) -> Table:
    """A table of the memory with a slow model, which is added to the figures."""
    table = Table("source", "rows a second", *(f"MB at {part:.0%}" for part in MOMENTS))
    for topic in topics:
        if topic.size > 1:
            continue
        sizes, rate = memory(topic.url)
        table.add_row(topic.broker, f"{rate:,.0f}", *(f"{size:.0f}" for size in sizes))
        figures[f"{topic.broker}/slow model/rows a second"] = rate
        for part, size in zip(MOMENTS, sizes, strict=True):
            figures[f"{topic.broker}/slow model/MB at {part:.0%}"] = size
    return table


def main(argv: list[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a real broker")
    stored.add_option(parser)
    options = parser.parse_args(argv)
    rows, figures = lines(options.rows), dict[str, float]()
    with ExitStack() as stack:
        topics = in_redis(rows, stack) if shutil.which("redis-server") else []
        topics += in_kafka(rows, stack, options.kafka)
        console = Console()
        console.print(speed(rows, topics, figures))
        console.print(growth(topics, figures))
    if options.store:
        stored.store("sources", figures, options)


if __name__ == "__main__":
    main()
