"""Checks of the files that a run is to write, before it begins."""

import os
import stat
from collections.abc import Iterable, Mapping

from spclust.tables.formats import Format, ending_of, format_of
from spclust.tables.inputs import is_topic
from spclust.tables.table_error import TableError
from spclust.tables.writers import STDOUT, AnyPath, is_regular


def require_writable(targets: Mapping[str, AnyPath | None], inputs: Iterable[str]) -> None:
    """Raise TableError if a file could not be written, is an input, or is that of two options.

    `targets` are files by the options that name them. To be called before a long run, not at its
    end.
    """
    read = {_place(name, 0) for name in inputs} - {None}
    written: dict[str | tuple[int, int], str] = {}
    for option, target in ((option, str(path)) for option, path in targets.items() if path):
        folder = os.path.dirname(target) or "."
        if not (os.path.isdir(folder) or is_topic(target)):
            raise TableError(f"{target!r} cannot be written: there is no folder {folder!r}.")
        if target != STDOUT and os.path.isdir(target):
            raise TableError(f"{target!r} cannot be written: it is a folder.")
        place = _place(target, 1)
        if place in read:
            raise TableError(f"{target!r} is an input: name another file to write to.")
        if place is not None and written.setdefault(place, option) != option:
            raise TableError(
                f"{written[place]} and {option} name the same file, {target!r}: name two files."
            )


def _place(path: str, descriptor: int) -> str | tuple[int, int] | None:
    """What two names of one file have in common; None for a device or a pipe, to be shared.

    `descriptor` is that of the standard stream that `-` stands for.
    """
    try:
        status = os.fstat(descriptor) if path == STDOUT else os.stat(path)
    except OSError:  # it is not there yet
        return os.path.realpath(path)
    if stat.S_ISREG(status.st_mode):
        return status.st_dev, status.st_ino
    return path if path == STDOUT and descriptor == 1 else None


def require_truncatable(path: str, given: Format | None) -> None:
    """Raise TableError if a file could not be truncated to a checkpoint."""
    if is_topic(path):
        return  # repeats are dropped there, by their numbers
    if path == STDOUT or not (is_regular(path) or path == os.devnull):
        raise TableError(
            "Output on standard output cannot be taken back after a crash: with --checkpoint "
            "write labels to a file."
        )
    kind = format_of(path, given, "--out-format")
    if kind is Format.PARQUET or (kind is Format.ARROW and ending_of(path) != ".arrows"):
        raise TableError(
            f"{path!r} is of a format that cannot be truncated to a checkpoint: write labels as "
            ".csv, .tsv, .ndjson (also .gz, .zst, .lz4) or as a stream of Arrow, .arrows."
        )
