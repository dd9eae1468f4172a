"""Executors and drivers killed in the middle: every point counts once, the model is the same.

One kill, of an executor that learns a table, belongs to the suite; streams take minutes:
`SPCLUST_SPARK_KILLS=3 pytest -s tests/spark/test_failures.py` has one of each kind, and
`SPCLUST_SPARK_KILLS=10 SPCLUST_SPARK_POINTS=2000000` is the long version.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.spark_cluster import roles
from sklearn.base import clone

from spclust import SPC
from tests.spark.killed_driver import FEATURES, MODEL

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is not of Windows")

KILLS = int(os.environ.get("SPCLUST_SPARK_KILLS", "1"))
POINTS = int(os.environ.get("SPCLUST_SPARK_POINTS", "80000"))
FILES, FILES_A_TRIGGER = (40, 4) if POINTS > 1_000_000 else (4, 2)
KINDS = ("executor, table", "executor, stream", "driver, stream")
UNIT = 2**15  # no number is rounded, and the numbers spread as far as the other features
TRIES = 12  # to kill in the middle, and neither before nor after
ROOT = Path(__file__).parents[2]


class Driver:
    """A driver that learns on demand, in a session of processes of its own."""

    def __init__(self, points, folder):
        folder.mkdir()
        self.log = folder / "log"
        command = [sys.executable, "-m", "tests.spark.killed_driver", points, FILES_A_TRIGGER]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*map(str, command), str(folder)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.answer()

    def begin(self, **asked):
        """Returns when the work has begun."""
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        assert self._said() == "begun"

    def answer(self):
        return json.loads(self._said())

    def learn(self, **asked):
        self.begin(**asked)
        return self.answer()

    def _said(self):
        for line in self.process.stdout:
            if line.startswith("> "):
                return line[2:].strip()
        raise AssertionError(f"The driver ended: {self.log.read_text()[-3000:]}")

    def kill_executor(self, draw):
        """One of the JVMs that learn; its Python workers see that it is gone, and follow."""
        os.kill(draw.choice(roles(self.process.pid)["executor JVMs"]).pid, signal.SIGKILL)

    def kill(self):
        """Python and its JVM. Executors are left alone: they may be in the middle of something."""
        here = roles(self.process.pid)
        for one in here["driver Python"] + here["driver JVM"]:
            os.kill(one.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Let it end, and return how many of its processes were left behind."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)
        for _ in range(200):
            left = self._session()
            if not left:
                break
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return len(left)

    def _session(self):
        told = subprocess.check_output(["ps", "-A", "-o", "pid=,sess=,stat="], text=True)
        rows = [line.split() for line in told.splitlines()]
        own = str(self.process.pid)
        return [int(pid) for pid, session, state in rows if session == own and state[0] != "Z"]


class Cluster:
    """A driver, and another one when it was killed."""

    def __init__(self, points, folder):
        self.points, self.folder, self.drivers = points, folder, []

    @property
    def driver(self):
        if not self.drivers or self.drivers[-1].process.poll() is not None:
            place = self.folder / f"driver{len(self.drivers)}"
            self.drivers.append(Driver(self.points, place))
        return self.drivers[-1]

    def end(self):
        left = sum([driver.end() for driver in self.drivers])
        assert left == 0, f"{left} processes were left behind"


def points_of(numbers):
    """Ten clusters in four features; a fifth is the number of the point, in units of UNIT."""
    rng, size = np.random.default_rng(int(numbers[0])), len(numbers)
    centres = np.random.default_rng(0).uniform(-50.0, 50.0, (10, 4))
    rows = centres[rng.integers(10, size=size)] + rng.normal(size=(size, 4))
    return np.column_stack([numbers / UNIT, rows])


@pytest.fixture(scope="module")
def cluster(java, tmp_path_factory):
    clone(MODEL).fit_predict(points_of(np.arange(1000)))  # else all executors compile at once
    folder = tmp_path_factory.mktemp("failures")
    points = folder / "points"
    points.mkdir()
    each = POINTS // FILES
    for number in range(FILES):
        path = points / f"{number:03}.parquet"
        rows = points_of(np.arange(number * each, (number + 1) * each))
        pq.write_table(pa.table(list(rows.T), FEATURES), path)
        os.utime(path, (1.6e9 + number, 1.6e9 + number))  # streams take files by age
    cluster = Cluster(points, folder)
    yield cluster
    cluster.end()


class Learnt:
    """A model as it was written, and what it must hold."""

    def __init__(self, path):
        self.data = path.read_bytes()
        model = SPC.from_bytes(self.data)
        self.points = model.n_samples_seen_
        self.sum = UNIT * float(model.structures_.count @ model.structures_.mean[:, 0])
        numbers = np.random.default_rng(1).integers(POINTS, size=2000)
        held_out = pd.DataFrame(points_of(numbers), columns=FEATURES)
        self.labels = model.predict(held_out).tolist()


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory):
    """What is learnt if nobody is killed, of a table and of a stream, and how long it takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    cluster.driver.learn(learn="table", model=str(folder / "first"))  # compiles, starts workers
    table = cluster.driver.learn(learn="table", model=str(folder / "table"))
    learnt, seconds = {"table": Learnt(folder / "table")}, {"table": table["seconds"]}
    assert table["lost"] == 0
    assert len(set(learnt["table"].labels)) > 5
    if KILLS > 1:
        stream = cluster.driver.learn(learn="stream", checkpoint=str(folder / "checkpoint"))
        assert stream["lost"] == 0
        assert stream["triggers"] == list(range(FILES // FILES_A_TRIGGER))
        learnt["stream"] = Learnt(folder / "checkpoint" / "models" / "newest.spc")
        seconds["stream"] = stream["seconds"]
    return learnt, seconds


def newest(folder):
    return max([int(file.name) for file in folder.glob("[0-9]*")], default=-1)


class Moment:
    """When to kill: anywhere in a table, or in a trigger of a stream, whatever its speed."""

    def __init__(self, what, seconds, draw):
        triggers = FILES // FILES_A_TRIGGER if what == "stream" else 1
        self.trigger = draw.randrange(triggers) if what == "stream" else None
        # The engine plans a table's job first: a kill would hit nothing, and cost an executor.
        self.delay = draw.uniform(seconds / 4 if what == "table" else 0.0, seconds / triggers)

    def wait(self, cluster, asked):
        if self.trigger is not None:
            begun = Path(asked["checkpoint"]) / "offsets" / str(self.trigger)
            while not begun.exists():
                assert cluster.driver.process.poll() is None
                time.sleep(0.01)
        time.sleep(self.delay)

    def __str__(self):
        after = "the start" if self.trigger is None else f"the start of trigger {self.trigger}"
        return f"{self.delay:.2f} s after {after}"


def executor_killed(cluster, what, asked, moment, draw):
    """Whether tasks were lost and done again, or a trigger that was begun had not ended."""
    cluster.driver.begin(learn=what, **asked)
    moment.wait(cluster, asked)
    cluster.driver.kill_executor(draw)
    begun = ended = -1
    if what == "stream":
        checkpoint = Path(asked["checkpoint"])
        begun, ended = newest(checkpoint / "offsets"), newest(checkpoint / "commits")
    lost = cluster.driver.answer()["lost"]
    within = f"in trigger {begun} of {FILES // FILES_A_TRIGGER}, " if begun > ended else ""
    return f"{within}{lost} tasks lost" if lost or within else None


def driver_killed(cluster, asked, moment):
    """Whether a trigger was begun and not ended; another driver ends it."""
    checkpoint = Path(asked["checkpoint"])
    cluster.driver.begin(learn="stream", **asked)
    moment.wait(cluster, asked)
    cluster.driver.kill()
    begun, ended = newest(checkpoint / "offsets"), newest(checkpoint / "commits")
    triggers = cluster.driver.learn(learn="stream", **asked)["triggers"]
    if begun == ended:
        return None
    assert triggers[0] == begun
    return f"in trigger {begun} of {FILES // FILES_A_TRIGGER}"


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_in_the_middle(number, cluster, undisturbed, tmp_path):
    kind = KINDS[number % len(KINDS)]
    killed, what = kind.split(", ")
    draw = random.Random(f"{os.environ.get('SPCLUST_SEED')} {number}")
    expected, seconds = undisturbed[0][what], undisturbed[1][what]
    for attempt in range(TRIES):
        moment = Moment(what, seconds, draw)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        if what == "table":
            asked = {"model": str(folder / "model")}
        else:
            asked = {"checkpoint": str(folder / "checkpoint")}
        if killed == "executor":
            proof = executor_killed(cluster, what, asked, moment, draw)
        else:
            proof = driver_killed(cluster, asked, moment)
        path = folder / ("model" if what == "table" else "checkpoint/models/newest.spc")
        found = Learnt(path)  # exact, too, if the kill came between two triggers
        assert found.points == POINTS == expected.points
        assert found.sum == pytest.approx(POINTS * (POINTS - 1) / 2, abs=0.5)  # of the numbers
        assert found.labels == expected.labels
        assert found.data == expected.data
        if proof:
            off = found.sum - POINTS * (POINTS - 1) / 2
            print(
                f"\n{kind}: killed {moment}, {seconds:.2f} s is the whole; "
                f"{proof}; {found.points} points, sum of numbers off by {off:.1g}, same bytes"
            )
            return
    pytest.fail(f"none of {TRIES} kills came in the middle")


@pytest.mark.skipif(KILLS < 2, reason="streams take minutes: set SPCLUST_SPARK_KILLS=3")
def test_stopped_in_the_middle_of_a_trigger(cluster, undisturbed, tmp_path):
    asked = {"checkpoint": str(tmp_path / "checkpoint")}
    stopped = cluster.driver.learn(learn="stream", stop_after=1, **asked)
    assert stopped["error"] == ""
    assert newest(tmp_path / "checkpoint" / "offsets") > newest(tmp_path / "checkpoint" / "commits")
    assert "StackOverflowError" not in cluster.driver.log.read_text()
    cluster.driver.learn(learn="stream", **asked)
    found = Learnt(tmp_path / "checkpoint" / "models" / "newest.spc")
    assert found.data == undisturbed[0]["stream"].data


def test_the_model_remembers_everything():
    """Else the sums above would say nothing."""
    assert (MODEL.gamma, MODEL.beta, MODEL.w_min) == (0.0, 0.0, 0.0)
