"""Input files, read one after the other as one stream."""

from collections.abc import Callable, Iterator
from typing import Self

from spclust.tables.chunks import Chunk, Columns, Position, RowDigest
from spclust.tables.formats import ReadOptions
from spclust.tables.readers import Reader, named_errors, open_reader, require_columns
from spclust.tables.table_error import TableError
from spclust.tables.text_file import NOT_THE_INPUT


class InputFiles:
    """Input files, read one after the other as one stream."""

    def __init__(
        self,
        paths: list[str],
        options: ReadOptions,
        *,
        follow: bool = False,
        stopped: Callable[[], bool] = lambda: False,
        digests: bool = False,
    ) -> None:
        """Prepare to read files; `digests` of what was read are part of positions, if wanted."""
        self.paths = paths
        self._options, self.follows, self.stopped = options, follow, stopped
        self._digests, self._rows = digests, RowDigest()
        self._opened: dict[int, Reader] = {}
        self.ends: dict[int, Position] = {}  # of files that were read to their end
        self.continues = False  # True if the file of now continues another one

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Close all files."""
        for reader in self._opened.values():
            reader.close()

    def first(self) -> tuple[str, Reader]:
        """The first file that has columns, with its reader."""
        for number in range(len(self.paths)):
            reader = self._open(number)
            if reader.names:
                return self.paths[number], reader
        raise TableError(f"{self.paths[0]!r} is empty.")

    def name(self, number: int) -> str:
        """The name of a file."""
        return self.paths[number]

    def _open(self, number: int) -> Reader:
        if number not in self._opened:
            self._opened[number] = open_reader(
                self.paths[number],
                self._options,
                follow=self.follows,
                stopped=self.stopped,
                digests=self._digests,
            )
        return self._opened[number]

    def chunks(self, columns: Columns, since: Position) -> Iterator[tuple[Chunk, Position] | None]:
        """Chunks of all files from a position on, each with the position after it.

        TableError if what is before the position is not what was read before.
        """
        for number, end in self.ends.items():
            for _ in self._chunks_of(number, columns, end):
                pass  # it is checked
        if since.file >= len(self.paths):
            raise TableError(
                f"The checkpoint was made when {self.paths[0]!r} had been rotated: say --follow."
            )
        before = since.before
        for number in range(since.file, len(self.paths)):
            start = since if number == since.file else Position(number, before)
            end = start
            for found in self._chunks_of(number, columns, start):
                end = end if found is None else found[1]
                yield found
            if self._digests:
                self.ends[number] = self.position(end)
            before += end.row
            if self.stopped():
                return

    def _chunks_of(
        self, number: int, columns: Columns, since: Position
    ) -> Iterator[tuple[Chunk, Position] | None]:
        """Chunks of one file."""
        path, reader = self.name(number), self._open(number)
        # Rows before the offset are known by its identity; there need be none after it.
        row = since.offset_row if since.identity else 0
        offset, known = -1, RowDigest()
        if reader.names and not self.continues:
            require_columns(columns.read, reader, path)
        with named_errors(path):
            for chunk in reader.chunks(columns, since) if reader.names else ():
                if chunk is None:
                    yield None
                    continue
                if chunk.offset != offset:
                    self._rows, offset = RowDigest(), chunk.offset
                if row < since.row:
                    earlier, chunk = chunk.until(since.row), chunk.since(since.row)
                    self._rows.add(earlier)
                    known.add(earlier)
                    if chunk.end_row >= since.row and since.rows and since.rows != known.value():
                        raise TableError(f"{path!r} {NOT_THE_INPUT}")
                row = chunk.end_row
                identity = chunk.identity
                end = Position(number, since.before, row, offset, chunk.offset_row, identity)
                yield chunk, end
        if row < since.row and not self.stopped():
            raise TableError(f"{path!r} {NOT_THE_INPUT}")
        self._opened.pop(number).close()

    def position(self, end: Position, part: Chunk | None = None) -> Position:
        """A position with the digest of the rows before it, the last of which are `part`."""
        if part is not None:
            end = end._replace(row=part.end_row)
            if self._digests:
                self._rows.add(part)
        return end._replace(rows=self._rows.value()) if self._digests else end
