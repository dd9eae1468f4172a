"""What a person means without saying it: formats of pipes, columns, values of JSON."""

import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from tests.command.common import run, spclust, table

ROWS = [
    {"x": 1.5, "y": 2, "n": 7, "s": "7", "t": True, "o": {"a": [1, "b"]}, "z": None},
    {"x": 1.6, "y": 2, "n": 1e300, "s": 'é"', "t": False, "o": [], "z": None},
] * 30


@pytest.fixture
def lines(tmp_path):
    (tmp_path / "a.ndjson").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "a.ndjson"


def test_a_pipe_is_recognised_by_its_content(tmp_path, quick, lines):
    data = table(200)
    with pa.ipc.new_stream(tmp_path / "a.arrows", data.schema) as stream:
        stream.write_table(data)
    pacsv.write_csv(data, tmp_path / "a.csv")
    for name, rows in (("a.ndjson", 60), ("a.arrows", 200), ("a.csv", 200)):
        given = ("cluster", "-", "-c", "x,y", "--json")
        done = spclust(*given, command=quick, input=(tmp_path / name).read_bytes())
        assert json.loads(done.stdout)["rows"] == rows, done.stderr
    wrong = spclust("cluster", "-", "--format", "csv", command=quick, input=lines.read_bytes())
    assert wrong.returncode == 1


def test_values_of_json_are_kept_as_they_are(tmp_path, lines):
    given = ("cluster", lines, "-c", "x,y", "--keep", "n,s,t,o,z", "--label", "s", "-q")
    run(*given, "--out", tmp_path / "l.ndjson")
    found = [json.loads(line) for line in (tmp_path / "l.ndjson").read_text().splitlines()]
    for row, wanted in zip(found, ROWS, strict=True):
        assert {name: row[name] for name in "nstoz"} == {name: wanted[name] for name in "nstoz"}
        assert type(row["n"]) is type(wanted["n"])
    run(*given, "--out", tmp_path / "l.parquet")
    kept = pq.read_table(tmp_path / "l.parquet").slice(0, 2).to_pylist()
    assert [row["o"] for row in kept] == ['{"a": [1, "b"]}', "[]"]
    assert [row["s"] for row in kept] == ["7", 'é"']
    assert [row["z"] for row in kept] == [None, None]


def test_columns_that_are_hardly_meant_are_named_in_one_warning(tmp_path):
    head = "user_id,x,y,class,createdAt,at\n"
    (tmp_path / "a.csv").write_text(head + "1,2.5,3,0,5,6\n2,2.4,3,1,6,7\n" * 20)
    said = run("cluster", tmp_path / "a.csv", "-q").stderr
    assert said.count("\n") == 1
    for part in (
        "'user_id' may be an identifier",
        "'class' may be a known class (--label says so)",
        "'createdAt' may be a time (--time says so)",
        "such as --columns x,y",
    ):
        assert part in said
    assert "'x'" not in said
    assert run("cluster", tmp_path / "a.csv", "-q", "--columns", "x,y").stderr == ""
    given = ("--label", "class", "--time", "at", "--on-bad-row", "skip")
    said = run("cluster", tmp_path / "a.csv", "-q", *given).stderr
    assert "class" not in said
    assert "'at'" not in said


def test_the_advice_of_an_error_works(tmp_path, lines):
    given = ("cluster", lines, "-c", "x,y", "-q", "--out", tmp_path / "labels")
    assert "say --out-format csv" in run(*given, code=1).stderr
    run(*given, "--out-format", "csv")
    said = run("generate", "--out", tmp_path / "stream", code=1).stderr
    assert "-format" not in said
    assert "use an ending such as .csv" in said
