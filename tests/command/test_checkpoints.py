"""Killed anywhere and started again: the same model, labels, events and bad rows, to the byte."""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from spclust import SPC
from spclust.persistence import container
from spclust.tables import open_writer
from tests.command.common import (
    COMMAND,
    ENVIRONMENT,
    csv_file,
    run,
    spclust,
    started,
    stdin_from,
    table,
)

# `SPCLUST_KILLS=50 pytest tests/command/test_checkpoints.py` is the long version.
KILLS = int(os.environ.get("SPCLUST_KILLS", "5"))
ROWS = 100_000
OUTPUTS = ("labels.csv", "events.ndjson", "bad.ndjson", "model.spc")


def arguments(folder, data, *more):
    """A run that writes everything a run can write."""
    paths = {name: folder / name for name in OUTPUTS}
    return [
        *("cluster", data, "-c", "x,y", "--label", "class", "--keep", "name", "--standardise"),
        *("--out", paths["labels.csv"], "--typicality", "--events", paths["events.ndjson"]),
        *("--on-bad-row", "collect", paths["bad.ndjson"], "--save", paths["model.spc"]),
        *("--checkpoint", folder / "run.ck", "--every", 4000, "--batch", 2000, "--warmup", 3000),
        *(
            "--scale",
            0.3,
            "--beta",
            0.01,
            "--track-every",
            500,
            "--read-bytes",
            50_000,
            "-q",
            *more,
        ),
    ]


def contents(folder):
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def with_bad_rows(path, rows):
    lines = csv_file(path, rows).read_text().splitlines()
    for i in range(50, len(lines), 997):
        lines[i] = "1.0,not a number,here,c0"
    path.write_text("\n".join(lines) + "\n")
    return path


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


def test_another_command_or_another_input_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 5000)
    given = ("cluster", "a.csv", "--checkpoint", "c", "--out", "l.csv", "-q")
    run(*given)
    for more, words in {
        ("--scale", "2"): "made with --scale not given, not 2",
        ("--batch", "50"): "made with --batch not given, not 50",
        ("--columns", "x"): "--columns",
    }.items():
        assert words in run(*given, *more, code=1).stderr
    csv_file(tmp_path / "b.csv", 5000)
    assert "other inputs" in run("cluster", "b.csv", *given[2:], code=1).stderr
    labels = Path("l.csv").read_bytes()
    Path("l.csv").write_bytes(labels[:-5])
    assert "was changed" in run(*given, code=1).stderr
    Path("l.csv").write_bytes(labels)
    csv_file(tmp_path / "a.csv", 5000, seed=1)
    assert "not the input" in run(*given, code=1).stderr
    csv_file(tmp_path / "a.csv", 10)
    assert "not the input" in run(*given, code=1).stderr


def test_a_damaged_checkpoint_is_refused_and_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 5000)
    given = ("cluster", "a.csv", "--checkpoint", "c", "-q")
    run(*given)
    whole = Path("c").read_bytes()
    for damaged in (whole[:-7], b"", whole[:900] + b"?" + whole[901:], b"hello"):
        Path("c").write_bytes(damaged)
        assert "Cannot go on from 'c'" in run(*given, code=1).stderr
        assert Path("c").read_bytes() == damaged
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    assert "no checkpoint" in run("cluster", "a.csv", "--checkpoint", "m.spc", code=1).stderr
    Path("c").write_bytes(whole)
    assert "Cannot load 'c'" in run("info", "c", code=1).stderr


CHANGED = {"row-700": "row-7OO", "row-2900": "row-29OO"}  # in the first block, in the last one


