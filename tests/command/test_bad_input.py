"""Bad input of each kind: one sentence that says what and where, and an exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command.common import ENVIRONMENT, csv_file, run, spclust, stdin_from, summary

GOOD = "x,y\n1,2\n3,4\n5,6\n"

# name of the file, its content, more arguments, exit code, words of the one sentence
CASES = {
    "text in a cell": ("a.csv", GOOD + "7,red\n", (), 1, ["'a.csv', row 4", "'y'", "'red'"]),
    "an empty cell": ("a.csv", GOOD + "7,\n", (), 1, ["row 4", "column 'y' is empty"]),
    "a missing value": ("a.csv", GOOD + "NA,1\n", (), 1, ["row 4", "'x'", "'NA'"]),
    "infinity": ("a.csv", GOOD + "inf,1\n", (), 1, ["row 4", "'x'", "not finite"]),
    "too few cells": ("a.csv", GOOD + "7\n", (), 1, ["row 4", "1 cells", "first row has 2"]),
    "too many cells": ("a.csv", GOOD + "7,8,9\n", (), 1, ["row 4", "3 cells", "'7,8,9'"]),
    "an empty file": ("a.csv", "", (), 1, ["'a.csv' is empty"]),
    "only line breaks": ("a.csv", "\n\n", (), 1, ["'a.csv' is empty"]),
    "a header only": ("a.csv", "x,y\n", (), 1, ["'a.csv'", "no rows"]),
    "strings only": ("a.csv", "n\nred\nblue\n", (), 1, ["no column of numbers", "'n'"]),
    "a column of strings": ("a.csv", "n,x\nred,1\n", ("-c", "n"), 1, ["row 1", "'n'", "'red'"]),
    "another delimiter": ("a.csv", "x;y\n1;2\n", (), 1, ["no column of numbers", "--delimiter"]),
    "latin-1 in the header": ("a.csv", b"gr\xf6\xdfe,y\n1,2\n", (), 1, ["not UTF-8", "--encoding"]),
    "latin-1 in a cell": ("a.csv", b"x,y\n1,gr\xf6\n", ("-c", "y"), 1, ["not UTF-8"]),
    "utf-16": ("a.csv", GOOD.encode("utf-16"), (), 1, ["not UTF-8", "utf-16"]),
    "a missing column": ("a.csv", GOOD, ("-c", "x,z"), 1, ["no column 'z'", "'x', 'y'"]),
    "a misspelt column": ("a.csv", "speed\n1\n", ("-c", "sped"), 1, ["mean 'speed'?"]),
    "no label column": ("a.csv", GOOD, ("--label", "z"), 1, ["no column 'z'", "'x', 'y'"]),
    "two columns of a name": ("a.csv", "x,x\n1,2\n", (), 1, ["two columns 'x'"]),
    "an unknown ending": ("a.dat", GOOD, (), 1, ["'a.dat'", "--format"]),
    "no JSON": ("a.ndjson", '{"x": 1}\n{"x": \n', (), 1, ["row 2", "no JSON object"]),
    "JSON without a key": ("a.ndjson", '{"x": 1}\n{"y": 2}\n', ("-c", "x"), 1, ["row 2", "empty"]),
    "JSON with text": ("a.ndjson", '{"x": 1}\n{"x": "a"}\n', ("-c", "x"), 1, ["row 2", "'a'"]),
    "a JSON truth": ("a.ndjson", '{"x": 1}\n{"x": true}\n', ("-c", "x"), 1, ["row 2", "True"]),
    "no Parquet": ("a.parquet", GOOD, (), 1, ["'a.parquet' is no Parquet file"]),
    "no Arrow": ("a.arrow", GOOD, (), 1, ["'a.arrow' is no Arrow"]),
    "no gzip any more": ("a.csv.gz", b"\x1f\x8b\x08\x00broken", (), 1, ["a.csv.gz"]),
    "all rows bad": ("a.csv", "x\na\n", ("-c", "x", "--on-bad-row", "skip"), 1, ["all 1 rows"]),
    "a wrong parameter": ("a.csv", GOOD, ("--eps", "7"), 2, ["eps", "7"]),
    "a word for a number": ("a.csv", GOOD, ("--m", "soft"), 2, ["m of SPC", "'soft'"]),
    "a wrong option": ("a.csv", GOOD, ("--nonsense", "1"), 2, ["--nonsense"]),
    "a wrong word": ("a.csv", GOOD, ("--on-bad-row", "weep"), 2, ["skip, stop or collect"]),
    "Parquet to -": ("a.csv", GOOD, ("-o", "-", "--out-format", "parquet"), 1, ["standard output"]),
    "cut back": ("a.csv", GOOD, ("--checkpoint", "c", "-o", "l.parquet"), 1, ["l.parquet", ".csv"]),
    "labels over the input": ("a.csv", GOOD, ("-o", "./a.csv"), 1, ["./a.csv' is an input"]),
    "one file twice": ("a.csv", GOOD, ("-o", "l", "--events", "./l"), 1, ["--out and --events"]),
    "a model for a checkpoint": (
        *("a.csv", GOOD, ("--save", "m", "--checkpoint", "m"), 1),
        ["--save and --checkpoint name the same file, 'm': name two files."],
    ),
    "bad rows over labels": (
        *("a.csv", GOOD, ("-o", "l.csv", "--on-bad-row", "collect", "l.csv"), 1),
        ["--out and --on-bad-row collect"],
    ),
    "two outputs on -": ("a.csv", GOOD, ("-o", "-", "--events", "-"), 1, ["--out and --events"]),
    "no such folder": ("a.csv", GOOD, ("--save", "no/m.spc"), 1, ["no folder 'no'"]),
    "a folder for a file": ("a.csv", GOOD, ("--save", "."), 1, ["it is a folder"]),
    "two follows": ("a.csv", GOOD, ("b.csv", "--follow"), 1, ["does not exist"]),
}


def sentence(result):
    """What is said, the boxes around usage errors left out."""
    return " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_and_an_exit_code(case, tmp_path, monkeypatch):
    name, content, arguments, code, words = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("cluster", name, *arguments, code=code)
    said = sentence(result)
    assert all(word in said for word in words), said
    assert result.stdout == ""
    if code == 1:
        assert said.startswith("spclust: ")
        assert len(result.stderr.splitlines()) == 1


def test_no_command_writes_to_what_it_reads(tmp_path, monkeypatch):
    """By whatever name: a path, a symbolic link, a hard link, standard input."""
    monkeypatch.chdir(tmp_path)
    csv_file("a.csv", 100)
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    os.symlink("a.csv", "soft.csv")
    os.link("a.csv", "hard.csv")
    os.symlink("new.csv", "not-there-yet.csv")
    before = Path("a.csv").read_bytes()
    for *arguments, target in (
        ("cluster", "a.csv", "--events", tmp_path / "a.csv"),
        ("cluster", "soft.csv", "--on-bad-row", "collect", "hard.csv"),
        ("predict", "m.spc", "a.csv", "--out", "soft.csv"),
        ("watch", "a.csv", "--on-bad-row", "collect", "a.csv"),
        ("plot", "m.spc", "--points", "a.csv", "--on-bad-row", "collect", "soft.csv"),
    ):
        assert f"{str(target)!r} is an input" in run(*arguments, target, code=1).stderr
    assert "is an input" in run("predict", "m.spc", "a.csv", "--out", "m.spc", code=1).stderr
    with stdin_from("a.csv"):
        assert "is an input" in run("cluster", "-", "--out", "a.csv", code=1).stderr
    twice = run("cluster", "a.csv", "-o", "not-there-yet.csv", "--events", "new.csv", code=1)
    assert "name the same file" in twice.stderr
    run("cluster", "a.csv", "-o", os.devnull, "--out-format", "csv", "--events", os.devnull, "-q")
    assert Path("a.csv").read_bytes() == before


def test_labels_that_cannot_be_compressed_leave_the_file_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(GOOD)
    Path("l.csv.bz2").write_text("of an earlier run")
    said = sentence(run("cluster", "a.csv", "--out", "l.csv.bz2", code=1))
    assert said == "spclust: 'l.csv.bz2': labels can be compressed as .gz, .zst or .lz4."
    assert Path("l.csv.bz2").read_text() == "of an earlier run"


@pytest.mark.parametrize("missing", ["matplotlib", "river", "markdown_it"])
def test_reproduce_names_a_package_that_is_not_installed(missing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    result = run("reproduce", code=1)
    assert result.stderr == (
        f"spclust: spclust reproduce needs {missing}: install it with pip install "
        "'spclust[reproduce]'.\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", ["cluster rows.csv", "watch rows.csv", "generate sine"])
def test_a_command_that_needs_pyarrow_says_so(arguments, tmp_path):
    """The help of all commands, and `spclust reproduce`, do without."""
    (tmp_path / "rows.csv").write_text(GOOD)

    def ran(*arguments):
        code = "import sys; sys.modules['pyarrow'] = None\nfrom spclust.cli import app; app()"
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
        )

    refused = ran(*arguments.split())
    assert (refused.returncode, refused.stdout, refused.stderr) == (
        1,
        "",
        "spclust: This command needs pyarrow: install it with pip install 'spclust[cli]'.\n",
    )
    helped = ran(arguments.split()[0], "--help")
    assert helped.returncode == 0, helped.stderr
    assert "Usage" in helped.stdout


def test_reproduce_says_in_one_sentence_what_cannot_be_imported(tmp_path):
    """A package that is there, but broken."""
    code = (
        "import sys; sys.modules['matplotlib.patches'] = None\n"
        "from spclust.cli import app; app(['reproduce', '--seeds', '1'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith("spclust: ")
    assert "matplotlib.patches" in said


@pytest.mark.parametrize("command", ["cluster", "predict", "watch", "plot"])
def test_a_wrong_word_for_bad_rows_is_a_wrong_option_of_every_command(
    command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv", 300)
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    inputs = {"predict": ["m.spc", "a.csv"], "plot": ["m.spc", "--points", "a.csv"]}
    result = run(command, *inputs.get(command, ["a.csv"]), "--on-bad-row", "weep", code=2)
    assert "--on-bad-row is skip, stop or collect FILE, not 'weep'." in sentence(result)


def test_a_directory_and_files_that_do_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, words in {
        "folder": "is a directory without Parquet files",
        "nothing.csv": "'nothing.csv' does not exist",
        "no*.csv": "'no*.csv' matches no file",
    }.items():
        assert words in sentence(run("cluster", name, code=1))
    (tmp_path / "secret.csv").write_text(GOOD)
    for model in ("nothing.spc", "secret.csv"):
        assert model in sentence(run("info", model, code=1))


def test_times_are_no_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(
        pa.table({"t": pa.array([1, 2], pa.timestamp("s")), "x": [1.0, 2.0]}), "a.parquet"
    )
    assert summary("cluster", "a.parquet")["columns"] == ["x"]
    assert "holds times" in sentence(run("cluster", "a.parquet", "-c", "t", code=1))


BAD = {
    "a.csv": "x,y,name\n1,2,a\nred,3,b\n4,5,c\n6\n7,,d\n8,9,e\n",
    "a.ndjson": '{"x":1,"y":2}\n{"x":"red","y":3}\n{"x":4,"y":5}\n'
    '{"x":6\n{"x":7,"y":null}\n{"x":8,"y":9}\n',
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("read_bytes", [64, 1_000_000])
def test_bad_rows_are_skipped_or_collected_with_all_there_is_to_know(
    name, read_bytes, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(BAD[name])
    given = ("cluster", name, "-c", "x,y", "--batch", "2", "--read-bytes", read_bytes)
    told = summary(*given, "--on-bad-row", "skip", "--out", "l.csv")
    assert (told["rows"], told["bad_rows"]) == (3, 3)
    rows = [line.split(",")[0] for line in (tmp_path / "l.csv").read_text().split()]
    assert rows == ["row", "1", "3", "6"]
    assert summary(*given, "--on-bad-row", "collect", "bad.ndjson")["bad_rows"] == 3
    collected = [json.loads(line) for line in (tmp_path / "bad.ndjson").read_text().splitlines()]
    assert [(each["file"], each["row"]) for each in collected] == [(name, 2), (name, 4), (name, 5)]
    assert collected[0]["column"] == "x"
    assert "red" in json.dumps(collected[0])
    assert collected[2]["why"] == "column 'y' is empty"


def test_an_endless_stream_of_bad_rows_is_not_waited_for(tmp_path, quick):
    """The first of them ends the run, though no batch is ever full."""
    bad = 'import sys; print("x\\n1", flush=True)\nwhile True: sys.stdout.write("red\\n" * 1000)'
    with subprocess.Popen([sys.executable, "-c", bad], stdout=subprocess.PIPE) as endless:
        given = ("cluster", "-", "-c", "x", "--on-bad-row", "stop")
        done = spclust(*given, command=quick, stdin=endless.stdout)
        endless.kill()
    assert done.returncode == 1
    assert b"'-', row 2: column 'x' holds 'red', which is not a number" in done.stderr
    (tmp_path / "a.csv").write_text("x\n" + "red\n" * 30_000 + "1\n")
    given = ("-c", "x", "--on-bad-row", "collect", tmp_path / "bad", "--read-bytes", 9000)
    assert summary("cluster", tmp_path / "a.csv", *given)["bad_rows"] == 30_000
    assert (tmp_path / "bad").read_bytes().count(b"\n") == 30_000


def test_a_bad_row_does_not_change_what_the_others_become(tmp_path):
    path = csv_file(tmp_path / "a.csv", 2000)
    lines = path.read_text().splitlines()
    run("cluster", path, "--out", tmp_path / "clean.csv", "--batch", 100, "-q")
    spoilt = [lines[0]]
    for i, line in enumerate(lines[1:]):
        spoilt += [line, *(["no,number,here,x"] if i % 97 == 0 else [])]
    path.write_text("\n".join(spoilt))
    given = ("--on-bad-row", "skip", "--batch", 100, "-q", "--read-bytes", 5000)
    run("cluster", path, "--out", tmp_path / "spoilt.csv", *given)
    labels = [
        [line.split(",")[1] for line in (tmp_path / name).read_text().splitlines()]
        for name in ("clean.csv", "spoilt.csv")
    ]
    assert labels[0] == labels[1]
