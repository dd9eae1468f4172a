"""A file that is followed through its rotations, as `tail -F` does, without loss of rows.

A rotation renames the file, and another one gets its name; or it copies the file, and truncates it.
What was not read yet is then in the copy, which is recognised by its content: it begins with what
was read. Files that were rotated between two reads are found beside it by their names.
"""

import logging
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from spclust.tables.chunks import Chunk, Columns, Position
from spclust.tables.files.growing_file import HEAD, Ending, GrowingFile
from spclust.tables.files.input_files import InputFiles
from spclust.tables.formats import ReadOptions, codec_of, format_of
from spclust.tables.readers import Reader, open_reader
from spclust.tables.table_error import TableError
from spclust.tables.text_file import NOT_THE_INPUT

_POLL = 0.1  # seconds between two checks whether there is a new file
_NUMBER = r"[-.]\d[-\d_.T:]*"  # or a date, of a rotated file
_TRIES = 50  # to open a file that is being renamed
_MOST_KNOWN = 10_000  # files whose first bytes are remembered
_CODEC = r"(\.(gz|zst|bz2|lz4))?"

logger = logging.getLogger("spclust.tables")


def input_files(
    paths: list[str],
    options: ReadOptions,
    *,
    follow: bool,
    stopped: Callable[[], bool],
    digests: bool = False,
) -> InputFiles:
    """Files that are read one after the other, or one that is followed."""
    if follow and os.path.isfile(paths[0]):
        return FollowedFiles(paths[0], options, stopped=stopped)
    return InputFiles(paths, options, follow=follow, stopped=stopped, digests=digests)


class _Rotated(NamedTuple):
    """A file beside the one that is followed, with the name of a rotated one."""

    path: str
    inode: tuple[int, int]
    changed: int  # time, in nanoseconds
    head: bytes  # first bytes

    @property
    def has_its_name(self) -> bool:
        """True if it was not renamed since."""
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.inode


