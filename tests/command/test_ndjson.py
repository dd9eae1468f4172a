"""Lines of JSON: read at once or one by one, they are the same rows."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.tables.chunks import Columns, without_columns
from spclust.tables.ndjson_reader import line_by_line
from spclust.tables.text.good_lines import features_and_times

NUMBERS = Columns(("x", "y"))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
CELLS = st.one_of(
    FINITE,
    st.integers(),
    st.sampled_from([True, None, "1", "", float("nan"), float("inf"), [], {"x": 1}, "é", "\ud800"]),
)
ROWS = st.dictionaries(st.sampled_from(["x", "y", "z", "tî"]), CELLS)
LINES = st.one_of(
    ROWS.map(lambda row: json.dumps(row).encode()),
    ROWS.map(lambda row: json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.fixed_dictionaries({"x": FINITE, "y": FINITE}).map(lambda row: json.dumps(row).encode()),
    st.sampled_from(
        [
            b"",
            b" ",
            b"\r",
            b"\x0b",
            b'{"x": 1, "y": 2} {"x": 1, "y": 2}',
            b'{"x": 1, "x": 2, "y": 3}',
            b'{"x": 1,',
            b'"y": 2}',
            b'{"x": 1, "y": 2, "z": "\xff"}',
            b'{"x": -0, "y": 1e999}',
            b'{"x": 01, "y": .5}',
            b"[1, 2]",
            b'{"x": 1, "y": 2}\r',
            b'{"y": 2, "x": 123456789012345678901234567890}',
            b'{"x": 1, "y": 2, "z": ' + 2000 * b"[" + 2000 * b"]" + b"}",
        ]
    ),
)


@given(st.lists(LINES, max_size=5), st.integers(0, 50), st.binary(max_size=1))
def test_all_at_once_isline_by_line(lines, place, byte):
    data = b"\n".join(lines)
    data = data[:place] + byte + data[place + 1 :]  # a byte is another one
    at_once = features_and_times(data, NUMBERS)
    values, _, _, bad, rows = line_by_line(data, NUMBERS)
    if at_once is not None:
        assert not bad
        assert len(at_once[0]) == rows
        assert np.array_equal(at_once[0], values)


@given(rows=st.lists(st.tuples(*3 * [st.floats(-1e300, 1e300)]), min_size=1))
def test_numbers_are_read_to_the_last_bit_and_at_once(rows):
    data = b"\n".join(json.dumps(dict(zip("txy", row, strict=True))).encode() for row in rows)
    values, _ = features_and_times(data, NUMBERS)
    assert values.tolist() == [[x, y] for _, x, y in rows]
    found = features_and_times(data, Columns(("x", "y"), (), "t"))
    if found is not None:  # times above 2**53 may be integers that were rounded
        assert found[0].tolist() == values.tolist()
        assert found[1]["t"].to_pylist() == [t for t, _, _ in rows]
    else:
        assert max(abs(t) for t, _, _ in rows) > 2.0**53


def test_dates_and_times_that_are_features():
    data = b'{"x": 1.5, "t": "2024-05-01"}\n{"t": "2024-05-02", "x": 2}\n'
    values, table = features_and_times(data, Columns(("x",), (), "t", dated=True))
    assert values.tolist() == [[1.5], [2.0]]
    assert table["t"].to_pylist() == ["2024-05-01", "2024-05-02"]
    values, table = features_and_times(b'{"x": 1.5, "t": 3}', Columns(("x", "t"), (), "t"))
    assert values.tolist() == [[1.5, 3.0]]
    assert table["t"].to_pylist() == [3.0]


@pytest.mark.parametrize("width", [1, 256, 257])
def test_any_number_of_columns(width):
    names = tuple(f"x{i}" for i in range(width))
    row = dict.fromkeys(reversed(names), 1.0)
    data = json.dumps(row).encode() + b"\n"
    assert (features_and_times(data, Columns(names)) is None) == (width > 256)
    assert line_by_line(data, Columns(names))[0].tolist() == [[1.0] * width]


@pytest.mark.parametrize("rows", [0, 1, 2**20, 2**20 + 1])
def test_a_table_without_columns_has_rows(rows):
    assert without_columns(rows).shape == (rows, 0)
