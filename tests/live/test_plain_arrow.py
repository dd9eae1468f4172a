"""Arrow streams of plain numbers take a short way: it leads to the same rows, or to the reader."""

import numpy as np
import pyarrow as pa
import pytest

from spclust.live.posts import posted_rows
from spclust.live.posts.arrow_body import plain_numbers
from spclust.live.posts.bodies import BodyError
from spclust.live.posts.intake import Intake
from spclust.live.posts.posted_rows import ServiceOptions, posted_batch
from spclust.tables.chunks import Columns
from spclust.tables.formats import Format
from spclust.tables.table_error import TableError

MOST = 500  # rows
X = np.random.default_rng(0).normal(size=(100, 2))
PLAIN = {"x": X[:, 0], "y": X[:, 1]}


def stream(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table, max_chunksize=MOST)
    return sink.getvalue().to_pybytes()


def with_null(column):
    return pa.array([None, *column[1:].tolist()])


TABLES = {
    "plain": (pa.table(PLAIN), True),
    "in another order, with a column more": (
        pa.table({"name": ["a"] * 100, "y": X[:, 1], "x": X[:, 0]}),
        True,
    ),
    "integers and short floats": (
        pa.table({"x": np.arange(100), "y": X[:, 1].astype(np.float32)}),
        True,
    ),
    "a null": (pa.table({"x": with_null(X[:, 0]), "y": X[:, 1]}), False),
    "not finite": (pa.table({"x": np.full(100, np.inf), "y": X[:, 1]}), False),
    "numbers as text": (pa.table({"x": X[:, 0].astype(str), "y": X[:, 1]}), False),
    "a dictionary": (
        pa.table({"x": pa.array(X[:, 0].astype(str)).dictionary_encode(), "y": X[:, 1]}),
        False,
    ),
    "a column missing": (pa.table({"x": X[:, 0]}), False),
    "two columns of one name": (pa.table([X[:, 0], X[:, 1], X[:, 1]], ["x", "y", "y"]), False),
    "no rows": (pa.table(PLAIN).slice(0, 0), False),
    "several batches": (pa.table({name: np.tile(PLAIN[name], 7) for name in PLAIN}), False),
}


def outcome(body):
    """The rows of a body, and the reasons of bad ones; or why it is refused."""
    intake = Intake(None)
    intake.begin(Columns(("x", "y")), ())
    options = ServiceOptions(max_rows=MOST, stops_at_bad_rows=False)
    try:
        posted, bad = posted_batch(body, Format.ARROW, "key", intake, options)
    except (BodyError, TableError) as error:
        return str(error)
    return posted.key, posted.values.tolist(), posted.extra, [each.why for each in bad]


@pytest.mark.parametrize("name", TABLES)
def test_it_is_what_the_reader_of_files_reads(name, monkeypatch):
    table, is_plain = TABLES[name]
    body = stream(table)
    assert (plain_numbers(body, ("x", "y"), MOST) is not None) == is_plain
    found = outcome(body)
    monkeypatch.setattr(posted_rows, "plain_numbers", lambda *_: None)
    assert found == outcome(body)


def test_small_bodies_that_stand_for_large_tables_are_refused():
    zeros = pa.table({"x": np.zeros(MOST), "y": np.zeros(MOST)})
    assert plain_numbers(stream(zeros), ("x", "y"), MOST) is not None
    assert plain_numbers(stream(zeros), ("x", "y"), MOST - 1) is None
    assert "has compressed buffers" in outcome(stream(zeros, compression="zstd"))


def test_damaged_streams_are_left_to_the_reader():
    """Any byte may be another one: what is read then is sound, or refused."""
    body, draw = stream(pa.table(PLAIN)), np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(body)
        for place in draw.integers(len(body), size=3):
            damaged[place] = draw.integers(256)
        found = plain_numbers(bytes(damaged), ("x", "y"), MOST)
        assert found is None or (found.shape[1] == 2 and np.isfinite(found).all())
    for end in range(0, len(body), 97):
        assert plain_numbers(body[:end], ("x", "y"), MOST) is None or end > len(body) - 16
