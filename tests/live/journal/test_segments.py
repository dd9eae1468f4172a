"""Segments come and go, and keys outlast them."""

import os
import threading
from contextlib import suppress

from spclust.live.posts.journal import MOST_KEYS, Journal
from spclust.tables.chunks import Position
from tests.live.journal.common import batch, found, opened, segments


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
