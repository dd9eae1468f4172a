"""Checkpoints: all that a run needs to be resumed, in one file that is always complete.

The file has the format of saved models; the bytes of the model are one of its arrays.
"""

import os
from typing import Any, NamedTuple

import numpy as np

from spclust.cli.exit_codes import CommandError
from spclust.persistence.atomic_file import write_whole
from spclust.persistence.container import RefusedError, decode, encode
from spclust.persistence.saved_file import read_saved
from spclust.tables.chunks import Position

_CLASS = "checkpoint"


class Checkpoint(NamedTuple):
    """State of a run between two batches."""

    model: bytes
    position: Position
    files: list[str]  # inputs, in order
    settings: dict[str, Any]  # options that influence the results
    lengths: dict[str, int]  # bytes of each output
    counts: dict[str, Any]  # counters and sums of scores


def write_checkpoint(path: str, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint in a file; if that fails, the file is as it was."""
    header = {
        "class": _CLASS,
        "position": list(checkpoint.position),
        "files": checkpoint.files,
        "settings": checkpoint.settings,
        "lengths": checkpoint.lengths,
        "counts": checkpoint.counts,
    }
    model = np.frombuffer(checkpoint.model, dtype=np.uint8)
    write_whole(path, encode(header, {"model": model}))


def read_checkpoint(path: str) -> Checkpoint | None:
    """The checkpoint in a file; None if there is no file."""
    if not os.path.exists(path):
        return None
    try:
        header, arrays = decode(read_saved(path))
        if header.get("class") != _CLASS:
            raise RefusedError("it is no checkpoint of spclust cluster")
        return Checkpoint(
            arrays["model"].tobytes(),
            Position(*header["position"]),
            header["files"],
            header["settings"],
            header["lengths"],
            header["counts"],
        )
    except (RefusedError, KeyError, TypeError) as error:
        raise CommandError(
            f"Cannot go on from {path!r}: {error}. Name another file, or remove it to start anew."
        ) from None


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
