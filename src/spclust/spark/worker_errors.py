"""Errors of the workers, in the form that the caller, or Spark, needs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

# The message of a worker's error is one line of Spark's long message.
_IN_SPARK_MESSAGE = re.compile(r"BadRowsError: (.+)")


class BadRowsError(ValueError):
    """Rows that cannot be learnt or scored: column, row and partition, and what to do."""


@contextmanager
def bad_rows_reraised() -> Iterator[None]:
    """Raise a worker's BadRowsError itself, in place of the Spark exception that contains it."""
    try:
        yield
    except PySparkException as error:
        found = _IN_SPARK_MESSAGE.search(str(error))
        if found is None:
            raise
        raise BadRowsError(found.group(1)) from error


@contextmanager
def short_interrupt_message() -> Iterator[None]:
    """Shorten the message of a trigger that was interrupted because its query was stopped.

    Spark recognises such an error by a regular expression for the words below, which overflows the
    JVM's stack if thousands of characters stand between them, as in the message with a stack trace.
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
