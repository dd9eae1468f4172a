"""Kinds of files: what their names and their first bytes tell."""

from enum import StrEnum
from pathlib import PurePath

from spclust.cli.exit_codes import CommandError


class Format(StrEnum):
    """Formats of tables, by the names that `--format` takes."""

    CSV = "csv"
    TSV = "tsv"
    NDJSON = "ndjson"
    PARQUET = "parquet"
    ARROW = "arrow"  # Arrow IPC, a file or a stream

    @property
    def is_text(self) -> bool:
        """Whether it is made of lines."""
        return self in (Format.CSV, Format.TSV, Format.NDJSON)


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
    """The compression that the ending of a name stands for, if any."""
    return _CODECS.get(PurePath(path).suffix.lower())


def codec_of_start(start: bytes) -> str | None:
    """The compression that the first bytes of a file stand for, if any."""
    for magic, codec in _CODECS_BY_START.items():
        if start.startswith(magic):
            return codec
    return None


def ending_of(path: str) -> str:
    """The ending that tells the format, that of a compression left out."""
    name = PurePath(path)
    return PurePath(name.stem if codec_of(path) else name.name).suffix.lower()


def format_of(path: str, otherwise: Format | None = None) -> Format:
    """The format of a file by its name; standard input and output, `-`, are CSV."""
    if path == "-":
        return otherwise or Format.CSV
    known = otherwise or _BY_ENDING.get(ending_of(path))
    if known is None:
        raise CommandError(
            f"What {path!r} holds cannot be told by its name: say --format "
            f"{', '.join(Format)}, or use an ending such as .csv, .parquet or .ndjson."
        )
    return known
