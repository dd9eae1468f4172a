"""What is torn is cut off, what is damaged or missing is refused."""

import pytest

from spclust.live.posts.journal import Journal, JournalError
from spclust.tables.chunks import Position
from tests.live.journal.common import batch, found, opened, same, segments


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
