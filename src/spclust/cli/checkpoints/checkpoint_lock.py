"""The lock of a checkpoint: no two processes write to it, and to the outputs that it knows.

The system releases the lock when a process ends, however it ends: no lock is ever stale. A file
with the number of a process in it could be: numbers are used again, and are not those of other
machines and containers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from spclust.cli.exit_codes import CommandError

fcntl: Any = None
with suppress(ImportError):  # not on Windows, where there is no lock
    import fcntl


@contextmanager
def checkpoint_lock(path: str) -> Iterator[None]:
    """Hold the lock of a checkpoint; CommandError if another process has it."""
    name = f"{os.path.realpath(path)}.lock"
    with _locked_file(name, path) as file:
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
        file.flush()
        try:
            yield
        finally:
            with suppress(OSError):
                os.unlink(name)


def _locked_file(name: str, path: str) -> IO[bytes]:
    """The file of a lock, locked while this process has it open."""
    while True:
        file = open(name, "a+b")  # noqa: SIM115
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            number = file.read().decode(errors="replace").strip()
            file.close()
            owner = f"process {number}" if number else "another process"
            raise CommandError(
                f"The checkpoint {path!r} is in use by {owner}: wait until it ends, or name "
                "another file."
            ) from None
        except OSError:
            pass  # a file system without locks
        with suppress(OSError):  # the process that had it may have removed it before it was locked
            if os.path.samestat(os.fstat(file.fileno()), os.stat(name)):
                return file
        file.close()
