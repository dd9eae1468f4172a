"""Text files in blocks of whole lines: from disks, pipes and growing files.

Each block has the offset of its first byte, from which reading can be resumed.
"""

import os
import select
import time
import zlib
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from spclust.tables.chunks import Chunk, Position
from spclust.tables.files.growing_file import Ending, GrowingFile
from spclust.tables.formats import codec_of_start
from spclust.tables.inputs import STDIN
from spclust.tables.table_error import TableError, sentence_of

_QUIET = 0.3  # seconds without a new byte after which the bytes so far are passed on
_LONGEST_RECORD = 64_000_000  # bytes: a longer one is taken for a file that is no table
_LEAST_PEEK = 4096  # bytes

NOT_THE_INPUT = (
    "is not the input that the checkpoint was made with: name that one, or remove the "
    "checkpoint to start anew."
)

Stopped = Callable[[], bool]
Cut = Callable[[bytes | bytearray], int]  # bytes at the beginning that are whole records


class _State(Enum):
    """Why a read returned."""

    MORE = auto()  # enough bytes are there, and more may follow at once
    QUIET = auto()  # no byte came for a moment
    ENDED = auto()  # the file has no more bytes, so far


class Block(NamedTuple):
    """Whole lines of a text."""

    offset: int  # of the first byte, in the uncompressed text
    data: bytes
    consumed: int  # bytes of the file read so far, before decompression


