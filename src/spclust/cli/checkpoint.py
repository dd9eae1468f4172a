"""Checkpoints: all that a run needs to go on where it stood, in one file that is always whole.

The file has the format of saved models; the model is one of its arrays.
"""

import os
from typing import Any, NamedTuple

import numpy as np

from spclust.cli.exit_codes import CommandError
from spclust.persistence.atomic_file import write_whole
from spclust.persistence.container import RefusedError, decode, encode
from spclust.tables.chunks import Position

_CLASS = "checkpoint"


class Checkpoint(NamedTuple):
    """A moment of a run, between two batches."""

    model: bytes
    position: Position
    files: list[str]  # inputs, in order
    settings: dict[str, Any]  # options that decide what comes out
    lengths: dict[str, int]  # bytes of each output
    counts: dict[str, Any]  # what was counted and scored


def write_checkpoint(path: str, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint by a newer one, or leave it as it was."""
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
        with open(path, "rb") as file:
            header, arrays = decode(file.read())
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


def refuse_differences(
    path: str, then: Checkpoint, settings: dict[str, Any], files: list[str]
) -> None:
    """Raise CommandError if a checkpoint is of a run with other options or inputs."""
    for name in (*settings, *then.settings):
        before, now = then.settings.get(name), settings.get(name)
        if before != now:
            raise CommandError(
                f"The checkpoint {path!r} was made with --{name.replace('_', '-')} "
                f"{_shown(before)}, not {_shown(now)}: use the same options, or remove it to start "
                "anew."
            )
    read = then.position.file + 1
    if files[:read] != then.files[:read]:
        raise CommandError(
            f"The checkpoint {path!r} was made with other inputs, {', '.join(then.files[:read])}: "
            "name the same, or remove it to start anew."
        )


def _shown(value: Any) -> str:
    return "not given" if value is None else str(value)
