"""What a worker refuses, and how its sentence reaches the caller."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

# A worker's error arrives as one line of a long account of what failed where.
_IN_AN_ACCOUNT = re.compile(r"BadRowsError: (.+)")


class BadRowsError(ValueError):
    """Rows that cannot be learnt or scored: which column of which partition, and what to do."""


@contextmanager
def workers_sentence() -> Iterator[None]:
    """Raise what a worker said about its rows, in place of Spark's account of it."""
    try:
        yield
    except PySparkException as error:
        said = _IN_AN_ACCOUNT.search(str(error))
        if said is None:
            raise
        raise BadRowsError(said.group(1)) from error
