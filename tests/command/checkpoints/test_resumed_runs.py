"""Killed anywhere and started again: the same model, labels, events and bad rows, to the byte."""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from spclust import SPC
from tests.command.checkpoints.common import OUTPUTS, arguments, contents, with_bad_rows
from tests.command.common import COMMAND, run, spclust, started, stdin_from, table

# `SPCLUST_KILLS=50 pytest tests/command/checkpoints` is the long version.
KILLS = int(os.environ.get("SPCLUST_KILLS", "5"))
ROWS = 100_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return with_bad_rows(tmp_path_factory.mktemp("data") / "stream.csv", ROWS)


@pytest.fixture(scope="module")
def uninterrupted(data, quick, tmp_path_factory):
    """What a run writes that nobody disturbs, and how long it takes once kernels are compiled."""
    few = with_bad_rows(tmp_path_factory.mktemp("few") / "few.csv", 4000)
    run(*arguments(tmp_path_factory.mktemp("compiling"), few))
    folder = tmp_path_factory.mktemp("uninterrupted")
    began = time.perf_counter()
    done = spclust(*arguments(folder, data), command=quick)
    assert done.returncode == 0, done.stderr
    found = contents(folder)
    assert all(found.values())
    assert found["labels.csv"].count(b"\n") == ROWS + 1 - found["bad.ndjson"].count(b"\n")
    return found, time.perf_counter() - began


def killed_again_and_again(folder, given, quick, kills, longest, draw):
    """Start it, kill it, start it again ...; yield how often it was killed whenever it is done.

    Every other one is killed at any moment of its life, the rest when it has got somewhere. The
    first one is started as users start it, the others are forked.
    """
    checkpoint, killed = folder / "run.ck", 0

    def age():
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    while True:
        before, command = age(), quick if killed else COMMAND
        process = started(*given, command=command, stderr=subprocess.DEVNULL)
        if killed < kills and killed % 2 == 0:
            while age() == before and process.poll() is None:
                time.sleep(0.002)
            time.sleep(draw.uniform(0.0, longest / 10))
        elif killed < kills:
            time.sleep(draw.uniform(0.0, longest))
        if killed < kills and process.poll() is None:
            process.kill()
            killed += 1
        assert process.wait() in (0, -signal.SIGKILL)
        if process.returncode == 0:
            yield killed
            if killed == kills:
                return
            checkpoint.unlink()


def test_killed_at_random_moments(data, quick, uninterrupted, tmp_path):
    expected, seconds = uninterrupted
    draw = random.Random(os.environ.get("SPCLUST_SEED"))
    given = arguments(tmp_path, data)
    for killed in killed_again_and_again(tmp_path, given, quick, KILLS, seconds, draw):
        assert contents(tmp_path) == expected
        print(f"{killed} kills so far")
        for name in OUTPUTS:  # nothing of this run is left to help the next one
            (tmp_path / name).unlink()


def test_stopped_in_the_middle_and_read_in_other_blocks(data, uninterrupted, tmp_path):
    """An interrupt is a kill that has time to save: what follows is the same again."""
    process = started(*arguments(tmp_path, data))
    while not (tmp_path / "run.ck").exists():
        time.sleep(0.01)
    process.terminate()
    assert process.wait(timeout=60) == 143
    so_far = (tmp_path / "labels.csv").read_bytes()
    assert uninterrupted[0]["labels.csv"].startswith(so_far)
    run(*arguments(tmp_path, data, "--read-bytes", 7000))
    assert contents(tmp_path) == uninterrupted[0]


@pytest.mark.parametrize("kind", ["gz", "parquet", "ndjson", "stdin", "parts"])
def test_other_inputs_go_on_too(kind, tmp_path):
    """A run that is given half of the input first, as if the rest had not been there yet."""
    whole = with_bad_rows(tmp_path / "whole.csv", 12_000)
    folder, reference = tmp_path / "a", tmp_path / "b"
    folder.mkdir()
    reference.mkdir()
    name = {"stdin": "-", "parts": tmp_path / "part-*.csv"}.get(kind, tmp_path / f"i.{kind}")

    def write(rows):
        lines = whole.read_text().splitlines(keepends=True)[: rows + 1]
        if kind == "parquet":
            pq.write_table(table(12_000).slice(0, rows), name, row_group_size=5000)
        elif kind == "ndjson":
            objects = ({"x": i % 7, "y": i % 5, "class": "c", "name": "n"} for i in range(rows))
            name.write_text("".join(json.dumps(each) + "\n" for each in objects))
        elif kind == "parts":
            for part in range(0, rows, 3000):
                here = [lines[0], *lines[part + 1 : part + 3001]]
                (tmp_path / f"part-{part:05}.csv").write_text("".join(here))
        elif kind == "gz":
            name.write_bytes(gzip.compress("".join(lines).encode()))
        else:
            (tmp_path / "stdin").write_text("".join(lines))

    def go(folder):
        more = ["--format", "csv"] if kind == "gz" else []
        with stdin_from(tmp_path / "stdin" if kind == "stdin" else os.devnull):
            run(*arguments(folder, name, *more))

    write(6000 if kind in ("parts", "parquet") else 9000)
    go(folder)
    write(12_000)
    go(folder)
    go(reference)
    # Where the first half ended, its last batch was a smaller one, and its labels were told then.
    for name in ("events.ndjson", "bad.ndjson"):
        assert (folder / name).read_bytes() == (reference / name).read_bytes()
    rows = [(f / "labels.csv").read_text().count("\n") for f in (folder, reference)]
    assert rows[0] == rows[1] > 11_900


def test_a_finished_run_is_finished(data, uninterrupted, tmp_path):
    run(*arguments(tmp_path, data))
    again = run(*arguments(tmp_path, data, "--json"))
    assert "going on after row" in again.stderr
    assert '"resumed_after": 99' in again.stdout
    assert contents(tmp_path) == uninterrupted[0]


def three_clusters(rows):
    """Lines of CSV, by integers alone: the same bytes on every machine."""
    centres = [(0, 0), (50, 10), (20, 80)]
    lines = (
        f"{centres[i % 3][0] + i * 37 % 101 / 50},{centres[i % 3][1] + i * 53 % 103 / 50}\n"
        for i in range(rows)
    )
    return "x,y\n" + "".join(lines)


def test_a_checkpoint_of_an_earlier_version_is_resumed(tmp_path, monkeypatch):
    """It was written after 600 rows, before the command was divided into packages."""
    stored = Path(__file__).parent / "checkpoint_format_2.ck"
    shutil.copy(stored, tmp_path / "run.ck")
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(three_clusters(900))
    given = ("cluster", "a.csv", "--n-structures", 6, "--scale", 0.2, "--batch", 100)
    given += ("--standardise", "--warmup", 200)
    resumed = run(*given, "--checkpoint", "run.ck", "--save", "resumed.spc", "--json")
    assert json.loads(resumed.stdout)["resumed_after"] == 600
    run(*given, "--save", "at_once.spc", "-q")
    models = [SPC.load(name) for name in ("resumed.spc", "at_once.spc")]
    assert [model.n_samples_seen_ for model in models] == [900, 900]
    means = [model.structures_.mean for model in models]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-9)  # processors may differ in last bits
    assert models[0].n_clusters_ == models[1].n_clusters_ == 3
