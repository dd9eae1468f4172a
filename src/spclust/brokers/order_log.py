"""What a run has seen that the next one would not see again: pauses, and the order of partitions.

Where no more messages come, a batch ends early; messages of several partitions come in any order.
Both are noted beside the checkpoint before anything is learnt of them. A run that is resumed then
makes the same batches of the same rows, and what it sends a second time is the same.
"""

import json
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple

from spclust.persistence.atomic_file import write_whole
from spclust.tables.chunks import Position


class Noted(NamedTuple):
    """A pause after so many rows; or, with a cursor, messages that were fetched up to there."""

    row: int
    cursor: str = ""


class OrderLog:
    """A file of notes, which is never longer than the last two checkpoints need."""

    def __init__(self, path: str, topic: str) -> None:
        self._path, self._topic = path, topic
        self._lock = Lock()  # notes are made by the thread that reads, and removed by another one
        self._notes: list[Noted] = []
        self._since = 0  # row from which on there are notes
        self._checkpoint = 0  # row of the last checkpoint
        self._file: IO[bytes] | None = None

    def open(self, since: Position) -> list[Noted]:
        """Notes of what follows a position; a log of something else is begun anew."""
        self._since = self._checkpoint = since.row
        with suppress(OSError, ValueError, TypeError):
            head, *lines = Path(self._path).read_bytes().split(b"\n")[:-1]  # the last may be cut
            topic, first = json.loads(head)
            if topic == self._topic and first <= since.row:
                self._notes, self._since = [Noted(*json.loads(line)) for line in lines], first
        self._rewrite()
        return [note for note in self._notes if note.cursor or note.row > since.row]

    def add(self, note: Noted) -> None:
        """Note something, before it has an effect."""
        with self._lock:
            self._notes.append(note)
            if self._file is not None:  # it is closed at the end of a run
                self._file.write(json.dumps(note).encode() + b"\n")

    def renew(self, position: Position) -> None:
        """Remove what the checkpoint before that at a position does not need."""
        with self._lock:
            self._since, self._checkpoint = self._checkpoint, position.row
            fetched = [i for i, n in enumerate(self._notes) if n.cursor and n.row <= self._since]
            first = fetched[-1] if fetched else 0
            kept = [
                note
                for i, note in enumerate(self._notes)
                if (i >= first if note.cursor else note.row > self._since)
            ]
            if len(kept) < len(self._notes):
                self._notes = kept
                self._rewrite()

    def _rewrite(self) -> None:
        self.close()
        lines = [json.dumps(each) for each in ((self._topic, self._since), *self._notes)]
        write_whole(self._path, "".join(f"{line}\n" for line in lines).encode())
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
