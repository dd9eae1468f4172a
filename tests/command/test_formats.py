"""Whatever the format, the compression and the size of what is read: the same labels and model."""

import bz2
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from spclust import SPC
from tests.command.common import blobs, run, stdin_from, summary, table

PARAMETERS = ("--columns", "x,y", "--batch", "700", "--scale", "1.5")


def csv_bytes(data, delimiter=","):
    sink = pa.BufferOutputStream()
    pacsv.write_csv(data, sink, pacsv.WriteOptions(delimiter=delimiter))
    return sink.getvalue().to_pybytes()


def ndjson_bytes(data):
    return "".join(json.dumps(row) + "\n" for row in data.to_pylist()).encode()


def write_arrow_file(path, data):
    with pa.ipc.new_file(path, data.schema) as file:
        file.write_table(data, max_chunksize=900)


def write_arrow_stream(path, data):
    with pa.ipc.new_stream(path, data.schema) as file:
        file.write_table(data, max_chunksize=900)


def compressed(codec):
    return lambda path, data: path.write_bytes(
        pa.Codec(codec).compress(csv_bytes(data), asbytes=True)
    )


def swapped(data):
    return data.select(["class", "y", "name", "x"])


WRITERS = {
    "a.csv": lambda path, data: path.write_bytes(csv_bytes(data)),
    "crlf.csv": lambda path, data: path.write_bytes(csv_bytes(data).replace(b"\n", b"\r\n")),
    "bom.csv": lambda path, data: path.write_bytes(b"\xef\xbb\xbf" + csv_bytes(data)),
    "blank.csv": lambda path, data: path.write_bytes(
        b"\n" + csv_bytes(data).replace(b"\n", b"\n\n")
    ),
    "other_order.csv": lambda path, data: path.write_bytes(csv_bytes(swapped(data))),
    "a.tsv": lambda path, data: path.write_bytes(csv_bytes(data, "\t")),
    "a.ndjson": lambda path, data: path.write_bytes(ndjson_bytes(data)),
    "a.parquet": lambda path, data: pq.write_table(data, path, row_group_size=1100),
    "a.arrow": write_arrow_file,
    "a.arrows": write_arrow_stream,
    "a.csv.gz": lambda path, data: path.write_bytes(gzip.compress(csv_bytes(data))),
    "a.csv.bz2": lambda path, data: path.write_bytes(bz2.compress(csv_bytes(data))),
    "a.csv.zst": compressed("zstd"),
    "a.csv.lz4": compressed("lz4"),
    "a.jsonl.gz": lambda path, data: path.write_bytes(gzip.compress(ndjson_bytes(data))),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What the library says, batch by batch."""
    X, _ = blobs()
    model, labels = SPC(scale=1.5), []
    for start in range(0, len(X), 700):
        labels += model.partial_fit(X[start : start + 700]).labels_.tolist()
    return X, labels, model.structures_


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("read_bytes", [1_000_000, 4096])
def test_all_formats_give_what_the_library_gives(name, read_bytes, expected, tmp_path):
    WRITERS[name](tmp_path / name, table())
    out, model = tmp_path / "labels.csv", tmp_path / "model.spc"
    more = ("--out", out, "--save", model, "--read-bytes", read_bytes, "--label", "class")
    told = summary("cluster", tmp_path / name, *PARAMETERS, *more)
    labels = pacsv.read_csv(out)
    assert labels["row"].to_pylist() == list(range(1, 3001))
    assert labels["label"].to_pylist() == expected[1]
    loaded = SPC.load(model)
    assert loaded.feature_names_in_.tolist() == ["x", "y"]
    np.testing.assert_array_equal(loaded.structures_.mean, expected[2].mean)
    np.testing.assert_array_equal(loaded.structures_.covariance, expected[2].covariance)
    assert told["rows"] == 3000
    assert told["scores"]["purity"] > 0.99


OUTPUTS = [f"l.csv{codec}" for codec in ("", ".gz", ".zst", ".lz4")]
OUTPUTS += ["l.ndjson", "l.ndjson.gz", "l.tsv", "l.parquet", "l.arrow", "l.arrows"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_labels_can_be_read_in_each_format_they_are_written_in(name, expected, tmp_path):
    WRITERS["a.csv"](tmp_path / "a.csv", table())
    out = tmp_path / name
    asked = ("--typicality", "--outlier", "--keep", "name,x")
    run("cluster", tmp_path / "a.csv", *PARAMETERS, "--out", out, *asked, "-q")
    again = tmp_path / "again.csv"
    # Labels are a table as any other: the command itself reads them back.
    run(
        "cluster",
        out,
        "--columns",
        "label,typicality",
        "--keep",
        "name,row,x",
        "--out",
        again,
        "-q",
    )
    columns = pacsv.read_csv(again)
    assert columns["name"].to_pylist() == [f"row-{i}" for i in range(3000)]
    assert columns["row"].to_pylist()[:3] == [1, 2, 3]
    assert columns["x"].to_pylist() == expected[0][:, 0].tolist()


def test_several_files_are_one_stream(expected, tmp_path):
    data = table()
    for i, (start, stop) in enumerate([(0, 1000), (1000, 1001), (1001, 3000)]):
        part = data.slice(start, stop - start)
        WRITERS["a.csv"](tmp_path / f"part-{i}.csv", swapped(part) if i == 1 else part)
    (tmp_path / "part-3.csv").write_bytes(b"")
    out = tmp_path / "labels.csv"
    run("cluster", tmp_path / "part-*.csv", *PARAMETERS, "--out", out, "-q")
    labels = pacsv.read_csv(out)
    assert labels["label"].to_pylist() == expected[1]
    assert labels["row"].to_pylist() == list(range(1, 3001))


def test_a_directory_of_parquet_files_is_one_stream(expected, tmp_path):
    folder = tmp_path / "day"
    folder.mkdir()
    for i in range(3):
        pq.write_table(table().slice(1000 * i, 1000), folder / f"{i}.parquet")
    told = summary("cluster", folder, *PARAMETERS)
    assert told["rows"] == 3000


def test_columns_of_numbers_are_found_and_others_left_out(tmp_path):
    WRITERS["a.csv"](tmp_path / "a.csv", table())
    assert summary("cluster", tmp_path / "a.csv")["columns"] == ["x", "y"]
    assert summary("cluster", tmp_path / "a.csv", "--label", "x")["columns"] == ["y"]


def test_no_header_semicolons_decimal_commas_and_quoted_line_breaks(tmp_path):
    X, _ = blobs(50)
    lines = [f"{a};{b}".replace(".", ",") for a, b in X]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    given = ("--delimiter", ";", "--decimal", ",")
    told = summary("cluster", tmp_path / "a.csv", *given)
    assert (told["rows"], told["columns"]) == (50, ["x0", "x1"])
    lines[7] = "oops;1,5"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    told = summary("cluster", tmp_path / "a.csv", *given, "--on-bad-row", "skip")
    assert (told["rows"], told["bad_rows"]) == (49, 1)
    rows = [f'{a},"two\nlines, ""quoted""",{b}\n' for a, b in X]
    (tmp_path / "b.csv").write_text("a,text,b\n" + "".join(rows))
    told = summary("cluster", tmp_path / "b.csv", "--read-bytes", "64")
    assert (told["rows"], told["columns"]) == (50, ["a", "b"])


def test_another_encoding(tmp_path):
    (tmp_path / "a.csv").write_text("größe,y\n1,2\n3,4\n", encoding="utf-16")
    told = summary("cluster", tmp_path / "a.csv", "--encoding", "utf-16")
    assert told["columns"] == ["größe", "y"]


@pytest.mark.parametrize("kind", ["csv", "ndjson", "arrow"])
def test_standard_input_in_each_format(kind, tmp_path):
    data = table(500)
    if kind == "arrow":
        write_arrow_stream(tmp_path / "a", data)
    else:
        (tmp_path / "a").write_bytes(csv_bytes(data) if kind == "csv" else ndjson_bytes(data))
    with stdin_from(tmp_path / "a"):
        assert summary("cluster", "-", "--format", kind)["rows"] == 500
