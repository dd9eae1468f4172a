"""Tables by themselves: batches of rows from files, without the command."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spclust.tables import Format, ReadOptions, TableError, open_writer, read_batches
from spclust.tables.table_error import TableOptionError
from tests.command.common import ENVIRONMENT, table


def test_tables_need_neither_the_command_nor_its_packages(tmp_path):
    """Every module of the package is imported where typer, rich and the models are missing."""
    code = (
        "import importlib, pkgutil, sys\n"
        "for name in ('typer', 'click', 'rich', 'sklearn', 'numba', 'spclust.cli',\n"
        "             'spclust.estimators', 'spclust.persistence'):\n"
        "    sys.modules[name] = None\n"
        "import spclust.tables as tables\n"
        "for module in pkgutil.iter_modules(tables.__path__):\n"
        "    importlib.import_module(f'spclust.tables.{module.name}')\n"
        "import pyarrow as pa\n"
        "writer = tables.open_writer('a.csv')\n"
        "writer.add(pa.table({'x': [1, 2, 3], 'name': ['a', 'b', 'c']}))\n"
        "writer.close()\n"
        "print([batch.values.tolist() for batch in tables.read_batches(['a.csv'], size=2)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout == "[[[1.0], [2.0]], [[3.0]]]\n"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.ndjson", "a.parquet", "a.arrow"])
def test_batches_are_the_rows_that_were_written(name, tmp_path):
    data, path = table(1000), str(tmp_path / name)
    writer = open_writer(path)
    for start in range(0, 1000, 300):
        writer.add(data.slice(start, 300))
    writer.close()
    batches = list(read_batches([path], ["y", "x"], extra=["name"], size=400))
    assert [len(batch.values) for batch in batches] == [400, 400, 200]
    values = np.concatenate([batch.values for batch in batches])
    np.testing.assert_array_equal(values, np.column_stack([data["y"], data["x"]]))
    assert np.concatenate([batch.row for batch in batches]).tolist() == list(range(1, 1001))
    assert pa.concat_tables([batch.extra for batch in batches]).equals(data.select(["name"]))


def test_columns_of_numbers_are_found_and_those_read_as_text_left_out(tmp_path):
    pq.write_table(table(10), tmp_path / "a.parquet")
    for extra, d in ((), 2), (("x",), 1):
        (batch,) = read_batches([str(tmp_path / "*.parquet")], extra=extra)
        assert batch.values.shape == (10, d)
        assert batch.extra.column_names == list(extra)


def test_read_options(tmp_path):
    path = tmp_path / "numbers"
    path.write_text("1,5;2\n3;4\n", encoding="utf-16")
    options = ReadOptions(Format.CSV, delimiter=";", decimal=",", header=True, encoding="utf-16")
    with pytest.raises(TableError, match="no column 'x0'"):
        next(read_batches([str(path)], ["x0"], options=options))
    options = ReadOptions(Format.CSV, delimiter=";", decimal=",", encoding="utf-16", read_bytes=64)
    (batch,) = read_batches([str(path)], options=options)
    assert batch.values.tolist() == [[1.5, 2.0], [3.0, 4.0]]


def test_bad_rows_stop_are_skipped_or_are_collected(tmp_path):
    path, collected = str(tmp_path / "a.csv"), tmp_path / "bad.ndjson"
    (tmp_path / "a.csv").write_text("x,y\n1,2\nred,3\n4,5\n6\n7,8\n")
    with pytest.raises(TableError, match=r"a\.csv', row 2: column 'x' holds 'red'"):
        list(read_batches([path], ["x", "y"]))
    good = [[1.0, 2.0], [4.0, 5.0], [7.0, 8.0]]
    for size, parts in (100, [good]), (2, [good[:2], good[2:]]):
        batches = list(read_batches([path], ["x", "y"], size=size, on_bad_row="skip"))
        assert [batch.values.tolist() for batch in batches] == parts
    list(read_batches([path], ["x", "y"], on_bad_row=f"collect {collected}"))
    records = [json.loads(line) for line in collected.read_text().splitlines()]
    assert [record["row"] for record in records] == [2, 4]
    with pytest.raises(TableOptionError, match="skip, stop or collect FILE, not 'weep'"):
        next(read_batches([path], on_bad_row="weep"))


def test_what_is_no_table_is_one_sentence(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "words.csv").write_text("a\nb\n")
    for name, words in {
        "missing.csv": "does not exist",
        "empty.csv": "is empty",
        "words.csv": "no column of numbers",
    }.items():
        with pytest.raises(TableError, match=words) as refused:
            next(read_batches([str(tmp_path / name)]))
        assert name in str(refused.value)


@pytest.mark.parametrize("name", ["rows.csv", "rows.ndjson", "rows.arrows", "rows.arrows.zst"])
def test_bytes_that_are_written_depend_on_the_rows_alone(name, tmp_path):
    """Not on what stands behind them in memory, nor on how many pieces of memory they are in."""
    columns = {
        "number": [i if i % 5 else None for i in range(100)],
        "word": [f"row-{i}" if i % 7 else None for i in range(100)],
        "truth": [i % 3 == 0 for i in range(100)],
    }
    whole = pa.table(columns)
    path = tmp_path / name
    for start, stop in ((0, 1), (1, 4), (9, 22), (50, 83)):
        alone = pa.table({name: values[start:stop] for name, values in columns.items()})
        pieces = [whole.slice(i, 1) for i in range(start, stop)]
        written = set()
        for rows in (alone, whole.slice(start, stop - start), pa.concat_tables(pieces)):
            writer = open_writer(str(path))
            writer.add(rows.cast(whole.schema))
            writer.close()
            written.add(path.read_bytes())
        assert len(written) == 1