class TextFile:
    """A text file or standard input, decompressed and converted to UTF-8."""

    def __init__(
        self,
        path: str,
        encoding: str,
        *,
        follow: bool,
        stopped: Stopped,
        digests: bool,
        content: BinaryIO | None = None,
        growing: GrowingFile | None = None,
        least_lines: int = 2,
    ) -> None:
        """Open a file; `content` is what it holds, uncompressed, if it is on no disk.

        `growing`: the file, if it may be rotated. `least_lines` are those that `peek` waits for.
        """
        self._growing, self._least_lines = growing, least_lines
        self.path, self.follow, self.stopped = path, follow, stopped
        self._digest = 0 if digests else None  # CRC-32, which is the fastest that detects errors
        self._passed = 0  # bytes of the text before the block of now
        # Unbuffered: a thread waiting in a buffered read holds a lock that Python needs at exit.
        source = 0 if path == STDIN else path
        self._raw: Any = content or growing
        if self._raw is None:
            self._raw = open(source, "rb", buffering=0, closefd=path != STDIN)  # noqa: SIM115
        self._content = content
        self.consumed = 0  # bytes of the file, before decompression
        self._start = self._first_bytes()
        self._peeked = b""  # text that was read and put back
        self._stream = self._decoded(encoding)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def _first_bytes(self) -> bytes:
        start = b""
        while len(start) < 4 and (more := self._raw.read(4 - len(start))):
            start += more
        return start

    def _decoded(self, encoding: str) -> Any:
        """Stream that decompresses and decodes the file; None if it is plain UTF-8."""
        codec = codec_of_start(self._start) if self._content is None else None
        other = not _is_utf8(encoding)
        if not codec and not other:
            return None
        if self.follow:
            raise TableError(f"--follow reads plain text in UTF-8, which {self.path!r} is not.")
        stream: Any = pa.PythonFile(_RawBytes(self), mode="r")
        if codec:
            stream = pa.CompressedInputStream(stream, codec)
        return pa.transcoding_input_stream(stream, encoding, "utf-8") if other else stream

    def read_raw(self, size: int) -> bytes:
        """Up to `size` bytes before decompression, as soon as there are any; none at the end."""
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
            raise TableError(f"{self.path!r} is of another encoding: {error}.") from None
        except OSError as error:  # a compressed file is truncated or damaged
            raise TableError(f"{self.path!r} cannot be read: {sentence_of(error)}") from None
        return data

    def whole(self) -> pa.Buffer | None:
        """All bytes from here on, if they are in memory already: PyArrow need not ask for them."""
        return None if self._content is None else pa.py_buffer(self.read_fully(1 << 62))

    def read_fully(self, size: int) -> bytes:
        """Exactly `size` bytes, or fewer at the end of the text."""
        pending = bytearray()
        while len(pending) < size and (data := self._read(size - len(pending))):
            pending += data
        return bytes(pending)

    def identity(self) -> str:
        """Length and digest of the text before the block of now; "" if none is computed."""
        return "" if self._digest is None else f"{self._passed} {self._digest:08x}"

    def _pass(self, data: bytes) -> None:
        self._passed += len(data)
        if self._digest is not None:
            self._digest = zlib.crc32(data, self._digest)

    def put_back(self, data: bytes) -> None:
        """Put bytes back: the next read returns them again."""
        self._peeked = data + self._peeked

    def peek_start(self) -> bytes:
        """The first few bytes, which are the same again when they are read."""
        start = self.read_fully(4)
        self.put_back(start)
        return start

    def peek(self, size: int) -> bytes:
        """About `size` bytes of the first lines, at least two lines if there are two."""
        pending = bytearray()
        while True:
            state = self._fill(pending, max(size, _LEAST_PEEK))
            if state is _State.MORE or self._has_ended(state) or self.stopped():
                break
            if max(pending.count(b"\n"), pending.count(b"\r")) >= self._least_lines:
                break
            time.sleep(_QUIET if state is _State.ENDED else 0.0)
        self.put_back(bytes(pending))
        return bytes(pending)

    def blocks(
        self, size: int, offset: int, cut: Cut, identity: str = ""
    ) -> Iterator[Block | None]:
        """Blocks of about `size` bytes from an offset on; None when a growing file pauses.

        `cut` returns how many bytes at the beginning of its argument are whole records. TableError
        if the text before the offset is not that of an identity.
        """
        self._skip(offset, identity)
        pending, paused = bytearray(), False
        while True:
            # The size doubles while a record goes on, so that the time is linear in its length.
            longer = min(len(pending), _LONGEST_RECORD - len(pending))
            state = self._fill(pending, max(size, longer))
            stopped, final = self.stopped(), self._is_final(state)
            if stopped and not self.follow:
                return
            whole = len(pending) if final else cut(pending)
            if whole:
                data = bytes(pending[:whole])
                yield Block(offset, data, self.consumed)
                self._pass(data)
                del pending[:whole]
                offset += whole
                paused = False
            elif len(pending) > _LONGEST_RECORD:
                raise TableError(
                    f"{self.path!r} has a record of more than 64 MB that does not end: is it text, "
                    "with all quotes closed?"
                )
            if final or stopped or self._has_ended(state):
                if self._growing is not None:
                    self._growing.offset, self._growing.identity = self._passed, self.identity()
                return
            if state is not _State.MORE and not paused:
                yield None
                paused = True
            if state is _State.ENDED:
                self._wait()

    def _is_final(self, state: "_State") -> bool:
        """True if no byte can follow any more, and the last line need have no end."""
        truncated = self._growing is not None and self._growing.ending is Ending.TRUNCATED
        return self._has_ended(state) and not truncated

    def _has_ended(self, state: "_State") -> bool:
        """True if no byte can follow any more."""
        if state is not _State.ENDED:
            return False
        if self._growing is not None:
            return self._growing.has_ended()
        return not self.follow or self.path == STDIN

    def _wait(self) -> None:
        if self._growing is None and os.fstat(self._raw.fileno()).st_size < self.consumed:
            raise TableError(f"{self.path!r} was truncated while it was followed.")
        time.sleep(_QUIET)

    def _fill(self, pending: bytearray, size: int) -> "_State":
        """Read up to `size` bytes until no more come. Modified in place: pending."""
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

    def _skip(self, offset: int, identity: str) -> None:
        """Read up to an offset; TableError if the text is not that of an identity."""
        while self._passed < offset and (data := self._read(min(offset - self._passed, 1_000_000))):
            self._pass(data)
        digest = identity.partition(" ")[2]  # a longer one is of an earlier version
        if len(digest) == 8 and identity != self.identity():
            raise TableError(f"{self.path!r} {NOT_THE_INPUT}")


class _RawBytes:
    """The bytes of a text file before decompression, as a file for PyArrow."""

    closed = False

    def __init__(self, text: TextFile) -> None:
        self._text = text

    def read(self, size: int = -1) -> bytes:
        return self._text.read_raw(size if size > 0 else 1_000_000)


def chunks_of(
    text: TextFile,
    size: int,
    since: Position,
    start: int,
    cut: Cut,
    parse: Callable[[Block, int], Chunk],
) -> Iterator[Chunk | None]:
    """Chunks of a text from the offset of a position on; None when a growing file pauses.

    The first row of the text starts at the byte `start`. `cut` is that of `TextFile.blocks`;
    `parse` makes a chunk of a block and the number of its first row.
    """
    row = since.offset_row
    for block in text.blocks(size, max(since.offset, start), cut, since.identity):
        if block is None:
            yield None
            continue
        chunk = parse(block, row)
        yield chunk
        row = chunk.end_row


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def whole_lines(data: bytes | bytearray) -> int:
    """Number of bytes up to the end of the last whole line."""
    return data.rfind(b"\n") + 1
