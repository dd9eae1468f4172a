"""Bad rows: stop at the first one, skip them, or collect them in a file."""

import re

from spclust.tables.chunks import BadRow
from spclust.tables.inputs import is_topic
from spclust.tables.table_error import TableError, TableOptionError
from spclust.tables.writers import RecordWriter, Written

_HINT = "--on-bad-row skip, or collect FILE, goes on without such rows."


def collection_path(on_bad_row: str) -> str | None:
    """File that bad rows are written to, None if they are not; TableOptionError if misspelt."""
    if on_bad_row in ("skip", "stop"):
        return None
    found = re.fullmatch(r"collect[ :=](.+)", on_bad_row)
    if not found:
        raise TableOptionError(f"--on-bad-row is skip, stop or collect FILE, not {on_bad_row!r}.")
    if is_topic(found[1]):
        raise TableOptionError("--on-bad-row collect takes a file: bad rows go to no topic.")
    return found[1]


class BadRows:
    """A counter of bad rows, with the file that they are collected in, if any."""

    def __init__(
        self, on_bad_row: str, keep: Written | None = None, *, digests: bool = False
    ) -> None:
        """Stop, skip or collect; the file goes on after what is to be kept, if given."""
        self._stop = on_bad_row == "stop"
        self.count = 0
        path = collection_path(on_bad_row)
        self.file = None if path is None else RecordWriter(path, keep, digests=digests)

    def close(self) -> None:
        """Close the file of bad rows."""
        if self.file is not None:
            self.file.close()

    def state(self) -> tuple[int, Written]:
        """Number of bad rows so far, and what was written to the file of bad rows."""
        return self.count, Written() if self.file is None else self.file.state()

    def add(self, bad: list[tuple[str, BadRow]]) -> None:
        """Count bad rows, each with the name of its file; TableError if they stop the run."""
        for path, each in bad:
            if self._stop:
                raise TableError(f"{path!r}, row {each.row + 1}: {each.why}. {_HINT}")
            self.count += 1
            if self.file is not None:
                self.file.add({"file": path, "row": each.row + 1, "why": each.why, **each.record})
