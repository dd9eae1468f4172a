"""Files and standard input as a source of rows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Self

from spclust.cli.sources.source import ChosenColumns
from spclust.tables.batches import Batch, in_batches
from spclust.tables.chunks import Columns, Position
from spclust.tables.formats import ReadOptions
from spclust.tables.inputs import file_sizes, require_followable
from spclust.tables.readers import (
    InputFiles,
    choose_features,
    extra_columns,
    require_columns,
    split_names,
)


class FileSource:
    """Files, read one after the other as one stream."""

    def __init__(
        self,
        paths: list[str],
        options: ReadOptions,
        *,
        follow: bool,
        stopped: Callable[[], bool],
        digests: bool,
    ) -> None:
        if follow:
            require_followable(paths, options.format)
        self.names, self.follows, self.in_memory = paths, follow, False
        self._files = InputFiles(paths, options, follow=follow, stopped=stopped, digests=digests)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        self._files.__exit__(failure)

    def choose(
        self, given: Sequence[str] | None, label: str | None, keep: Sequence[str] | None
    ) -> ChosenColumns:
        """Columns of the first file that has any."""
        path, reader = self._files.first()
        kept = split_names(keep, reader.names)
        extra = extra_columns(label, kept)
        require_columns(extra, reader, path)
        return ChosenColumns(Columns(choose_features(reader, path, given, extra), extra), kept)

    def resume(self, ends: list[Position]) -> None:
        """Check files that were read to their ends before."""
        self._files.ends = dict(enumerate(ends))

    def ends_before(self, position: Position) -> list[Position]:
        """Ends of the files before that of a position."""
        ends = self._files.ends
        return [ends.get(number, Position(number)) for number in range(position.file)]

    def size(self) -> int | None:
        """Bytes of all files; None if one of them is a pipe, or may grow."""
        sizes = file_sizes(self.names)
        return None if sizes is None or self.follows else sum(sizes)

    def batches(
        self, columns: Columns, since: Position, *, size: int, warmup: int
    ) -> Iterator[Batch]:
        """Rows from a position on in batches of `size`."""
        return in_batches(self._files, columns, since, size=size, warmup=warmup)
