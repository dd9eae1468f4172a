"""The file of a checkpoint: damage, the one before it, its lock, and what it costs to write."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from spclust.persistence import container
from tests.command.checkpoints.common import arguments, contents, with_bad_rows
from tests.command.common import ENVIRONMENT, csv_file, run

HOLD = """
import sys
from spclust.cli.checkpoints.checkpoint_lock import checkpoint_lock
with checkpoint_lock("c"):
    print("locked", flush=True)
    sys.stdin.read()
"""


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
