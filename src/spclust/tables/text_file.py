"""Bytes of text files, in blocks that end where a line ends: from disks, pipes and growing files.

A block starts at a known byte, so that reading can begin again there.
"""

import hashlib
import os
import select
import time
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any, NamedTuple

import pyarrow as pa

from spclust.cli.exit_codes import CommandError, sentence_of
from spclust.tables.chunks import Piece, Position
from spclust.tables.formats import codec_of_start
from spclust.tables.inputs import STDIN

_QUIET = 0.3  # seconds without a new byte after which what is there is handed on
_LONGEST_RECORD = 64_000_000  # bytes: more without an end is no table
_IDENTITY = 4096  # bytes at the beginning that tell one file from another

IS_ANOTHER = (
    "is not the input that the checkpoint was made with: name that one, or remove the "
    "checkpoint to start anew."
)

Stopped = Callable[[], bool]


class _State(Enum):
    """How reading came to an end for now."""

    MORE = auto()  # there may be more at once
    QUIET = auto()  # nothing came for a moment
    ENDED = auto()  # there is no more yet


class Block(NamedTuple):
    """Whole lines."""

    offset: int  # of the first byte, in the text as it is without compression
    data: bytes
    consumed: int  # bytes of the file read so far, compressed as they are


class TextFile:
    """A text file, or standard input, uncompressed and in UTF-8 whatever it was before."""

    def __init__(self, path: str, encoding: str, *, follow: bool, stopped: Stopped) -> None:
        self.path, self.follow, self.stopped = path, follow, stopped
        # Unbuffered: a thread that waits in a buffered read could not be left behind at the end.
        source = 0 if path == STDIN else path
        self._raw = open(source, "rb", buffering=0, closefd=path != STDIN)  # noqa: SIM115
        self.consumed = 0  # bytes as they are on the disk
        self._start = self._first_bytes()
        self._peeked = b""  # text that was looked at before its time
        self._seen = b""  # the first bytes, by which the text is known again
        self._stream = self._decoded(encoding)

    def close(self) -> None:
        """Read no more."""
        self._raw.close()

    def _first_bytes(self) -> bytes:
        start = b""
        while len(start) < 4 and (more := self._raw.read(4 - len(start))):
            start += more
        return start

    def _decoded(self, encoding: str) -> Any:
        """What has to be read through to get at the text; None if the file is plain."""
        codec, foreign = codec_of_start(self._start), not _is_utf8(encoding)
        if not codec and not foreign:
            return None
        if self.follow:
            raise CommandError(f"--follow reads plain text in UTF-8, which {self.path!r} is not.")
        stream: Any = pa.PythonFile(_Rest(self), mode="r")
        if codec:
            stream = pa.CompressedInputStream(stream, codec)
        return pa.transcoding_input_stream(stream, encoding, "utf-8") if foreign else stream

    def read_raw(self, size: int) -> bytes:
        """Bytes as they are on the disk: some, as soon as there are any; none at the end."""
        data, self._start = self._start[:size], self._start[size:]
        if not data:
            data = self._raw.read(size) or b""
        self.consumed += len(data)
        return data

    def _read(self, size: int) -> bytes:
        if self._peeked:
            data, self._peeked = self._peeked[:size], self._peeked[size:]
            return data
        try:
            data = self.read_raw(size) if self._stream is None else bytes(self._stream.read(size))
        except UnicodeError as error:
            raise CommandError(f"{self.path!r} is of another encoding: {error}.") from None
        except OSError as error:  # a compressed file that is cut short or damaged
            raise CommandError(f"{self.path!r} cannot be read: {sentence_of(error)}") from None
        if len(self._seen) < _IDENTITY:
            self._seen += data[: _IDENTITY - len(self._seen)]
        return data

    def read_fully(self, size: int) -> bytes:
        """As many bytes, unless the end comes before."""
        pending = bytearray()
        while len(pending) < size and (data := self._read(size - len(pending))):
            pending += data
        return bytes(pending)

    def identity(self, length: int = _IDENTITY) -> str:
        """What tells this text from another one: a digest of the beginning that was read."""
        start = self._seen[:length]
        return f"{len(start)} {hashlib.sha256(start).hexdigest()[:32]}"

    def refuse_another(self, identity: str) -> None:
        """Raise CommandError if this is not the text that had this identity."""
        length = int(identity.split()[0])
        if len(self._seen) >= length and self.identity(length) != identity:
            raise CommandError(f"{self.path!r} {IS_ANOTHER}")

    def put_back(self, data: bytes) -> None:
        """Let bytes that were read be read once more."""
        self._peeked = data + self._peeked

    def peek(self, size: int) -> bytes:
        """The first lines, about `size` bytes of them; at least two lines, unless it is shorter."""
        pending = bytearray()
        while True:
            state = self._fill(pending, max(size, _IDENTITY))
            if state is _State.MORE or self._is_final(state) or self.stopped():
                break
            if pending.count(b"\n") > 1:
                break
            time.sleep(_QUIET if state is _State.ENDED else 0.0)
        self.put_back(bytes(pending))
        return bytes(pending)

    def blocks(self, size: int, offset: int, cut: Callable[[bytes], int]) -> Iterator[Block | None]:
        """Blocks of about `size` bytes from a byte on; None when a growing file stands still.

        `cut` tells how many bytes of some are whole records.
        """
        self._skip(offset)
        pending, told = bytearray(), False
        while True:
            state = self._fill(pending, size)
            stopped, final = self.stopped(), self._is_final(state)
            if stopped and not self.follow:
                return
            whole = len(pending) if final else cut(bytes(pending))
            if whole:
                yield Block(offset, bytes(pending[:whole]), self.consumed)
                del pending[:whole]
                offset += whole
                told = False
            elif len(pending) > _LONGEST_RECORD:
                raise CommandError(
                    f"{self.path!r} has a record of more than 64 MB that does not end: is it text, "
                    "with all quotes closed?"
                )
            if final or stopped:
                return
            if state is not _State.MORE and not told:
                yield None
                told = True
            if state is _State.ENDED:
                self._wait()

    def _is_final(self, state: "_State") -> bool:
        """Whether nothing will follow any more."""
        return state is _State.ENDED and (not self.follow or self.path == STDIN)

    def _wait(self) -> None:
        if os.fstat(self._raw.fileno()).st_size < self.consumed:
            raise CommandError(f"{self.path!r} was cut short while it was followed.")
        time.sleep(_QUIET)

    def _fill(self, pending: bytearray, size: int) -> "_State":
        """Read until there are `size` bytes more, or nothing comes. Modified in place: pending."""
        wanted = len(pending) + size
        while len(pending) < wanted and not self.stopped():
            if self.follow and self.path == STDIN and not (self._start or self._peeked):
                ready, _, _ = select.select([self._raw], [], [], _QUIET)
                if not ready:
                    return _State.QUIET
            data = self._read(wanted - len(pending))
            if not data:
                return _State.ENDED
            pending += data
        return _State.MORE

    def _skip(self, offset: int) -> None:
        """Go to a byte: at once in a plain file, else by reading what is before it."""
        plain = self._stream is None and os.path.isfile(self.path)
        left = offset
        while left:
            data = self._read(min(left, 1_000_000))
            left -= len(data)
            if not data or (plain and os.path.getsize(self.path) < offset):
                raise CommandError(f"{self.path!r} {IS_ANOTHER}")
            if plain and not self._peeked:
                self._raw.seek(offset)
                self.consumed, left = offset, 0


