import pytest

from spclust.live.posts import journal
from tests.live.journal.common import OPEN


@pytest.fixture(autouse=True)
def _closed():
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def short_segments(monkeypatch):
    """A new segment after each of a few batches."""
    monkeypatch.setattr(journal, "_SEGMENT", 100)
