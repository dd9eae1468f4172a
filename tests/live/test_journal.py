"""The journal: what was appended comes back, in order and whole, or is refused."""

import errno
import io
import os
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.live.posts import journal as module
from spclust.live.posts.journal import MOST_KEYS, Journal, JournalError, Posted
from spclust.tables.chunks import Columns, Position

COLUMNS = Columns(("x", "y"), ("name",))
KEYS = st.text(max_size=20) | st.just("")


@st.composite
def batches(draw):
    numbers = st.floats(allow_nan=False, width=64)
    rows = draw(st.lists(st.tuples(numbers, numbers), max_size=5))
    values = np.array(rows, dtype=np.float64).reshape(len(rows), 2)
    return Posted(draw(KEYS), values, draw(st.binary(max_size=20)))


def batch(rows=3, key="", extra=b"", seed=0):
    return Posted(key, np.random.default_rng(seed).normal(size=(rows, 2)), extra)


OPEN = []  # journals to be closed when a test ends


def opened(folder):
    journal = Journal(folder)
    OPEN.append(journal)
    journal.begin(COLUMNS)
    return journal


@pytest.fixture(autouse=True)
def _closed():
    yield
    while OPEN:
        OPEN.pop().close()


def found(folder, since=Position()):  # noqa: B008
    return list(Journal(folder).recovered(since))


def same(a, b):
    return a.key == b.key and a.extra == b.extra and a.values.tobytes() == b.values.tobytes()


def segments(folder):
    return sorted(folder.glob("*.posted"))


@pytest.fixture
def short_segments(monkeypatch):
    """A new segment after each of a few batches."""
    monkeypatch.setattr(module, "_SEGMENT", 100)


# What is appended comes back


@given(groups=st.lists(st.lists(batches(), min_size=1, max_size=3), max_size=6), data=st.data())
def test_what_is_appended_comes_back_in_order_from_any_position(groups, data, tmp_path_factory):
    """Whatever is appended together, wherever segments begin, and whenever it is opened anew."""
    folder = tmp_path_factory.mktemp("journal")
    journal, known = opened(folder), []
    for group in groups:
        known += zip(group, journal.append(group), strict=True)
        action = data.draw(st.sampled_from(["go on", "reopen", "new segment"]))
        if action == "reopen":
            journal.close()
            journal = opened(folder)
            assert len(list(journal.recovered(Position()))) == len(known)
        if action == "new segment":
            journal._begin_segment()
    journal.close()
    rows = 0
    for posted, end in known:
        rows += len(posted.values)
        assert end.before + end.row == rows
    for start, since in enumerate([Position(), *(end for _, end in known)]):
        again = found(folder, since)
        assert [end for _, end in again] == [end for _, end in known[start:]]
        assert all(same(a, b) for (a, _), (b, _) in zip(again, known[start:], strict=True))
    reopened = Journal(folder)
    assert reopened.columns == (COLUMNS if known else None)
    for posted, _ in known:
        if posted.key:
            last = [other for other, _ in known if other.key == posted.key][-1]
            assert reopened.rows_of(posted.key) == len(last.values)


def test_what_is_appended_later_is_not_among_what_is_recovered(tmp_path):
    opened(tmp_path).append([batch(seed=1)])
    journal = opened(tmp_path)
    reading = journal.recovered(Position())
    journal.append([batch(seed=2)])
    assert len(list(reading)) == 1
    assert len(found(tmp_path)) == 2


# What is torn, and what is damaged


def test_a_torn_end_is_cut_off_and_nothing_before_it(tmp_path):
    """Cut at every byte, as by a kill: whole entries stay, and more can be appended."""
    given_batches = [batch(2, key="a", seed=1), batch(1, extra=b"xyz", seed=2), batch(0, key="b")]
    journal = opened(tmp_path)
    ends = [end.offset for end in journal.append(given_batches)]
    journal.close()
    (path,) = segments(tmp_path)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        journal = opened(tmp_path)
        kept = sum(end <= length for end in ends)
        again = list(journal.recovered(Position()))
        assert all(same(a, b) for (a, _), b in zip(again, given_batches, strict=False))
        assert len(again) == kept
        assert journal.cut_off == (0 if length < first else length - [first, *ends][kept])
        assert journal.rows_of("a") == (2 if kept else None)
        assert journal.rows_of("b") == (0 if kept == 3 else None)
        journal.append([batch(4, key="c", seed=3)])
        journal.close()
        *before, (last, end) = found(tmp_path)
        assert len(before) == kept
        assert same(last, batch(4, key="c", seed=3))
        assert end.row == sum(len(each.values) for each in given_batches[:kept]) + 4


