"""The way of posted batches to the learner, without a server: room, keys, order, the end."""

import asyncio
import json
import threading
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from spclust.cli.sources.posted_source import PostedSource
from spclust.live.posts import intake as module
from spclust.live.posts.bodies import NAME, BodyError
from spclust.live.posts.intake import Intake
from spclust.live.posts.journal import Journal, Posted
from spclust.tables.chunks import BadRow, Columns, Position
from spclust.tables.formats import Format
from spclust.tables.table_error import TableError

COLUMNS = Columns(("x", "y"))


def batch(rows=3, key="", extra=b"", d=2):
    return Posted(key, np.arange(rows * d, dtype=np.float64).reshape(rows, d), extra)


def bad_rows(count):
    return [BadRow(row, "it is bad", {"text": "?"}) for row in range(count)]


@pytest.fixture(params=["memory", "journal"])
def intake(request, tmp_path):
    journal = Journal(tmp_path / "posted") if request.param == "journal" else None
    found = Intake(journal)
    found.begin(COLUMNS, ())
    yield found
    found.close()
    while found.take(10**9, 0.1) is not None:
        pass
    if journal is not None:
        journal.close()


def put(intake, *batches, bad=0):
    """Post batches at the same time; their receipts, or why they were refused."""

    async def all_at_once():
        posts = (intake.put(each, bad_rows(bad)) for each in batches)
        return await asyncio.gather(*posts, return_exceptions=True)

    return asyncio.run(all_at_once())


def test_batches_come_out_in_the_order_in_which_they_went_in(intake):
    for rows in (1, 2, 3):
        (receipt,) = put(intake, batch(rows))
        assert (receipt.rows, receipt.repeated) == (rows, False)
    assert intake.waiting_rows == 6
    first, second = intake.take(4, 1.0), intake.take(4, 1.0)
    assert [len(each.posted.values) for each in first] == [1, 2]
    assert [len(each.posted.values) for each in second] == [3]
    assert [each.end.row for each in (*first, *second)] == [1, 3, 6]
    assert intake.waiting_rows == 0
    assert intake.take(4, 0.01) == []


def test_rows_of_batches_that_are_learnt_together_are_numbered_on(intake):
    source = PostedSource(intake, lambda: False)
    for rows in (2, 3, 4):
        put(intake, batch(rows))
    intake.close()
    found = list(source.batches(COLUMNS, Position(), size=5, warmup=0))
    assert [each.row.tolist() for each in found] == [[1, 2, 3, 4, 5], [6, 7, 8, 9]]
    assert [each.end.row for each in found] == [5, 9]


def test_posted_rows_are_not_read_ahead(intake):
    """What waits is in the queue alone, whose limits hold, and is learnt together."""
    source = PostedSource(intake, lambda: False)
    assert source.in_memory
    found = source.batches(COLUMNS, Position(), size=5, warmup=0)
    put(intake, batch(2))
    assert len(next(found).values) == 2
    put(intake, batch(1))
    put(intake, batch(3))
    assert intake.waiting_rows == 4
    assert len(next(found).values) == 4
    assert intake.waiting_rows == 0


def test_a_key_counts_once_also_while_it_is_written(intake):
    receipts = put(intake, *(batch(2, key="same") for _ in range(5)))
    assert [each.rows for each in receipts] == [2] * 5
    assert sorted(each.repeated for each in receipts) == [False, True, True, True, True]
    assert intake.waiting_rows == 2


@pytest.mark.parametrize("full", ["rows", "bytes", "bad rows"])
def test_a_full_queue_is_refused_until_there_is_room(intake, full, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 10 if full == "rows" else 10**9)
    monkeypatch.setattr(module, "MOST_BYTES", 160 if full == "bytes" else 5000)
    bad = 5 if full == "bad rows" else 0
    assert put(intake, batch(10, key="first"), bad=bad)[0].rows == 10
    (refusal,) = put(intake, batch(1, key="second"), bad=bad)
    assert isinstance(refusal, BodyError)
    assert refusal.status == 503
    assert str(refusal) == "10 rows wait to be learnt, which is enough: try again in a second."
    intake.take(100, 1.0)
    assert put(intake, batch(1, key="second"))[0].repeated is False


