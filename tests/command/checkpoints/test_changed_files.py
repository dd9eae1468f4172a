"""Inputs, outputs and options that are not those of the checkpoint any more are refused."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from spclust.tables import open_writer
from tests.command.checkpoints.common import arguments, contents, with_bad_rows
from tests.command.common import csv_file, run, stdin_from, table

CHANGED = {"row-700": "row-7OO", "row-2900": "row-29OO"}  # in the first block, in the last one


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


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=repr)
def test_blank_lines_at_the_end_of_a_file_are_no_change(end, tmp_path, monkeypatch):
    """They fill blocks of their own, in which there is no row."""
    monkeypatch.chdir(tmp_path)
    for name in ("part-0.csv", "part-1.csv"):
        Path(name).write_bytes(f"x,y\n1,2\n3,4\n5,6{150 * end}".encode())
    given = ("cluster", "part-*.csv", "--out", "l.csv", "--checkpoint", "c", "-q")
    run(*given, "--read-bytes", 64)
    labels = Path("l.csv").read_bytes()
    assert "going on after row 6" in run(*given, "--read-bytes", 64).stderr
    assert Path("l.csv").read_bytes() == labels


def test_an_output_that_was_removed_is_missed(tmp_path, monkeypatch):
    """Also one that was empty."""
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 50)
    given = ("cluster", "a.csv", "--checkpoint", "c", "--out", "l.csv", "-q")
    given += ("--on-bad-row", "collect", "bad")
    run(*given)
    assert not Path("bad").read_bytes()
    for name in ("bad", "l.csv"):
        before = Path(name).read_bytes()
        Path(name).unlink()
        said = run(*given, code=1).stderr
        assert f"{name!r} was removed after the checkpoint was made: restore the file" in said
        Path(name).write_bytes(before)
    run(*given)
