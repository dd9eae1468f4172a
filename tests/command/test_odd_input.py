"""Damaged, crafted and odd files: refused in one sentence, or read as what they are."""

import json
import struct
from contextlib import suppress

import fuzz.inputs
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.tables import ReadOptions, TableError, read_batches
from spclust.tables.chunks import Columns, Position
from spclust.tables.readers import open_reader
from spclust.tables.text.csv_records import Records
from spclust.tables.text_file import TextFile
from tests.command.common import run, summary
from tests.strategies import examples

FILES = fuzz.inputs.valid_files(np.random.default_rng(0))


def said(*arguments, code=1):
    """The one sentence of a run that is refused."""
    result = run("cluster", *arguments, code=code)
    assert result.stdout == ""
    text = " ".join(result.stderr.replace("│", " ").split())
    assert code == 2 or (text.startswith("spclust: ") and result.stderr.count("\n") == 1)
    return text


def arrow_with_offsets(path, texts, offsets):
    """Two record batches of an Arrow stream; the offsets of the second one's texts are forged."""
    batch = pa.record_batch({"x": np.arange(len(texts)) * 1.0, "name": texts})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    right = struct.pack(f"<{len(texts) + 1}i", *np.cumsum([0, *map(len, texts)]))
    data = path.read_bytes()
    assert data.count(right) == 2
    at = data.rindex(right)
    path.write_bytes(
        data[:at] + struct.pack(f"<{len(offsets)}i", *offsets) + data[at + len(right) :]
    )


@pytest.mark.parametrize("offsets", [(0, 4, 300, 600), (0, 4, -8, 12), (0, 9, 4, 12)])
@pytest.mark.parametrize("option", ["--keep", "--label"])
def test_forged_offsets_do_not_read_foreign_memory(offsets, option, tmp_path):
    arrow_with_offsets(tmp_path / "a.arrows", ["abcd", "efgh", "ijkl"], offsets)
    text = said(tmp_path / "a.arrows", option, "name", "--out", tmp_path / "l.csv")
    assert "a.arrows' is damaged in record batch 2: " in text


def test_a_damaged_dictionary_is_refused(tmp_path):
    path = tmp_path / "a.arrow"
    codes = pa.array([1, 0, 1, 1], pa.int8())
    texts = pa.DictionaryArray.from_arrays(codes, ["red", "blue"])
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "name": texts})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    data = path.read_bytes()
    assert data.count(b"\1\0\1\1\0\0\0\0") == 1
    path.write_bytes(data.replace(b"\1\0\1\1\0\0\0\0", b"\1\0\1\x77\0\0\0\0"))
    assert "a.arrow' is damaged in record batch 1: " in said(path, "--keep", "name")


def test_text_of_parquet_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"x": [1.0, 2.0], "name": ["mmmmm", "nnnnn"]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"nnnnn", b"nn\xffnn"))
    assert "a.parquet' is damaged in the rows from 1 on" in said(path, "--keep", "name")


