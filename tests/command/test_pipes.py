"""Pipes, closed pipes, full disks, files that grow, Ctrl-C: real processes, real signals.

One of each kind is started as users start it; the others are forked, which is quick.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

from spclust import SPC
from tests.command.common import csv_file, run, spclust, started

ROWS = 60_000


def wait_for(what, seconds=30.0):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return csv_file(tmp_path_factory.mktemp("data") / "big.csv", ROWS)


def test_cat_to_the_command_to_another_one(data, tmp_path):
    run("cluster", data, "--out", tmp_path / "labels.csv", "-q")
    with subprocess.Popen(["cat", data], stdout=subprocess.PIPE) as cat:
        command = ["cluster", "-", "--out", "-"]
        done = spclust(*command, stdin=cat.stdout)
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "labels.csv").read_bytes()
    assert f"{ROWS:,} rows" in done.stderr.decode()  # the summary does not get between labels


def test_a_closed_pipe_ends_it_quietly(data, quick):
    process = started(
        *("cluster", data, "--out", "-", "--batch", 500, "-q"),
        command=quick,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"row,label\n"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert said == b""


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 300 kB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_says_so_and_leaves_the_checkpoint_whole(data, small_disk, tmp_path):
    """Where no disk can be mounted, a limit on the size of files stands in for it."""
    folder = tmp_path if small_disk is None else small_disk
    limit = None
    if small_disk is None:

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    labels, checkpoint = folder / "labels.csv", folder / "run.ck"
    given = ["cluster", data, "--out", labels, "--checkpoint", checkpoint]
    given += ["--every", 2000, "--batch", 1000, "-q"]
    done = spclust(*given, preexec_fn=limit)
    assert done.returncode == 1
    (sentence,) = done.stderr.decode().splitlines()
    assert "No space left on device" in sentence or "File too large" in sentence
    assert str(folder) in sentence
    assert checkpoint.stat().st_size > 0
    # With room again the same command goes on from there, and comes to the same end.
    elsewhere = tmp_path / "roomy"
    elsewhere.mkdir()
    shutil.copy(labels, elsewhere)
    shutil.copy(checkpoint, elsewhere)
    again = [str(each).replace(str(folder), str(elsewhere)) for each in given[2:]]
    settings = "was made with --out"  # the checkpoint knows where its labels were
    assert settings in run("cluster", data, *again, code=1).stderr
    if small_disk is not None:
        subprocess.run(["mount", "-o", "remount,size=30m", str(folder)], check=True)
    run(*given)
    reference = tmp_path / "reference.csv"
    run("cluster", data, "--out", reference, "--batch", 1000, "-q")
    assert labels.read_bytes() == reference.read_bytes()


def test_a_full_device_says_so(data, quick):
    given = ("cluster", data, "--out", "/dev/full", "--out-format", "csv", "-q")
    done = spclust(*given, command=quick)
    assert done.returncode == 1
    assert done.stderr.decode() == "spclust: /dev/full: No space left on device.\n"


def test_a_file_that_grows_is_followed_until_ctrl_c(data, quick, tmp_path):
    lines = data.read_text().splitlines(keepends=True)
    growing, labels, model = (tmp_path / name for name in ("g.csv", "l.csv", "m.spc"))
    growing.write_text("")
    parameters = ("--columns", "x,y", "--standardise", "--warmup", 90, "--scale", 0.2)
    process = started(
        *("cluster", growing, "--follow", "--out", labels, "--save", model, *parameters, "--json"),
        command=quick,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )

    def written(rows):
        return lambda: labels.exists() and labels.read_bytes().count(b"\n") == rows + 1

    with open(growing, "a") as file:
        file.write("".join(lines[:31]))  # too few to standardise by: they wait
        file.flush()
        wait_for(labels.exists)
        time.sleep(0.5)
        assert labels.read_bytes() == b""
        file.write("".join(lines[31:101]))
        file.flush()
        wait_for(written(100))
        file.write(lines[101] + lines[102][:9])  # a line that is not there as a whole yet
        file.flush()
        wait_for(written(101))
        file.write(lines[102][9:] + "".join(lines[103:501]))
        file.flush()
        wait_for(written(500))
    process.send_signal(signal.SIGINT)
    told = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 0
    assert told["rows"] == 500
    # The model does not know how the file grew.
    given = "".join(lines[:501])
    (tmp_path / "at_once.csv").write_text(given)
    run("cluster", tmp_path / "at_once.csv", *parameters, "--save", tmp_path / "n.spc", "-q")
    at_once, followed = SPC.load(tmp_path / "n.spc"), SPC.load(model)
    assert (at_once.structures_.mean == followed.structures_.mean).all()


def test_a_pipe_is_followed_row_by_row(quick):
    process = started(
        *("cluster", "-", "--follow", "--out", "-", "-q", "--scale", 1, "--eps", 0.95),
        command=quick,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    process.stdin.write(b"x,y\n1,2\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"row,label\n"
    assert process.stdout.readline() == b"1,0\n"
    process.stdin.write(b"50,60\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"2,1\n"
    process.stdin.close()
    assert process.stdout.read() == b""
    process.stdout.close()
    assert process.wait(timeout=30) == 0


def test_ctrl_c_saves_everything(data, tmp_path):
    """While it waits for more of a pipe that says nothing any more."""
    model, labels = tmp_path / "m.spc", tmp_path / "l.csv"
    read, write = os.pipe()
    process = started(
        *("cluster", "-", "--save", model, "--out", labels, "--batch", 1000, "--read-bytes", 5000),
        stdin=read,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    os.close(read)
    with open(write, "wb", closefd=True) as pipe:
        pipe.write(data.read_bytes()[:300_000])
        pipe.flush()
        wait_for(lambda: labels.exists() and labels.read_bytes().count(b"\n") > 4000)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    rows = SPC.load(model).n_samples_seen_
    assert f"stopped after {rows:,} rows; everything is saved" in said.decode()
    assert labels.read_bytes().count(b"\n") == rows + 1
