"""Journals, and batches to be appended to them."""

import numpy as np

from spclust.live.posts.journal import Journal, Posted
from spclust.tables.chunks import Columns, Position

COLUMNS = Columns(("x", "y"), ("name",))
OPEN = []  # journals to be closed when a test ends


def batch(rows=3, key="", extra=b"", seed=0):
    return Posted(key, np.random.default_rng(seed).normal(size=(rows, 2)), extra)


def opened(folder):
    journal = Journal(folder)
    OPEN.append(journal)
    journal.begin(COLUMNS)
    return journal


def found(folder, since=Position()):  # noqa: B008
    return list(Journal(folder).recovered(since))


def same(a, b):
    return a.key == b.key and a.extra == b.extra and a.values.tobytes() == b.values.tobytes()


def segments(folder):
    return sorted(folder.glob("*.posted"))