@pytest.mark.parametrize("name", FILES)
def test_truncated_files_are_named(name, tmp_path):
    """Where a truncated text is a table, too, the last row is bad."""
    (tmp_path / name).write_bytes(FILES[name][: len(FILES[name]) // 2])
    assert repr(str(tmp_path / name)) in said(tmp_path / name, "-c", "x,y,class")


def test_fuzzed_files_end_as_they_should(tmp_path):
    fuzz.inputs.load()
    rng = np.random.default_rng(5)
    for _, (name, data) in zip(range(8), fuzz.inputs.mutants(rng), strict=False):
        arguments = fuzz.inputs.arguments_for(rng, name)
        result = fuzz.inputs.outcome(name, data, arguments, str(tmp_path))
        assert result.problem is None, (name, result)
    assert fuzz.inputs.outcome("a.csv", b"x\n1\n", ["nothing"], str(tmp_path)).problem is not None


def test_a_fuzzed_run_that_takes_too_long_is_a_problem(tmp_path, monkeypatch):
    """Also in a process of its own, which needs longer than this to start."""
    monkeypatch.setattr(fuzz.inputs, "_SECONDS", 0.05)
    given = (FILES["plain.csv"], ["info", "nothing"], str(tmp_path))
    assert fuzz.inputs.outcome("plain.csv", *given, anew=True).problem == "ended by SIGALRM"


PIECES = ('"', ",", "\r", "\n", " ", "1", "a", '1,a"b\n', '1,"a\nb"\n', '1,"a""b"c\r\n', '1,"')
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@examples(100)
@given(TEXTS, st.integers(1, 30), st.sampled_from(",;"))
def test_records_are_those_that_pyarrow_finds(tmp_path_factory, text, read_bytes, delimiter):
    path, text = tmp_path_factory.getbasetemp() / "records.csv", text.replace(",", delimiter)
    path.write_bytes(f"x{delimiter}name\n{text}".encode())
    options = ReadOptions(delimiter=delimiter, read_bytes=read_bytes, header=True)
    reader = open_reader(str(path), options, follow=False, stopped=lambda: False)
    found = []
    for chunk in reader.chunks(Columns(("x",), ("name",)), Position()):
        rows = zip(chunk.row.tolist(), chunk.extra["name"].to_pylist(), strict=True)
        found += sorted([*rows, *((bad.row, None) for bad in chunk.bad)])
    reader.close()
    assert found == list(enumerate(expected_names(text, delimiter)))


def expected_names(text, delimiter):
    """Second cell of each row that PyArrow finds in the whole text, None in a bad row."""
    if not text:
        return []
    ragged = []
    table = pacsv.read_csv(
        pa.BufferReader(text.encode()),
        pacsv.ReadOptions(column_names=["x", "name"], use_threads=False),
        pacsv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            invalid_row_handler=lambda bad: ragged.append(bad.number - 1) or "skip",
        ),
        pacsv.ConvertOptions(column_types={"x": pa.string(), "name": pa.string()}),
    )
    cells = zip(*table.to_pydict().values(), strict=True)
    rows = [name if x.strip().isdigit() else None for x, name in cells]
    for number in ragged:
        rows.insert(number, None)
    return rows


def test_an_inch_mark_does_not_hold_back_the_rest_of_the_file(tmp_path):
    (tmp_path / "a.csv").write_text('x,name\n1,5" pipe\n' + "1,pipe\n" * 999)
    options = ReadOptions(read_bytes=1000)
    reader = open_reader(str(tmp_path / "a.csv"), options, follow=False, stopped=lambda: False)
    sizes = [len(chunk.row) for chunk in reader.chunks(Columns(("x",), ("name",)), Position())]
    reader.close()
    assert max(sizes) <= 1000 / len("1,pipe\n") + 1
    assert sum(sizes) == 1000


def test_a_long_record_takes_linear_time(tmp_path):
    """The bytes that are looked at for its end are a few times its own."""
    (tmp_path / "a.csv").write_text('1,"' + "x" * 1_000_000)
    looked_at = []

    def cut(data):
        looked_at.append(len(data))
        return Records(",").whole(data)

    text = TextFile(
        str(tmp_path / "a.csv"), "utf-8", follow=False, stopped=lambda: False, digests=False
    )
    (block,) = text.blocks(1000, 0, cut)
    text.close()
    assert len(block.data) == 1_000_003
    assert sum(looked_at) < 4_000_000


def test_lines_may_end_in_cr_alone(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,name\r1,a\r2,b\r\n3,c\r")
    (batch,) = read_batches([str(tmp_path / "a.csv")], extra=["name"])
    assert batch.values.tolist() == [[1.0], [2.0], [3.0]]
    assert batch.extra["name"].to_pylist() == ["a", "b", "c"]


def test_a_header_may_have_line_breaks_in_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('"x\n(mm)","a ""b"""\n1,2\n')
    assert summary("cluster", tmp_path / "a.csv")["columns"] == ["x\n(mm)", 'a "b"']


def test_a_ragged_row_that_is_not_utf8_is_a_bad_row_like_others(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y,note\n1,2,gr\xf6n\n3,gr\xf6n\n5,6,\xe4\n")
    assert "row 2: it has 2 cells" in said(path, "-c", "x,y")
    given_ = ("-c", "x,y", "--on-bad-row", "collect", tmp_path / "bad")
    assert summary("cluster", path, *given_)["rows"] == 2
    assert json.loads((tmp_path / "bad").read_text())["text"] == "3,gr\ufffdn"
    text = said(path, "-c", "x,y", "--keep", "note", "--on-bad-row", "skip")
    assert "a.csv' is not UTF-8 text: say --encoding" in text


@pytest.mark.parametrize("encoding", ["nope", "rot13", "a\0b"])
def test_an_unknown_encoding_is_a_wrong_option(encoding, tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert "--encoding" in said(tmp_path / "a.csv", "--encoding", encoding, code=2)


@pytest.mark.parametrize("delimiter", ["\u00a7", '"', "\n"])
def test_a_delimiter_that_cannot_be_one_is_a_wrong_option(delimiter, tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert "--delimiter" in said(tmp_path / "a.csv", "--delimiter", delimiter, code=2)


@pytest.mark.parametrize("name", ["a.arrows", "a.parquet"])
def test_two_columns_of_a_name_are_refused(name, tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], ["x", "x"])
    write(table, tmp_path / name)
    assert f"{name}' has two columns 'x': give them names" in said(tmp_path / name, "-c", "x")


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)


KINDS = (pa.list_(pa.int8()), pa.map_(pa.string(), pa.int8()), pa.struct({"a": pa.int8()}))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("option", ["--keep", "--label"])
def test_nested_columns_cannot_be_kept(kind, option, tmp_path):
    table = pa.table({"x": [1.0, 2.0], "tags": pa.nulls(2, kind)})
    write(table, tmp_path / "a.parquet")
    text = said(tmp_path / "a.parquet", option, "tags")
    assert f"a.parquet': the cells of column 'tags' ({str(kind)[:4]}" in text


def test_half_of_a_surrogate_pair_is_no_text(tmp_path):
    (tmp_path / "a.ndjson").write_text('{"x": 1, "n": "a"}\n{"x": 2, "n": "\\ud800"}\n')
    assert "a.ndjson', row 2: it is no JSON object" in said(tmp_path / "a.ndjson", "--keep", "n")


ODD = "[/x]\x1b[31m"


def test_markup_and_control_characters_are_shown_as_they_are(tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m.spc"
    path.write_text(f"{ODD},$y\n1,2\n3,4\n5,1\n")
    figure = ("--plot", tmp_path / "f.svg")
    printed = run("cluster", path, "--save", model, *figure).stdout + run("info", model).stdout
    assert printed.count("[/x]\\x1b[31m") == 3
    assert "\x1b" not in printed
    path.write_text(f"{ODD}\u009b\n1\n")
    as_json = run("cluster", path, "--json").stdout
    assert as_json.strip().isprintable()
    assert json.loads(as_json)["columns"] == [f"{ODD}\u009b"]
    assert "no column '[/x]\\x1b'" in said(path, "-c", "[/x]\x1b")


def test_messages_of_pyarrow_have_no_control_characters(tmp_path):
    """Its message about this one has a byte of the file in it."""
    data = FILES["plain-none.parquet"]
    (tmp_path / "a.parquet").write_bytes(data[:-60] + b"\x1f" * 40 + data[-20:])
    assert said(tmp_path / "a.parquet").isprintable()
    with pytest.raises(TableError, match=r"a\.parquet"):
        list(read_batches([str(tmp_path / "a.parquet")]))


def huge(path):
    """A file of numbers near the largest float, and the rows in it."""
    X = np.random.default_rng(0).normal(size=(300, 2)).clip(-3, 3) * 1.7e307
    np.savetxt(path, X, delimiter=",", header="x,y", comments="")
    return X


@pytest.mark.parametrize("options", [(), ("--standardise",)], ids=str)
def test_huge_numbers_lead_to_no_warnings(options, tmp_path):
    """Warnings are errors in tests."""
    path, events = tmp_path / "a.csv", tmp_path / "e.ndjson"
    huge(path)
    summary("cluster", path, "--events", events, "--save", tmp_path / "m.spc", *options)
    assert "rows: " in run("info", tmp_path / "m.spc", "--structures").stdout
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert all(np.isfinite(list(event["centre"].values())).all() for event in told)


def test_huge_numbers_lead_to_no_warnings_in_python(tmp_path):
    X = huge(tmp_path / "a.csv")
    model = SPC().fit(X)
    assert isinstance(model.diagnose(), list)
    path = tmp_path / "b.csv"
    path.write_text("x\n" + "1\n2\n" * 5 + "1.7e308\n")
    text = said(path, "--standardise", "--warmup", "5", "--batch", "10")
    assert "b.csv', row 11: X contains infinity" in text


def test_refused_rows_of_several_inputs_are_named_by_their_numbers_in_all_of_them(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x\n" + "1\n2\n" * 5)
    second.write_text("x\n1.7e308\n")
    given = (first, second, "--standardise", "--warmup", "5", "--batch")
    one, some = said(*given, "10"), said(*given, "8")
    assert f"Row 11 of all inputs, in {str(second)!r}: X contains infinity" in one
    place = f"Rows 9 to 11 of all inputs, the last of them in {str(second)!r}"
    assert f"{place}: X contains infinity" in some


def test_a_damaged_footer_of_parquet_does_not_end_the_process(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0], "name": ["a", "b"]}), path, compression="none")
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(footer, footer + 100):
        path.write_bytes(data[:at] + b"\0" + data[at + 1 :])
        with suppress(TableError):
            list(read_batches([str(path)], ["x"], extra=["name"]))
