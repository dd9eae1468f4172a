"""Disks that are full or fail: what was accepted stays, and the rest is told."""

import errno
import io

import pytest

from spclust.live.posts import journal as module
from tests.live.journal.common import batch, found, opened, segments


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
