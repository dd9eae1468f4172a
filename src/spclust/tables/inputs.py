"""Names of inputs to files: globs, directories of Parquet files, standard input."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from spclust.tables.formats import Format, format_of
from spclust.tables.table_error import TableError

STDIN = "-"
BROKERS = ("kafka", "redis", "nats", "mqtt")
_ENCRYPTED = ("rediss", "mqtts")  # Kafka has an option for that; NATS does as its server says


def is_topic(name: str) -> bool:
    """True for the address of a topic in a broker, such as kafka://host/topic."""
    scheme, mark, _ = name.partition("://")
    return bool(mark) and scheme in (*BROKERS, *_ENCRYPTED)


def expand_inputs(given: Iterable[str]) -> list[str]:
    """Files of the given names, in order; those of a glob or a directory sorted by name."""
    given = list(given)
    if any(map(is_topic, given)):
        if len(given) > 1:
            raise TableError("A topic of a broker is read by itself: name one, and no files.")
        return given
    names = [name for each in given for name in _expanded(each)]
    if names.count(STDIN) > 1 or (STDIN in names and len(names) > 1):
        raise TableError("Standard input, -, can be read only once and by itself.")
    return names


def _expanded(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    if os.path.isdir(name):
        inside = sorted(map(str, Path(name).rglob("*")))
        found = [path for path in inside if path.endswith((".parquet", ".pq"))]
        if not found:
            raise TableError(
                f"{name!r} is a directory without Parquet files: name the files, or a glob such as "
                f"'{os.path.join(name, '*.csv')}'."
            )
        return found
    if os.path.exists(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        problem = "matches no file" if glob.has_magic(name) else "does not exist"
        raise TableError(f"{name!r} {problem}: check the name, seen from {os.getcwd()!r}.")
    return [path for path in found if not os.path.isdir(path)]


def file_sizes(names: Iterable[str]) -> list[int] | None:
    """Size of each file in bytes; None if one of them is no regular file, such as a pipe."""
    names = list(names)
    if not all(os.path.isfile(name) for name in names):
        return None
    return [os.path.getsize(name) for name in names]


def require_followable(names: list[str], given: Format | None) -> None:
    """Raise TableError unless the inputs are one text file or pipe, which may grow."""
    if len(names) != 1:
        raise TableError(f"--follow takes one input that grows, but {len(names)} are named.")
    if not format_of(names[0], given).is_text:
        raise TableError(
            f"--follow reads lines as they are added, but {names[0]!r} is not CSV, TSV or NDJSON."
        )