class _Rest:
    """What is left of a raw file, as the file that PyArrow reads."""

    closed = False

    def __init__(self, text: TextFile) -> None:
        self._text = text

    def read(self, size: int = -1) -> bytes:
        return self._text.read_raw(size if size > 0 else 1_000_000)


def pieces_of(
    text: TextFile,
    size: int,
    since: Position | None,
    start: int,
    cut: Callable[[bytes], int],
    piece_of: Callable[[Block, int], Piece],
) -> Iterator[Piece | None]:
    """Pieces made of the blocks of a text whose first row starts at a byte; from a position on."""
    offset, row = (max(since.offset, start), since.offset_row) if since else (start, 0)
    for block in text.blocks(size, offset, cut):
        if since and since.identity:
            text.refuse_another(since.identity)
        if block is None:
            yield None
            continue
        piece = piece_of(block, row)
        yield piece
        row = piece.end_row
    if since and row < since.row and not text.stopped():
        raise CommandError(f"{text.path!r} {IS_ANOTHER}")


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def whole_lines(data: bytes) -> int:
    """Bytes up to the end of the last whole line."""
    return data.rfind(b"\n") + 1


def whole_records(data: bytes) -> int:
    """Bytes up to the end of the last line that is not inside of a quoted cell."""
    end = whole_lines(data)
    if b'"' not in data[:end]:
        return end
    quotes = data.count(b'"', 0, end)
    while end and quotes % 2:
        earlier = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', earlier, end)
        end = earlier
    return end
