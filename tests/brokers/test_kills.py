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

import pytest

from tests.brokers.servers import records
from tests.command.common import blobs, spclust, started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is not of Windows")

KILLS = int(os.environ.get("SPCLUST_BROKER_KILLS", "2"))
SEED = int(os.environ.get("SPCLUST_SEED", time.time_ns()))
ROWS = 40_000
OPTIONS = (
    *("--until-end", "-c", "x,y", "--batch", 200, "--every", 600, "--half-life", 5000),
    *("--on-bad-row", "skip", "--keep", "_message", "-q"),
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