def test_a_flipped_byte_is_refused_in_one_sentence(tmp_path, short_segments):
    """In each byte of a segment before the last one, and in the header of the last one."""
    journal = opened(tmp_path)
    journal.append([batch(2, key="a", extra=b"text", seed=1)])
    journal.append([batch(1, seed=2)])
    journal.renew(Position())
    journal.append([batch(1, seed=3)])
    journal.close()
    earlier, last = segments(tmp_path)
    for path, until in ((earlier, None), (last, last.read_bytes().index(b"\n"))):
        whole = path.read_bytes()
        for at in range(len(whole))[:until]:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
            with pytest.raises(JournalError, match=r"^'.*posted' is damaged or missing: .*\.$"):
                Journal(tmp_path)
        path.write_bytes(whole)
    assert len(found(tmp_path)) == 3


def test_a_missing_segment_is_refused(tmp_path, short_segments):
    journal = opened(tmp_path)
    for seed in range(3):
        end = journal.append([batch(9, seed=seed)])[0]
        journal.renew(Position())
    journal.close()
    paths = segments(tmp_path)
    assert len(paths) == 4
    paths[1].rename(tmp_path / "aside")
    with pytest.raises(JournalError, match=r"0000000002\.posted' is damaged or missing"):
        Journal(tmp_path)
    paths[0].unlink()  # now the first two are missing
    with pytest.raises(JournalError, match="does not belong to the checkpoint"):
        list(Journal(tmp_path).recovered(Position()))
    assert len(list(Journal(tmp_path).recovered(end))) == 0


def test_a_journal_that_ends_before_a_position_is_refused(tmp_path):
    journal = opened(tmp_path)
    first, second = journal.append([batch(seed=1), batch(seed=2)])
    journal.close()
    (path,) = segments(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    assert found(tmp_path, first) == []
    with pytest.raises(JournalError, match="does not belong to the checkpoint"):
        found(tmp_path, second)
    assert path.stat().st_size == second.offset - 1  # it was not changed
    path.unlink()
    with pytest.raises(JournalError, match="does not belong to the checkpoint"):
        found(tmp_path, first)


def test_a_position_between_entries_is_refused(tmp_path):
    journal = opened(tmp_path)
    first, _ = journal.append([batch(seed=1), batch(seed=2)])
    journal.close()
    with pytest.raises(JournalError, match="is damaged"):
        found(tmp_path, first._replace(offset=first.offset + 1))


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "notes.posted").write_text("mine")
    journal = opened(tmp_path)
    journal.append([batch()])
    journal.renew(Position(9))
    assert (tmp_path / "notes.posted").read_text() == "mine"
    assert len(found(tmp_path)) == 1


# Disks that fail


class FullDisk(io.FileIO):
    """A file of a disk that takes a few bytes more, and then none."""

    room = 0

    def write(self, data):
        taken = min(len(data), FullDisk.room)
        FullDisk.room -= taken
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data[:taken])


@pytest.fixture
def full_disk(monkeypatch):
    def opening(path, mode, buffering=-1):
        return FullDisk(path, mode) if buffering == 0 else io.open(path, mode)  # noqa: UP020

    monkeypatch.setattr(module, "open", opening, raising=False)
    return FullDisk


def test_a_full_disk_loses_nothing_that_was_accepted(tmp_path, full_disk):
    """Whatever part of a batch it takes: the batch is not there, and later ones are."""
    full_disk.room = 10**6
    journal = opened(tmp_path)
    journal.append([batch(key="first")])
    size = len(module._as_bytes(batch(key="second")))
    for room in range(size):
        full_disk.room = room
        with pytest.raises(OSError, match="No space left"):
            journal.append([batch(key="second")])
        assert journal.rows_of("second") is None
        assert [posted.key for posted, _ in found(tmp_path)] == ["first"]
    full_disk.room = 10**6
    journal.append([batch(key="third")])
    assert [posted.key for posted, _ in found(tmp_path)] == ["first", "third"]


