"""Which files a command reads: names, globs, directories of Parquet files, standard input."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from spclust.cli.exit_codes import CommandError
from spclust.tables.formats import Format, format_of

STDIN = "-"


def expanded(given: Iterable[str]) -> list[str]:
    """The files that names stand for, in order; those of a glob or a directory sorted by name."""
    names = [name for each in given for name in _expanded(each)]
    if names.count(STDIN) > 1 or (STDIN in names and len(names) > 1):
        raise CommandError("Standard input, -, can be read only once and by itself.")
    return names


def _expanded(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    if os.path.isdir(name):
        inside = sorted(map(str, Path(name).rglob("*")))
        found = [path for path in inside if path.endswith((".parquet", ".pq"))]
        if not found:
            raise CommandError(
                f"{name!r} is a directory without Parquet files: name the files, or a glob such as "
                f"'{os.path.join(name, '*.csv')}'."
            )
        return found
    if os.path.exists(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        kind = "matches no file" if glob.has_magic(name) else "does not exist"
        raise CommandError(f"{name!r} {kind}: check the name, seen from {os.getcwd()!r}.")
    return [path for path in found if not os.path.isdir(path)]


def sizes(names: Iterable[str]) -> list[int] | None:
    """Bytes of each file; None if that cannot be known, as for pipes."""
    names = list(names)
    if not all(os.path.isfile(name) for name in names):
        return None
    return [os.path.getsize(name) for name in names]


def refuse_following(names: list[str], given: Format | None) -> None:
    """Raise CommandError unless what is named can be followed while it grows."""
    if len(names) != 1:
        raise CommandError(f"--follow takes one input that grows, but {len(names)} are named.")
    if not format_of(names[0], given).is_text:
        raise CommandError(
            f"--follow reads lines as they are added, but {names[0]!r} is no CSV, TSV or NDJSON."
        )