@pytest.mark.parametrize("change", CHANGED.items())
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "ndjson", "parquet", "arrows", "stdin", "parts"])
def test_rows_that_were_learnt_must_not_change(kind, change, tmp_path, monkeypatch):
    """One cell of one of them is enough; rows may be appended."""
    monkeypatch.chdir(tmp_path)
    name = {"stdin": "-", "parts": "part-*.csv"}.get(kind, f"a.{kind}")
    rows = table(4000).select(["x", "y", "name"])

    def write(count, old="", new=""):
        names = [new if each == old else each for each in rows["name"].to_pylist()]
        here = rows.set_column(2, "name", pa.array(names)).slice(0, count)
        if kind == "parts":
            pacsv.write_csv(here.slice(0, 2000), "part-0.csv")
            pacsv.write_csv(here.slice(2000), "part-1.csv")
        elif kind == "ndjson":
            Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in here.to_pylist()))
        elif kind == "parquet":
            pq.write_table(here, name, row_group_size=1500)
        elif kind == "stdin":
            pacsv.write_csv(here, "stdin")
        else:
            writer = open_writer(name)
            writer.add(here)
            writer.close()

    def go(code=0):
        with stdin_from("stdin" if kind == "stdin" else os.devnull):
            given = ("--keep", "name", "--out", "l.csv", "--checkpoint", "c", "-q")
            return run("cluster", name, *given, "--read-bytes", 20_000, code=code).stderr

    write(3000)
    go()
    learnt = Path("c").read_bytes(), Path("l.csv").read_bytes()
    write(3000, *change)
    assert "is not the input that the checkpoint was made with" in go(code=1)
    assert (Path("c").read_bytes(), Path("l.csv").read_bytes()) == learnt
    write(4000)
    assert "going on after row 3,000" in go()
    assert Path("l.csv").read_text().count("\n") == 4001


def test_a_row_behind_the_checkpoint_may_be_repaired(tmp_path, monkeypatch):
    """Also one of the block of text that the last row before the checkpoint is in."""
    monkeypatch.chdir(tmp_path)
    good = csv_file(tmp_path / "a.csv", 5000).read_text()
    given = ("cluster", "a.csv", "-c", "x,y", "--batch", 1000, "-q", "--out")
    run(*given, "at_once.csv")
    resumable = (*given, "l.csv", "--every", 1000, "--checkpoint", "c")
    lines = good.splitlines(keepends=True)
    lines[4600] = "1.0,red,name,c0\n"
    Path("a.csv").write_text("".join(lines))
    assert "row 4600" in run(*resumable, code=1).stderr
    lines[3990] = lines[3991]
    Path("a.csv").write_text("".join(lines))
    assert "is not the input" in run(*resumable, code=1).stderr
    Path("a.csv").write_text(good)
    assert "going on after row 4,000" in run(*resumable).stderr
    assert Path("l.csv").read_bytes() == Path("at_once.csv").read_bytes()


def test_what_was_written_must_not_change(tmp_path):
    data = with_bad_rows(tmp_path / "a.csv", 5000)
    run(*arguments(tmp_path, data))
    expected = contents(tmp_path)
    for name in ("labels.csv", "events.ndjson", "bad.ndjson"):
        file = tmp_path / name
        whole = file.read_bytes()
        file.write_bytes(whole[:-9] + b"?" + whole[-8:])
        said = run(*arguments(tmp_path, data), code=1).stderr
        assert f"{str(file)!r} was changed after the checkpoint was made" in said
        file.write_bytes(whole + b"what the checkpoint does not know")
        run(*arguments(tmp_path, data))
    assert contents(tmp_path) == expected


def test_a_damaged_checkpoint_is_replaced_by_the_one_before(tmp_path):
    data = with_bad_rows(tmp_path / "a.csv", 11_000)
    run(*arguments(tmp_path, data))
    expected, last = contents(tmp_path), tmp_path / "run.ck"
    sound, previous = last.read_bytes(), tmp_path / "run.ck.previous"
    before = previous.read_bytes()
    for damaged in (b"", sound[:-7], sound[:900] + b"?" + sound[901:], b"hello"):
        last.write_bytes(damaged)
        previous.write_bytes(before)
        said = run(*arguments(tmp_path, data)).stderr
        assert f"{str(last)!r} is damaged: going on from the one before" in said
        assert "going on after row 10,9" not in said
        assert contents(tmp_path) == expected
        assert previous.read_bytes() == before
    last.write_bytes(b"")
    previous.write_bytes(b"")
    assert "Cannot go on from" in run(*arguments(tmp_path, data), code=1).stderr


