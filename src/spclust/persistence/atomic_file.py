"""Atomic files: written whole or not at all, even if the process is killed."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeAlias

fcntl: Any = None
with suppress(ImportError):  # Windows has none, and does not remove files that are open
    import fcntl

AnyPath: TypeAlias = str | os.PathLike[str]


def write_whole(path: AnyPath, data: bytes) -> None:
    """Replace the content of a file on the disk, all of it, or leave the file as it was.

    The content is written to a temporary file in the same folder, which then replaces the old file
    in one step. If anything fails, an OSError says what in one sentence, and the temporary file is
    removed; one that a killed process left is removed by the next process that writes the file.
    """
    target = Path(os.path.realpath(os.fsdecode(path)))  # a link stays one
    try:
        if target.exists() and not target.is_file():
            raise OSError("it is not a regular file")
        _remove_stale(target)
        with _temporary(target) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, target)
        _sync_folder(target.parent)
    except OSError as error:
        why = error.strerror or str(error)
        sentence = f"Nothing was saved to {os.fspath(path)!r}, which is as it was: {why}."
        raise (OSError(error.errno, sentence) if error.errno else OSError(sentence)) from error


@contextmanager
def _temporary(target: Path) -> Iterator[IO[bytes]]:
    """An empty file beside the target; it is removed at the end unless it was renamed."""
    file = _locked_file(target)
    try:
        with file:
            with suppress(OSError):  # there is no old file, or its mode cannot be copied
                os.chmod(file.name, stat.S_IMODE(target.stat().st_mode))
            yield file
    finally:
        with suppress(OSError):
            os.unlink(file.name)


def _locked_file(target: Path) -> IO[bytes]:
    """A new temporary file, locked while this process lives and has it open."""
    while True:
        file = open(target.with_name(f"{_prefix(target)}{token_hex(8)}.tmp"), "xb")  # noqa: SIM115
        if fcntl:
            with suppress(OSError):  # not all file systems have locks
                fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(file.name):
            return file
        file.close()  # another process removed it as stale before it was locked


def _remove_stale(target: Path) -> None:
    """Remove temporary files of this target that no living process has locked."""
    for stale in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with suppress(OSError), open(stale, "rb") as file:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if a process has it
            os.unlink(stale)


def _prefix(target: Path) -> str:
    """Prefix of the temporary files of a target: short, however long its own name is."""
    name = os.fsencode(target.name)
    return f".spclust-{hashlib.sha256(name).hexdigest()[:16]}-"


def _sync_folder(folder: Path) -> None:
    """Flush the new name to the disk, where the platform can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
