"""What a worker refuses, and how its sentence reaches the caller."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
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


@contextmanager
def stop_in_few_words() -> Iterator[None]:
    """Let Spark see, in what it is told of a trigger that was interrupted, that it was stopped.

    It looks for the words below, in a way that overflows the JVM's stack if there are thousands of
    others between them, as there are in the account of where the trigger was at that moment.
    """
    try:
        yield
    except Py4JJavaError as error:
        if "java.lang.InterruptedException" not in str(error):
            raise
        raise RuntimeError(
            "py4j.protocol.Py4JJavaError: An error occurred while calling collect: "
            "java.lang.InterruptedException"
        ) from None