def test_what_could_not_be_cut_off_is_cut_off_later(tmp_path, full_disk, monkeypatch):
    full_disk.room = 10**6
    journal = opened(tmp_path)
    journal.append([batch(key="first")])
    full_disk.room = 30

    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(full_disk, "truncate", broken)
        with pytest.raises(OSError, match="No space left"):
            journal.append([batch(key="second")])
        full_disk.room = 10**6
        with pytest.raises(OSError, match="Input/output"):
            journal.append([batch(key="second")])
    journal.append([batch(key="second")])
    assert [posted.key for posted, _ in found(tmp_path)] == ["first", "second"]


def test_a_segment_that_cannot_be_begun_is_begun_later(tmp_path, full_disk, short_segments):
    full_disk.room = 10**6
    journal = opened(tmp_path)
    end = journal.append([batch(9, key="first")])[0]
    for room in (0, 1, 50):
        full_disk.room = room
        with pytest.raises(OSError, match="No space left"):
            journal.renew(end)
    full_disk.room = 10**6
    journal.append([batch(key="second")])
    journal.renew(end)
    journal.append([batch(key="third")])
    assert len(segments(tmp_path)) == 2
    assert [posted.key for posted, _ in found(tmp_path)] == ["first", "second", "third"]


# Keys, and segments


def test_keys_survive_segments_that_are_removed(tmp_path, short_segments):
    journal = opened(tmp_path)
    for number in range(20):
        end = journal.append([batch(5, key=f"key {number}")])[0]
        journal.renew(end)
    assert len(segments(tmp_path)) <= 2
    journal.close()
    again = Journal(tmp_path)
    assert [again.rows_of(f"key {number}") for number in range(20)] == [5] * 20
    assert again.rows_of("") is None
    assert again.rows_of("another") is None


def test_the_oldest_keys_are_forgotten(tmp_path):
    journal = opened(tmp_path)
    few = [batch(1, key=str(number)) for number in range(MOST_KEYS + 5)]
    journal.append(few)
    journal._begin_segment()
    for each in (journal, Journal(tmp_path)):
        assert [each.rows_of(str(number)) for number in (4, 5, MOST_KEYS + 4)] == [None, 1, 1]


def test_segments_are_removed_only_when_no_checkpoint_needs_them(tmp_path, short_segments):
    journal = opened(tmp_path)
    ends = []
    for seed in range(5):
        ends += journal.append([batch(9, seed=seed)])
        journal.renew(Position())
    assert [path.stem.lstrip("0") for path in segments(tmp_path)] == list("123456")
    journal.renew(ends[2])
    assert [path.stem.lstrip("0") for path in segments(tmp_path)] == list("3456")
    assert len(found(tmp_path, ends[2])) == 2
    journal.renew(ends[4])
    assert len(found(tmp_path, ends[4])) == 0
    journal.append([batch(1, seed=9)])
    assert len(found(tmp_path, ends[4])) == 1


def test_renewal_and_appending_in_two_threads(tmp_path, short_segments):
    journal, known, done = opened(tmp_path), [], threading.Event()
    known += journal.append([batch(1)])
    failures = []

    def renew():
        try:
            while not done.is_set():
                journal.renew(known[-1])
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=renew)
    thread.start()
    for number in range(300):
        known += journal.append([batch(3, key=f"{number}", seed=number)])
    done.set()
    thread.join()
    assert failures == []
    journal.renew(Position())
    assert known[-1].before + known[-1].row == 901
    (first, *_), kept = segments(tmp_path), [end for end in known if end.file >= 1]
    oldest = int(first.stem)
    since = next(end for end in kept if end.file >= oldest)
    again = [end for _, end in found(tmp_path, since)]
    assert again == kept[kept.index(since) + 1 :]
    assert Journal(tmp_path).rows_of("299") == 3


def test_no_file_is_left_open(tmp_path):
    journal = opened(tmp_path)
    journal.append([batch()])
    journal.close()
    journal.close()
    with suppress(FileNotFoundError):  # there is no /proc
        assert not [
            link
            for link in os.scandir("/proc/self/fd")
            if os.path.exists(link.path) and str(tmp_path) in os.readlink(link.path)
        ]
