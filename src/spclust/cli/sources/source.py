"""What a run asks of the source of its rows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, Self

from spclust.tables.batches import Batch
from spclust.tables.chunks import Columns, Position


class ChosenColumns(NamedTuple):
    """Columns that a run reads, and those of them that it writes beside the labels."""

    columns: Columns
    keep: tuple[str, ...]


class Source(Protocol):
    """A source of rows that can be resumed at a position."""

    names: list[str]  # of its parts, as messages and checkpoints have them
    follows: bool  # True if it waits for more rows when there are no more
    in_memory: bool  # True if its rows are read already: a thread that reads ahead gains nothing

    def __enter__(self) -> Self: ...

    def __exit__(self, failure: object, *_: object) -> None: ...

    def choose(
        self, given: Sequence[str] | None, label: str | None, keep: Sequence[str] | None
    ) -> ChosenColumns:
        """Columns to cluster by, the given ones or all of numbers, and others to read as text."""
        ...

    def resume(self, ends: list[Position]) -> None:
        """Go on where a run ended that had read so many parts to these ends."""
        ...

    def ends_before(self, position: Position) -> list[Position]:
        """Ends of the parts before that of a position."""
        ...

    def size(self) -> int | None:
        """Bytes of all parts; None if it is not known."""
        ...

    def batches(
        self, columns: Columns, since: Position, *, size: int, warmup: int
    ) -> Iterator[Batch]:
        """Rows from a position on in batches of `size`; the first has at least `warmup` rows."""
        ...
