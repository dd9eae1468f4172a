"""What is done about rows that are no good: stop, skip, or collect."""

import re

import typer

from spclust.cli.exit_codes import CommandError
from spclust.tables.cells import sentence_about
from spclust.tables.chunks import BadRow
from spclust.tables.writers import Records


def collected_to(on_bad_row: str) -> str | None:
    """The file that bad rows are written to, if they are; typer.BadParameter if nothing fits."""
    if on_bad_row in ("skip", "stop"):
        return None
    found = re.fullmatch(r"collect[ :=](.+)", on_bad_row)
    if not found:
        raise typer.BadParameter(f"--on-bad-row is skip, stop or collect FILE, not {on_bad_row!r}.")
    return found[1]


class BadRows:
    """Counts bad rows, and writes them down if they are collected."""

    def __init__(self, on_bad_row: str, keep: int | None = None) -> None:
        self._stop = on_bad_row == "stop"
        self.count = 0
        path = collected_to(on_bad_row)
        self.file = None if path is None else Records(path, keep)

    def close(self) -> None:
        """Close the file of bad rows."""
        if self.file is not None:
            self.file.close()

    def state(self) -> tuple[int, int]:
        """How many there were, and the length of the file that they are collected in."""
        return self.count, 0 if self.file is None else self.file.length

    def take(self, bad: list[tuple[str, BadRow]]) -> None:
        """Take note of bad rows, each with the name of its file."""
        for path, each in bad:
            if self._stop:
                raise CommandError(sentence_about(each, path))
            self.count += 1
            if self.file is not None:
                self.file.add({"file": path, "row": each.row + 1, "why": each.why, **each.record})
