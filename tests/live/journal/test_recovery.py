"""What was appended comes back, in order, from any position."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spclust.live.posts.journal import Journal, Posted
from spclust.tables.chunks import Position
from tests.live.journal.common import COLUMNS, batch, found, opened, same

KEYS = st.text(max_size=20) | st.just("")


@st.composite
def batches(draw):
    numbers = st.floats(allow_nan=False, width=64)
    rows = draw(st.lists(st.tuples(numbers, numbers), max_size=5))
    values = np.array(rows, dtype=np.float64).reshape(len(rows), 2)
    return Posted(draw(KEYS), values, draw(st.binary(max_size=20)))


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
