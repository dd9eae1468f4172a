"""A file that grows, and that may be renamed or truncated: when it is, a new one begins.

What is read is compared with what was read before: a file that was truncated, and has grown again
beyond the place where reading had stopped, cannot be told by its length alone.
"""

import math
import os
import time
from contextlib import suppress
from enum import Enum, auto

HEAD = 512  # first bytes, by which one is told from a later one that has got its inode
_TAIL = 512  # last bytes that were read, by which a file is recognised
_LINGER = 1.0  # seconds without a byte after which a file that was renamed is left


class Ending(Enum):
    """Why a growing file has ended."""

    RENAMED = auto()  # another file has its name; it was read to its end
    TRUNCATED = auto()


class GrowingFile:
    """An open file, as a raw file of bytes."""

    def __init__(self, path: str) -> None:
        # Unbuffered: a thread waiting in a buffered read holds a lock that Python needs at exit.
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115
        status = os.fstat(self._file.fileno())
        self.inode = status.st_dev, status.st_ino  # what all names of the file have in common
        self.path = path
        self.ending: Ending | None = None
        self.offset, self.identity = 0, ""  # of the text that was passed on, when it has ended
        self.opened = time.time()
        self._bytes, self._tail = 0, b""
        self.head = b""  # first bytes
        self._since: float | None = None  # time since which it is silent under another name

    def fileno(self) -> int:
        """The descriptor."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at its end so far, or when it was truncated."""
        if self.ending is Ending.TRUNCATED:
            return b""
        data = self._file.read(size) or b""
        # Afterwards, so that the bytes are those that followed the ones before.
        if not self._is_the_same(self._bytes + len(data)):
            self.ending = Ending.TRUNCATED
            return b""
        if data:
            self.head += data[: max(0, HEAD - self._bytes)]
            self._bytes += len(data)
            self._tail = (self._tail + data)[-_TAIL:]
            self._since = None
        return data

    def _is_the_same(self, length: int) -> bool:
        if os.fstat(self.fileno()).st_size < length:
            return False
        start = self._bytes - len(self._tail)
        return os.pread(self.fileno(), len(self._tail), start) == self._tail

    def changed(self) -> float:
        """Time of its last change, in nanoseconds; without end while it has its name."""
        status = os.fstat(self.fileno())
        with suppress(OSError):
            named = os.stat(self.path)
            if (named.st_dev, named.st_ino) == self.inode:
                return math.inf
        return status.st_mtime_ns

    def has_ended(self) -> bool:
        """True if no byte will follow; to be asked when there is none."""
        if self.ending is not None:
            return True
        try:
            status = os.stat(self.path)
        except OSError:  # it was renamed, and there is no new one yet
            return False
        if (status.st_dev, status.st_ino) == self.inode:
            self._since = None
            return False
        now = time.monotonic()
        if self._since is None:  # a program may still write to it under its new name
            self._since = now
        if now - self._since < _LINGER:
            return False
        self.ending = Ending.RENAMED
        return True
