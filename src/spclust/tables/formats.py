"""Formats of table files, recognised by name and first bytes, and the options of reading."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from spclust.tables.table_error import TableError


class Format(StrEnum):
    """Formats of tables, by the names that `--format` takes."""

    CSV = "csv"
    TSV = "tsv"
    NDJSON = "ndjson"
    PARQUET = "parquet"
    ARROW = "arrow"  # Arrow IPC, a file or a stream

    @property
    def is_text(self) -> bool:
        """True if the format consists of lines."""
        return self in (Format.CSV, Format.TSV, Format.NDJSON)


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. The command has an option of the same name for each field."""

    format: Format | None = None  # None: by the ending of the name
    delimiter: str | None = None  # of CSV; None: a comma, or a tab for TSV
    decimal: str = "."  # decimal point of CSV
    header: bool | None = None  # of CSV; None: there is one unless the first row is all numbers
    encoding: str = "utf-8"  # of text
    read_bytes: int = 1_000_000  # bytes of text that are parsed at a time
    time: str | None = None  # column of times


_BY_ENDING = {
    ".csv": Format.CSV,
    ".txt": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".json": Format.NDJSON,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}
_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
_CODECS_BY_START = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
}


def codec_of(path: str) -> str | None:
    """Compression by the ending of a name, None if the ending is of no compression."""
    return _CODECS.get(PurePath(path).suffix.lower())


def codec_of_start(start: bytes) -> str | None:
    """Compression by the first bytes of a file, None if the file is not compressed."""
    for magic, codec in _CODECS_BY_START.items():
        if start.startswith(magic):
            return codec
    return None


def ending_of(path: str) -> str:
    """Ending of a name that tells the format, without the ending of a compression."""
    name = PurePath(path)
    return PurePath(name.stem if codec_of(path) else name.name).suffix.lower()


def format_of_start(start: bytes, otherwise: Format) -> Format:
    """Format of a pipe by its first bytes: NDJSON or Arrow, or else another one."""
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return Format.NDJSON
    return Format.ARROW if start in (b"ARRO", b"\xff\xff\xff\xff") else otherwise


def format_of(path: str, given: Format | None = None, option: str = "--format") -> Format:
    """Format of a file: the given one, or else by its name; `-` is CSV if none is given.

    `option` is the one that gives it, if there is one.
    """
    if path == "-":
        return given or Format.CSV
    known = given or _BY_ENDING.get(ending_of(path))
    if known is None:
        advice = f"say {option} {', '.join(Format)}, or " if option else ""
        raise TableError(
            f"The format of {path!r} cannot be recognised by its name: {advice}use an ending such "
            "as .csv, .parquet or .ndjson."
        )
    return known
