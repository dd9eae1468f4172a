"""Checkpoints: all that a run needs to be resumed, in one file that is always complete.

The file has the format of saved models; the bytes of the model are one of its arrays. Checkpoints
of earlier versions have no digests: what they know of inputs and outputs is then not checked.
"""

import logging
import os
import shutil
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from spclust.cli.exit_codes import CommandError, say
from spclust.persistence.atomic_file import write_whole
from spclust.persistence.container import RefusedError, decode, encode, read_saved
from spclust.tables.chunks import Position
from spclust.tables.writers import Written

_CLASS = "checkpoint"


class Checkpoint(NamedTuple):
    """State of a run between two batches."""

    model: bytes
    position: Position
    files: list[str]  # inputs, in order
    ends: list[Position]  # of the inputs before that of the position
    settings: dict[str, Any]  # options that influence the results
    written: dict[str, Written]  # outputs, by their names in a run
    counts: dict[str, Any]  # counters and sums of scores


class CheckpointFile:
    """The file of a checkpoint, and beside it that of the checkpoint before it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._target = os.path.realpath(path)  # a link stays one
        self._previous = f"{self._target}.previous"
        self._is_new, self._is_sound = True, False

    def read(self) -> Checkpoint | None:
        """The last checkpoint, or the one before if that is damaged; None if there is no file."""
        self._is_new = not os.path.exists(self.path)
        if self._is_new:
            return None
        try:
            found = _decoded(self.path)
        except CommandError as error:
            try:
                found = _decoded(self._previous)
            except (CommandError, OSError):
                raise error from None
            say(
                f"{self.path!r} is damaged: going on from the one before, {self._previous!r}.",
                logging.WARNING,
            )
        else:
            self._is_sound = True
        return found

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint, and keep the last one; if that fails, both are as they were."""
        header = {
            "class": _CLASS,
            "position": list(checkpoint.position),
            "files": checkpoint.files,
            "ends": [list(end) for end in checkpoint.ends],
            "settings": checkpoint.settings,
            "lengths": {name: file.length for name, file in checkpoint.written.items()},
            "digests": {name: file.digest for name, file in checkpoint.written.items()},
            "counts": checkpoint.counts,
        }
        model = np.frombuffer(checkpoint.model, dtype=np.uint8)
        data = encode(header, {"model": model})
        if self._is_sound:
            self._keep_last()
        elif self._is_new:  # what is there is of a run that was started anew
            with suppress(FileNotFoundError):
                os.unlink(self._previous)
        write_whole(self.path, data)
        self._is_new, self._is_sound = False, True

    def _keep_last(self) -> None:
        """Give the file a second name: it is never missing under the first one."""
        with suppress(FileNotFoundError):
            if os.path.samefile(self._target, self._previous):
                return  # a run was killed after this, and before it wrote the next checkpoint
        spare = f"{self._previous}.tmp"
        with suppress(FileNotFoundError):
            os.unlink(spare)
        try:
            os.link(self._target, spare)
        except OSError:  # a file system without links
            shutil.copyfile(self._target, spare)
        os.replace(spare, self._previous)


def _decoded(path: str) -> Checkpoint:
    try:
        header, arrays = decode(read_saved(path))
        if header.get("class") != _CLASS:
            raise RefusedError("it is no checkpoint of spclust cluster")
        lengths, digests = header["lengths"], header.get("digests", {})
        return Checkpoint(
            arrays["model"].tobytes(),
            Position(*header["position"]),
            header["files"],
            [Position(*end) for end in header.get("ends", [])],
            header["settings"],
            {name: Written(length, digests.get(name, "")) for name, length in lengths.items()},
            header["counts"],
        )
    except (RefusedError, KeyError, TypeError) as error:
        raise CommandError(
            f"Cannot go on from {path!r}: {error}. Name another file, or remove it to start anew."
        ) from None


def settings_of(groups: Iterable[dict[str, Any]], free: Container[str]) -> dict[str, Any]:
    """Options as a checkpoint has them, but those that are free to change."""
    return {
        name: None if value is None else str(value)
        for group in groups
        for name, value in group.items()
        if name not in free
    }


def require_same_run(
    path: str, earlier: Checkpoint, settings: dict[str, Any], files: list[str]
) -> None:
    """Raise CommandError if a checkpoint is of a run with other options or inputs."""
    for name in (*settings, *earlier.settings):
        before, now = earlier.settings.get(name), settings.get(name)
        if before != now:
            raise CommandError(
                f"The checkpoint {path!r} was made with --{name.replace('_', '-')} "
                f"{_shown(before)}, not {_shown(now)}: use the same options, or remove it to start "
                "anew."
            )
    read = earlier.position.file + 1
    if files[:read] != earlier.files[:read]:
        inputs = ", ".join(earlier.files[:read])
        raise CommandError(
            f"The checkpoint {path!r} was made with other inputs, {inputs}: name the same, or "
            "remove it to start anew."
        )


def _shown(value: Any) -> str:
    return "not given" if value is None else str(value)
