"""`--follow` through rotations: no row is lost, and none is read twice."""

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, closing

import pytest

from tests.command.common import spclust, started

# `SPCLUST_ROTATIONS=50 pytest tests/command/test_rotation.py` is the long version.
ROTATIONS = int(os.environ.get("SPCLUST_ROTATIONS", "4"))
SECONDS = 60


class Log:
    """A log that somebody writes to and rotates; its rows are numbered."""

    def __init__(self, path, seed=0, header=True, kept=5):
        self.path, self.rows, self._draw = path, 0, random.Random(seed)
        self._kept = kept  # copies: files are removed, and their inodes used again
        self._header = header
        self._file = None
        self.begin()

    def begin(self):
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        if self._header:
            self._file.write(b"id,x,y\n")

    def write(self, rows):
        """Rows, often cut in the middle of a line between two writes."""
        text = b""
        for _ in range(rows):
            x, y = (self._draw.gauss(20.0 * self._draw.randrange(2), 1.0) for _ in "xy")
            text += f"r{self.rows},{x:.4f},{y:.4f}\n".encode()
            self.rows += 1
        cut = self._draw.randrange(len(text))
        self._file.write(text[:cut])
        self._file.write(text[cut:])

    def load(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.write(20)
            time.sleep(0.002)

    def _shift(self):
        for number in range(self._kept - 1, 0, -1):
            if os.path.exists(f"{self.path}.{number}"):
                os.replace(f"{self.path}.{number}", f"{self.path}.{number + 1}")

    def rename(self):
        """As logrotate does with `create`: the program writes on for a moment."""
        self._shift()
        os.rename(self.path, f"{self.path}.1")
        self.write(5)
        old = self._file
        self.begin()
        old.close()

    def copy_and_truncate(self):
        self._shift()
        shutil.copy2(self.path, f"{self.path}.1")
        self._file.truncate(0)
        if self._header:
            self._file.write(b"id,x,y\n")

    def close(self):
        self._file.close()

    def truncate_without_a_copy(self):
        self._file.truncate(0)


@pytest.fixture
def new_log(tmp_path):
    with ExitStack() as stack:

        def make(**options):
            return stack.enter_context(closing(Log(tmp_path / "log.csv", **options)))

        yield make


def following(log, out, command, *more):
    given = ("cluster", log.path, "--follow", "-c", "x,y", "--keep", "id", "--out", out, "-q")
    return started(*given, *more, command=command, stderr=subprocess.PIPE)


def ids(out):
    lines = out.read_text().splitlines() if out.exists() else []
    return [line.split(",")[1].strip('"') for line in lines[1:]]


def wait_for(log, out):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and len(ids(out)) < log.rows:
        time.sleep(0.1)


def ended(process, number=signal.SIGINT):
    process.send_signal(number)
    _, said = process.communicate(timeout=SECONDS)
    return said.decode()


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("quick_ones", [False, True])
def test_rotations_of_both_kinds_under_load(tmp_path, new_log, quick, header, quick_ones):
    log, out = new_log(header=header, kept=100 if quick_ones else 5), tmp_path / "labels.csv"
    log.write(50)
    columns = () if header else ("-c", "x1,x2", "--keep", "x0", "--no-header")
    process = started(
        *("cluster", log.path, "--follow", "--out", out, "-q"),
        *(columns or ("-c", "x,y", "--keep", "id")),
        *("--batch", 500),
        command=quick,
        stderr=subprocess.PIPE,
    )
    wait_for(log, out)
    rotations = random.Random(1).choices([log.rename, log.copy_and_truncate], k=ROTATIONS)
    rotations[:2] = [log.rename, log.copy_and_truncate]
    for number, rotate in enumerate(rotations):
        log.load(0.15 if quick_ones else 1.6)
        if number == 1:
            wait_for(log, out)  # all of it was read when it is copied
        rotate()
    log.load(0.3)
    wait_for(log, out)
    said = ended(process)
    assert ids(out) == [f"r{number}" for number in range(log.rows)], said
    assert process.returncode == 0
    lines = [line for line in said.splitlines() if "stopped" not in line]
    assert all(
        "was renamed" in line or "was truncated" in line or "was rotated" in line for line in lines
    )
    assert quick_ones or len(lines) == ROTATIONS
    assert "lost" not in said


def test_rotated_while_the_command_did_not_run(tmp_path, new_log, quick):
    """A checkpoint knows what was read: the rest is found in files that were rotated since."""
    log, out = new_log(), tmp_path / "labels.csv"
    given = ("--checkpoint", tmp_path / "run.ck", "--every", 100, "--batch", 100)
    for rotations in (
        [],
        [log.rename],
        [log.copy_and_truncate],
        [log.rename, log.copy_and_truncate, log.rename],
    ):
        for rotate in rotations:
            log.load(0.05)
            rotate()
        log.write(200)
        process = following(log, out, quick, *given)
        log.load(0.3)
        wait_for(log, out)
        said = ended(process, random.choice([signal.SIGINT, signal.SIGKILL]))
        assert ids(out) == [f"r{number}" for number in range(log.rows)], said


def test_a_file_without_a_copy_and_another_input_are_told(tmp_path, new_log, quick):
    log, out = new_log(), tmp_path / "labels.csv"
    log.write(50)
    given = ("--checkpoint", tmp_path / "run.ck")
    process = following(log, out, quick, *given)
    wait_for(log, out)
    log.truncate_without_a_copy()
    log._file.write(b"id,x,y\n")
    log.write(5)
    wait_for(log, out)
    said = ended(process)
    assert "was truncated, and no copy of it is beside it" in said
    assert ids(out) == [f"r{number}" for number in range(log.rows)]
    log.path.write_text("id,x,y\nr0,1,1\nr1,1,1\n")
    process = following(log, out, quick, *given)
    _, said = process.communicate(timeout=SECONDS)
    assert b"is not the input that the checkpoint was made with" in said
    done = spclust(
        *("cluster", log.path, "-c", "x,y", "--keep", "id", "--out", out, "-q", *given),
        command=quick,
    )
    assert b"say --follow" in done.stderr


def test_watch_follows_rotations_of_ndjson(tmp_path, quick):
    path = tmp_path / "log.ndjson"
    path.write_text('{"x": 1.0, "y": 2.0}\n' * 300)
    process = started(
        *("watch", path, "--follow"), command=quick, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(2.0)
    path.rename(tmp_path / "log.ndjson.1")
    path.write_text('{"x": 31.0, "y": 2.0}\n' * 600)
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=SECONDS)
    assert b"was renamed: going on with the new one" in said
    assert b"birth cluster 1  at 31, 2" in shown
