"""The command, and the server, killed at any moment: every message is in the model once.

Labels and events may be sent twice. After repeats are dropped by their numbers, they are those of
a run that nobody disturbed. Two kills of the command and one of each server belong to the suite:
`SPCLUST_BROKER_KILLS=20 pytest tests/brokers/test_kills.py` is the long version.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from spclust import SPC
from tests.brokers.servers import KafkaServer, records, running
from tests.command.common import blobs, spclust, started
from tests.live.common import waiting

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is not of Windows")

KILLS = int(os.environ.get("SPCLUST_BROKER_KILLS", "2"))
SEED = int(os.environ.get("SPCLUST_SEED", time.time_ns()))
ROWS = 40_000 if KILLS > 2 else 10_000
LONGEST = 3.0 if KILLS > 2 else 1.8  # seconds before a run that waits is killed
OPTIONS = (
    *("--until-end", "-c", "x,y", "--batch", 200, "--every", 600, "--half-life", 5000),
    *("--on-bad-row", "skip", "--keep", "_message", "--typicality", "-q"),
)


def messages():
    """Rows as messages of one to five, some of them bad."""
    draw, rows, values = random.Random(0), blobs(ROWS)[0].tolist(), []
    while rows:
        some = [json.dumps({"x": x, "y": y}) for x, y in rows[: draw.randint(1, 5)]]
        del rows[: len(some)]
        if draw.random() < 0.02:
            some.insert(0, '{"x": "red"}')
        values.append("\n".join(some).encode())
        if draw.random() < 0.01:
            values.append(draw.choice([b"", b"{broken", b"a,b\n1,2"]))
    return values


class Output:
    """The topics that a run writes to."""

    def __init__(self, server, name):
        self._server, self._name = server, name
        for kind in ("labels", "events"):
            server.create(f"{name}{kind}")

    def options(self):
        urls = [self._server.url(f"{self._name}{kind}") for kind in ("labels", "events")]
        return ("--out", urls[0], "--events", urls[1])

    def read(self):
        """Labels and events by their numbers, and how many were sent in all."""
        labels = records(self._server.read(f"{self._name}labels"))
        events = records(self._server.read(f"{self._name}events"))
        return by_number(labels, "row"), by_number(events, "number"), len(labels)


def by_number(found, name):
    known = {}
    for each in found:
        assert known.setdefault(each[name], each) == each, "a repeat differs"
    return known


@pytest.fixture(scope="module")
def undisturbed(server, quick, tmp_path_factory):
    server.create("stream")
    server.send("stream", messages())
    folder, output = tmp_path_factory.mktemp("undisturbed"), Output(server, "undisturbed")
    given = ("cluster", server.url("stream"), *OPTIONS, *output.options(), "--save", "model")
    began = time.perf_counter()
    done = spclust(*given, "--checkpoint", "run.ck", command=quick, cwd=folder)
    seconds = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    labels, events, sent = output.read()
    assert len(labels) == sent == ROWS
    assert len(events) > 3
    return labels, events, (folder / "model").read_bytes(), seconds


def require_same(output, folder, undisturbed):
    labels, events, sent = output.read()
    assert (folder / "model").read_bytes() == undisturbed[2]
    assert labels == undisturbed[0]
    assert events == undisturbed[1]
    return sent - len(labels)


def test_killed_command(server, quick, undisturbed, tmp_path):
    print(f"seed {SEED}")
    draw, killed, rounds, repeats = random.Random(SEED), 0, 0, 0
    checkpoint = tmp_path / "run.ck"
    while killed < KILLS:
        output, rounds = Output(server, f"killed{rounds}"), rounds + 1
        given = ("cluster", server.url("stream"), *OPTIONS, *output.options(), "--save", "model")
        code = None
        while code != 0:
            process = started(
                *(*given, "--checkpoint", "run.ck"),
                command=quick,
                cwd=tmp_path,
                stderr=subprocess.PIPE,
            )
            if killed < KILLS:
                time.sleep(draw.uniform(0.0, undisturbed[3]))
                if process.poll() is None:
                    process.kill()
                    killed += 1
            error = process.communicate(timeout=120)[1]
            code = process.returncode
            assert code in (0, -signal.SIGKILL), error
        repeats += require_same(output, tmp_path, undisturbed)
        checkpoint.unlink()
    print(f"{server.scheme}: {killed} kills in {rounds} runs, {repeats} labels were sent twice")


def test_killed_server(server, quick, undisturbed, tmp_path):
    """The command waits for it, and goes on where it was."""
    if server.scheme == "kafka":
        pytest.skip("the cluster inside librdkafka is no process of its own")
    draw, killed, number = random.Random(SEED), 0, 0
    while killed < max(1, KILLS // 2):
        output, number = Output(server, f"restarted{number}"), number + 1
        process = started(
            *("cluster", server.url("stream"), *OPTIONS, *output.options(), "--save", "model"),
            *("--checkpoint", f"run{number}.ck"),
            command=quick,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
        )
        time.sleep(draw.uniform(0.0, undisturbed[3]))
        if process.poll() is None:
            server.kill()
            killed += 1
            back = threading.Timer(draw.uniform(0.0, 1.0), server.start)
            back.start()
            back.join()
        error = process.communicate(timeout=120)[1].decode()
        if process.returncode:  # it was away when the command was started
            assert f"No {server.scheme} server answers" in error, error
            killed -= 1
            continue
        require_same(output, tmp_path, undisturbed)
    print(f"{server.scheme}: {killed} kills of the server")


def killed_now_and_then(given, quick, folder, draw, send_last, done):
    """Run a command that waits, kill it, run it again ... until all is done; then end it.

    The last messages are sent to the last run: a signal before it reads would end it at once.
    """
    for kill in range(max(KILLS, 3) + 1):
        process = started(*given, command=quick, cwd=folder, stderr=subprocess.PIPE)
        if kill < max(KILLS, 3):
            time.sleep(draw.uniform(1.0, LONGEST))
            process.kill()
        else:
            send_last()
            for _ in waiting(seconds=60, step=0.2):
                if done():
                    break
            process.terminate()
        error = process.communicate(timeout=60)[1]
        assert process.returncode in (0, -signal.SIGKILL), error


def test_killed_while_it_waits(server, quick, tmp_path):
    """Batches end where no more messages came; they end there again when they are repeated."""
    draw, name = random.Random(SEED), f"waiting{time.time_ns()}"
    server.create(name)
    output = Output(server, f"{name}out")
    X = blobs(ROWS // 20 + 400)[0]
    rows = [json.dumps({"x": x, "y": y}).encode() for x, y in X.tolist()]
    given = ("cluster", server.url(name), "-c", "x,y", "--batch", 500, "--every", 700, "-q")
    given += (
        "--half-life",
        1000,
        "--typicality",
        *output.options(),
        "--save",
        "model",
        "--checkpoint",
        "run.ck",
    )

    def send():
        start, end = 0, len(rows) - 50
        while start < end:
            count = draw.choice([1, 20, 150, 300])
            server.send(name, rows[start : min(start + count, end)])
            start += count
            time.sleep(draw.choice([0.1, 0.5, 0.8]))

    def send_last():
        sender.join()
        server.send(name, rows[-50:])

    def done():
        return len(output.read()[0]) == len(rows)

    sender = threading.Thread(target=send)
    sender.start()
    killed_now_and_then(given, quick, tmp_path, random.Random(SEED + 1), send_last, done)
    labels, _, sent = output.read()
    assert sorted(labels) == list(range(1, len(rows) + 1))
    print(f"{server.scheme}: {sent - len(labels)} labels were sent twice")
    found = SPC.load(tmp_path / "model")
    assert found.n_samples_seen_ == len(X)
    expected = SPC(half_life=1000).partial_fit(X)
    assert np.array_equal(found.structures_.mean, expected.structures_.mean)


def test_killed_while_partitions_are_read(quick, tmp_path):
    """They come in any order, which is then kept."""
    with running(KafkaServer, tmp_path / "server") as server:
        draw = random.Random(SEED)
        server.create("parts")
        places, X = {}, blobs(ROWS // 2)[0]
        for partition in range(4):
            rows = X[partition::4].tolist()
            values = [json.dumps({"x": x, "y": y}).encode() for x, y in rows]
            places |= dict(zip(server.send("parts", values, partition), rows, strict=True))
        output = Output(server, "partsout")
        given = ("cluster", server.url("parts"), *OPTIONS, *output.options(), "--save", "model")
        given += ("--checkpoint", "run.ck")
        code, kills = None, 0
        while code != 0:
            process = started(*given, command=quick, cwd=tmp_path, stderr=subprocess.PIPE)
            if kills < max(KILLS, 3):
                time.sleep(draw.uniform(0.2, 1.5))
                process.kill()
                kills += 1
            error = process.communicate(timeout=120)[1]
            code = process.returncode
            assert code in (0, -signal.SIGKILL), error
        labels, _, sent = output.read()
        print(f"{kills} kills, {sent - len(labels)} labels were sent twice")
        assert sorted(each["_message"] for each in labels.values()) == sorted(places)
        in_order = np.array([places[labels[row]["_message"]] for row in sorted(labels)])
        found, expected = SPC.load(tmp_path / "model"), SPC(half_life=5000).partial_fit(in_order)
        assert np.array_equal(found.structures_.mean, expected.structures_.mean)
