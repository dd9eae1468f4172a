"""Bytes of a saved model in a file: no more of it is read than the model says that it has."""

import os
import stat

from spclust.persistence.atomic_file import AnyPath
from spclust.persistence.container import PREFIX_SIZE, RefusedError, length_of, memory_limit

_AT_ONCE = 1 << 24  # bytes


def read_saved(path: AnyPath, max_bytes: int | None = None) -> bytes:
    """The bytes of a saved model in a file, which may have more after them: one is read, too.

    Raises RefusedError if these are no saved model, or more than `max_bytes`; OSError if there is
    no such file.
    """
    with open(path, "rb") as file:
        data = file.read(PREFIX_SIZE)
        length = length_of(data)
        if length > memory_limit(max_bytes):
            raise RefusedError(f"it has {length} bytes, more than it may have")
        about = os.fstat(file.fileno())
        at_once = about.st_size if stat.S_ISREG(about.st_mode) else _AT_ONCE
        parts, left = [data], length + 1 - len(data)
        while left > 0 and (part := file.read(min(left, at_once))):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)
