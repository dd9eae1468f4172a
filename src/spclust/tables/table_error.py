"""Errors about tables: one sentence that says what is wrong, where, and what to do."""

import os
from collections.abc import Sequence


class TableError(Exception):
    """Files or cells that cannot be read or written. The command ends with exit code 1."""


class TableOptionError(TableError):
    """An option with a value that it does not have. The command ends with exit code 2."""


def sentence_of(error: BaseException) -> str:
    """The message of an error, in one line and with a full stop."""
    if isinstance(error, OSError) and error.strerror:
        # `strerror` of a file that `write_whole` could not write is a whole sentence already.
        name = error.filename
        text = error.strerror if name is None else f"{os.fsdecode(name)}: {error.strerror}"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."


def printable(text: str) -> str:
    """Text with all characters escaped that a terminal would obey instead of showing them."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Names in one line; if there are more than `most`, the first ones and how many follow."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