def test_killed_between_the_two_names_of_a_checkpoint(tmp_path, monkeypatch):
    """The last one and the one before it are then the same file."""
    monkeypatch.chdir(tmp_path)
    lines = csv_file(tmp_path / "a.csv", 4000).read_text().splitlines(keepends=True)
    Path("a.csv").write_text("".join(lines[:3001]))
    given = ("cluster", "a.csv", "--checkpoint", "c", "-q")
    run(*given)
    os.link("c", "c.previous")
    before = Path("c").read_bytes()
    Path("a.csv").write_text("".join(lines))
    run(*given)
    assert sorted(os.listdir()) == ["a.csv", "c", "c.previous"]
    assert Path("c").read_bytes() != before == Path("c.previous").read_bytes()


def test_without_a_checkpoint_the_one_before_is_of_no_use(tmp_path, monkeypatch):
    """Whoever removes a checkpoint starts anew, and never goes on from what is left of it."""
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 3000)
    given = ("cluster", "a.csv", "--batch", 1000, "--every", 1000, "--checkpoint", "c", "-q")
    run(*given)
    Path("c").unlink()
    csv_file(tmp_path / "a.csv", 1000, seed=1)
    assert run(*given, "--every", 5000).stderr == ""
    assert sorted(os.listdir()) == ["a.csv", "c"]


HOLD = """
import sys
from spclust.cli.checkpoints.checkpoint_lock import checkpoint_lock
with checkpoint_lock("c"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_share_a_checkpoint(tmp_path, monkeypatch):
    """The lock of one that was killed is none."""
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 1000)
    os.symlink("c", "link")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD], env=ENVIRONMENT, **pipes) as holder:
        assert holder.stdout.readline() == b"locked\n"
        for name in ("c", "link"):
            said = run("cluster", "a.csv", "--checkpoint", name, "-q", code=1).stderr
            assert f"The checkpoint {name!r} is in use by process {holder.pid}: wait" in said
        assert not Path("c").exists()
        holder.kill()
    assert Path("c.lock").exists()
    run("cluster", "a.csv", "--checkpoint", "c", "-q")
    assert not Path("c.lock").exists()


def counted_everywhere(function, counts, key, monkeypatch):
    """Count calls of a function of the container, by whatever module they are made."""

    def counted(*arguments):
        counts[key(*arguments)] += 1
        return function(*arguments)

    name = function.__name__
    for module in [m for n, m in sys.modules.items() if n.startswith("spclust")]:
        if getattr(module, name, None) is function:
            monkeypatch.setattr(module, name, counted)


@pytest.mark.parametrize("save", [(), ("--save", "m.spc")])
def test_a_model_is_encoded_once_per_checkpoint(save, tmp_path, monkeypatch):
    """The last checkpoint and the saved model, too, are made of the same bytes."""
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 5000)
    given = ("cluster", "a.csv", "--batch", 1000, "--every", 2000, *save, "-q")
    run(*given, "--checkpoint", "first")  # everything is imported from here on
    counts = Counter()
    counted_everywhere(
        container.encode, counts, lambda header, arrays: header["class"], monkeypatch
    )
    counted_everywhere(container.decode, counts, lambda data: "decoded", monkeypatch)
    run(*given, "--checkpoint", "second")
    assert counts == {"checkpoint": 3, "SPC": 3}  # after 2000, 4000 and 5000 rows
    assert Path("first").read_bytes() == Path("second").read_bytes()
    if save:
        _, arrays = container.decode(Path("second").read_bytes())
        assert arrays["model"].tobytes() == Path("m.spc").read_bytes()


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