class FollowedFiles(InputFiles):
    """The files that have had one name, one after the other."""

    def __init__(self, path: str, options: ReadOptions, *, stopped: Callable[[], bool]) -> None:
        kind = format_of(path, options.format)  # rotated ones have other endings
        super().__init__(
            [path], replace(options, format=kind), follow=True, stopped=stopped, digests=True
        )
        self._path = path
        self._growing: GrowingFile | None = None
        self._copy: _Rotated | None = None  # a file that does not grow, which is read now
        self._wanted: set[tuple[int, int]] = set()  # inodes of compressed files to be read
        self._names: tuple[str, ...] = ()
        # Files that were read, or that there were before: first bytes by inodes, as these are
        # used again when a file is removed.
        self._known = {each.inode: each.head for each in self._rotated()}

    def name(self, number: int) -> str:
        """The name that is followed."""
        return self._path

    def __exit__(self, failure: object, *_: object) -> None:
        super().__exit__(failure)
        if self._growing is not None:
            self._growing.close()

    def _open(self, number: int) -> Reader:
        if number not in self._opened:
            if self._copy is None and self._growing is None:
                self._grow()
            reader = self._opened_copy() if self._copy else self._reader(self._path, self._growing)
            self._opened[number] = reader
            self._names = self._names or tuple(self._opened[number].names)
        return self._opened[number]

    def _reader(self, path: str, growing: GrowingFile | None) -> Reader:
        return open_reader(
            path,
            self._options,
            follow=growing is not None,
            stopped=self.stopped,
            digests=True,
            growing=growing,
            known=self._names if self.continues else (),
        )

    def _opened_copy(self) -> Reader:
        """A reader of the copy, which may be renamed meanwhile, as rotated files are."""
        assert self._copy is not None
        for _ in range(_TRIES):
            for each in self._rotated():
                if each.inode == self._copy.inode:
                    with suppress(FileNotFoundError):
                        reader = self._reader(each.path, None)
                        if each.has_its_name:
                            return reader
                        reader.close()
            time.sleep(_POLL)
        raise TableError(f"{self._copy.path!r} was removed before it was read.")

    def _grow(self) -> None:
        self._growing = GrowingFile(self._path)

    def chunks(self, columns: Columns, since: Position) -> Iterator[tuple[Chunk, Position] | None]:
        """Chunks of all files from a position on, each with the position after it.

        TableError if what is before the position is in no file.
        """
        if since.row:
            self._find(columns, since)
        start = since
        while True:
            end, copied = start, self._copy is not None
            for found in self._chunks_of(start.file, columns, start):
                end = end if found is None else found[1]
                yield found
            if self.stopped():
                return
            growing = self._growing
            if not copied and growing is not None and growing.ending is Ending.TRUNCATED:
                here = end._replace(offset=growing.offset, offset_row=end.row, rows="")
                here = here._replace(identity=growing.identity)
                if self._find_copy(columns, here):
                    start = here
                    continue
            start = Position(start.file + 1, start.before + end.row)
            if not self._advance(copied):
                return

    def _advance(self, copied: bool) -> bool:
        """Go on with the next file; False if there is none before the end of the run."""
        self.continues = True
        if not copied:
            self._leave()
        self._copy = None
        while self._growing is None:
            try:
                self._grow()
            except FileNotFoundError:
                if self.stopped():
                    return False
                time.sleep(_POLL)
        # The new file is open already. What was rotated before it, and not read, is read first.
        for rotated in self._unread():
            if rotated.changed > self._growing.changed():
                break
            self._known[rotated.inode] = rotated.head
            self._copy = rotated
            logger.info("%r was rotated to %r, which is read first.", self._path, rotated.path)
            break
        return True

    def _leave(self) -> None:
        if self._growing is None:
            return
        if self._growing.ending is Ending.RENAMED:
            self._known[self._growing.inode] = self._growing.head
            logger.info("%r was renamed: going on with the new one.", self._path)
        self._growing.close()
        self._growing = None

    def _rotated(self) -> list[_Rotated]:
        """Files beside this one that have the name of a rotated one, the oldest first."""
        folder, name = os.path.split(self._path)
        stem, ending = os.path.splitext(name)
        whole, stem, ending = map(re.escape, (name, stem, ending))
        pattern = re.compile(f"({whole}{_NUMBER}|{stem}{_NUMBER}{ending}){_CODEC}")
        found: dict[tuple[int, int], _Rotated] = {}
        with os.scandir(folder or ".") as entries:
            paths = [entry.path for entry in entries if pattern.fullmatch(entry.name)]
        for path in paths:
            # All of one open file: names may change meanwhile.
            with suppress(OSError), open(path, "rb") as file:
                status = os.fstat(file.fileno())
                inode = status.st_dev, status.st_ino
                found[inode] = _Rotated(path, inode, status.st_mtime_ns, file.read(HEAD))
        return sorted(found.values(), key=lambda each: each.changed)

    def _unread(self, *, compressed: bool = False) -> list[_Rotated]:
        """Rotated files that were not read; compressed ones mostly were, before, as others."""
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return [
            each
            for each in self._rotated()
            if (each.inode in self._wanted or (codec_of(each.path) is not None) == compressed)
            and not self._is_known(each)
        ]

    def _is_known(self, rotated: _Rotated) -> bool:
        growing = self._growing
        if growing is not None and growing.ending is None and growing.inode == rotated.inode:
            return True
        head = self._known.get(rotated.inode)
        return head is not None and rotated.head.startswith(head)

    def _find_copy(self, columns: Columns, here: Position) -> bool:
        """Read the rest of a truncated file in its copy; False if there is none."""
        assert self._growing is not None
        opened = int(self._growing.opened * 1e9)
        candidates = deque[_Rotated]()
        for _ in range(_TRIES if here.offset else 0):
            others = [each for each in self._unread(compressed=True) if each.changed >= opened]
            candidates = deque([*self._unread(), *others])
            while candidates:
                each = candidates[0]
                continued = self._is_continued(each.path, columns, here)
                if not each.has_its_name:  # another file was read
                    break
                if continued:
                    self._known[each.inode] = each.head
                    self._copy, self.continues = each, True
                    logger.info(
                        "%r was truncated: its rest is read in the copy %r.", self._path, each.path
                    )
                    self._growing.close()
                    self._growing = None
                    return True
                candidates.popleft()
            if not candidates:
                break
        if here.offset and not self._unread():
            logger.warning(
                "%r was truncated, and no copy of it is beside it: rows that were written after "
                "the last read, if any, are lost.",
                self._path,
            )
        return False

    def _find(self, columns: Columns, since: Position) -> None:
        """Find the file that a position is in, and those that were rotated since."""
        if self._is_continued(self._path, columns, since):
            return
        rotated = self._rotated()
        for at in range(len(rotated) - 1, -1, -1):
            if self._is_continued(rotated[at].path, columns, since):
                self._copy = rotated[at]
                for each in rotated[at + 1 :]:
                    self._wanted.add(each.inode)
                    self._known.pop(each.inode, None)
                logger.info("%r was rotated: going on in %r.", self._path, self._copy.path)
                return
        raise TableError(f"{self._path!r} {NOT_THE_INPUT}")

    def _is_continued(self, path: str, columns: Columns, since: Position) -> bool:
        """True if a file begins with what was read before a position."""
        files = InputFiles([path], self._options, digests=True)
        try:
            with files:
                for found in files.chunks(columns, since._replace(file=0)):
                    if found is not None and found[1].row >= since.row:
                        break
        except (TableError, OSError):
            return False
        return True
