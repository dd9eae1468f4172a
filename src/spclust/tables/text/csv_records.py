"""Records of CSV: where they end, by the quotes and line breaks of a text."""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_END_OF_LINE = re.compile(rb"\r\n?|\n")


class Records:
    r"""The records of a CSV text, as PyArrow finds them.

    A quote counts at the beginning of a cell only, up to the next one that is not doubled: in the
    cell `5" pipe` it is an inch mark. All of \n, \r and \r\n end a record.
    """

    def __init__(self, delimiter: str) -> None:
        self._cell_ends = delimiter.encode() + b"\r\n"
        self._ends = np.zeros(256, dtype=bool)
        self._ends[list(self._cell_ends)] = True

    def first(self, data: bytes) -> int:
        """Length of the first record with its end of line."""
        for start, end in self._outside_quotes(data):
            found = _END_OF_LINE.search(data, start, end)
            if found is not None:
                return found.end()
        return len(data)

    def whole(self, data: bytes | bytearray) -> int:
        """Number of bytes up to the end of the last whole record."""
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if data.find(b'"', 0, end) < 0 or self._is_regular(np.frombuffer(data, np.uint8, end)):
            return end
        spans = self._outside_quotes(data)
        return 1 + max(max(data.rfind(b"\n", *span), data.rfind(b"\r", *span)) for span in spans)

    def _outside_quotes(self, data: bytes | bytearray) -> Iterator[tuple[int, int]]:
        """Start and end of each part of a text that is not in quotes."""
        start = at = 0
        while (quote := data.find(b'"', at)) >= 0:
            at = quote + 1
            if quote == 0 or data[quote - 1] in self._cell_ends:
                yield start, quote
                while (quote := data.find(b'"', at)) >= 0 and data[quote + 1 : quote + 2] == b'"':
                    at = quote + 2
                if quote < 0:
                    return
                start = at = quote + 1
        yield start, len(data)

    def _is_regular(self, text: npt.NDArray[np.uint8]) -> bool:
        """True if a text, which ends with a line, has quotes around whole cells and doubled only.

        This is 20 times faster than the general search, and the usual case.
        """
        quotes = np.flatnonzero(text == ord('"'))
        opening, closing = quotes[0::2], quotes[1::2]
        if opening.size != closing.size:
            return False
        doubled = closing[:-1] + 1 == opening[1:]  # as if the cell ended and began again
        # Before the first byte of the text is its last one, which ends a line.
        before, after = self._ends[text[opening - 1]], self._ends[text[closing + 1]]
        return bool(
            before[0]
            and after[-1]
            and np.all(doubled | before[1:])
            and np.all(doubled | after[:-1])
        )