def test_the_queue_is_full_also_of_what_is_being_written(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    intake = Intake(Journal(tmp_path))
    intake.begin(COLUMNS, ())
    found = put(intake, batch(8), batch(8))
    assert [type(each).__name__ for each in found] == ["Receipt", "BodyError"]
    intake.close()
    intake.journal.close()


def test_a_batch_larger_than_the_queue_is_accepted_alone(intake, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    assert put(intake, batch(50))[0].rows == 50


def test_after_the_end_nothing_is_accepted_and_nothing_is_lost(intake):
    put(intake, batch(3))
    intake.close()
    (refusal,) = put(intake, batch(1))
    assert refusal.status == 503
    assert len(intake.take(10, 1.0)) == 1
    while (left := intake.take(10, 0.1)) == []:
        pass
    assert left is None


def test_whoever_is_told_that_a_batch_is_accepted_will_find_it_learnt(intake):
    """However an end comes between."""
    accepted, learnt = [], []

    async def client(name):
        for number in range(2000):
            try:
                receipt = await intake.put(batch(1, key=f"{name} {number}"), [])
            except BodyError:
                return
            accepted.append(receipt.rows)
            await asyncio.sleep(0)

    async def clients():
        await asyncio.gather(*map(client, range(5)))

    def post():
        asyncio.run(clients())

    def learn():
        while (taken := intake.take(5, 0.05)) is not None:
            learnt.extend(taken)

    threads = [threading.Thread(target=work) for work in (post, learn)]
    for thread in threads:
        thread.start()
    while len(accepted) < 20:
        pass
    intake.close()
    for thread in threads:
        thread.join()
    assert len(learnt) == len(accepted)


def test_a_disk_that_fails_is_told_and_others_are_accepted_later(tmp_path, monkeypatch):
    intake = Intake(Journal(tmp_path))
    intake.begin(COLUMNS, ())
    append = intake.journal.append

    def broken(batches):
        raise failures.pop()

    failures = [RuntimeError("what?"), OSError(28, "No space left on device")]
    for sentence in ("No space left on device.", "what?"):
        monkeypatch.setattr(intake.journal, "append", broken)
        (refusal,) = put(intake, batch(1, key="a"))
        assert refusal.status == 507
        assert str(refusal) == f"The journal cannot be written: {sentence}"
    monkeypatch.setattr(intake.journal, "append", append)
    (receipt,) = put(intake, batch(1, key="a"))
    assert not receipt.repeated
    intake.close()
    intake.journal.close()


# The first batch


def test_of_two_first_batches_one_decides_the_columns():
    pytest.importorskip("starlette")
    from spclust.live.posts.posted_rows import ServiceOptions, posted_batch

    intake = Intake(None)
    bodies = [b"x,y\n1,2\n", b"x,y,z\n1,2,3\n"]
    both, found = threading.Barrier(2), []
    begin = intake.begin

    def together(columns, keep):
        if intake.columns is None:
            both.wait(10)
        return begin(columns, keep)

    intake.begin = together

    def post(body):
        with suppress(TableError):  # if it has no column z, and the other one was the first
            found.append(posted_batch(body, Format.CSV, "", intake, ServiceOptions())[0])

    threads = [threading.Thread(target=post, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == (2 if intake.columns.features == ("x", "y") else 1)
    assert {each.values.shape[1] for each in found} == {len(intake.columns.features)}


def source(intake):
    return PostedSource(intake, lambda: False)


def test_a_journal_without_a_checkpoint_has_columns_and_options_must_fit(tmp_path):
    journal = Journal(tmp_path)
    journal.begin(Columns(("x", "y"), ("class", "name")))
    journal.append([batch()])
    journal.close()
    intake = Intake(Journal(tmp_path))
    chosen = source(intake).choose(["x,y"], "class", ["name"])
    assert chosen.columns == Columns(("x", "y"), ("class", "name"))
    assert chosen.keep == ("name",)
    assert source(intake).choose(None, "class", ["name"]) == chosen
    for options in (["x"], "class", ["name"]), (None, None, ["name"]), (None, "other", ["name"]):
        with pytest.raises(TableError, match="What was posted before has the columns x, y, class"):
            source(intake).choose(*options)
    intake.close()


# Bad rows


def test_bad_rows_are_passed_on_without_good_ones():
    """An endless stream of them fills no batch, and no memory."""
    intake = Intake(None)
    intake.begin(COLUMNS, ())
    batches = source(intake).batches(COLUMNS, Position(), size=100, warmup=5)
    for _ in range(3):
        put(intake, batch(0), bad=2)
        found = next(batches)
        assert (len(found.values), len(found.bad), found.end) == (0, 2, None)
        assert found.bad[0][0] == NAME
    put(intake, batch(4), bad=1)
    found = next(batches)
    assert (len(found.values), len(found.bad)) == (0, 1)
    put(intake, batch(2), bad=1)
    found = next(batches)
    assert (len(found.values), len(found.bad), found.end.row) == (6, 1, 6)
    assert found.row.tolist() == [1, 2, 3, 4, 5, 6]
    put(intake, batch(0), bad=1)
    assert len(next(batches).bad) == 1
    intake.close()
    (last,) = batches
    assert (len(last.values), last.end.row) == (0, 6)


def test_columns_that_are_kept_come_with_their_rows():
    pytest.importorskip("starlette")
    from spclust.live.posts.posted_rows import ServiceOptions, posted_batch

    intake = Intake(None)
    options = ServiceOptions(keep=["name"], stops_at_bad_rows=False)
    body = "".join(
        json.dumps({"x": x, "y": 1.0, "name": f"n{x}"}) + "\n" for x in (1, None, 3)
    ).encode()
    posted, bad = posted_batch(body, Format.NDJSON, "", intake, options)
    assert pa.ipc.open_stream(posted.extra).read_all().to_pydict() == {"name": ["n1", "n3"]}
    assert [each.row for each in bad] == [1]
    asyncio.run(intake.put(posted, bad))
    intake.close()
    (found,) = source(intake).batches(intake.columns, Position(), size=10, warmup=0)
    assert found.extra.to_pydict() == {"name": ["n1", "n3"]}
