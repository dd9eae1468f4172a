"""Lines on standard error: through `logging`, as sentences or as JSON."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import typer

from spclust.tables.table_error import printable


class _Sentence(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        return f"spclust: {printable(record.getMessage())}"


class _Json(logging.Formatter):
    """A line for programs: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
        return json.dumps({**line, "message": record.getMessage()})


class _StandardError(logging.Handler):
    """What is standard error now: tests and callers may have replaced it."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(self.format(record), err=True)


@contextmanager
def log_lines(level: str = "info", *, as_json: bool = False) -> Iterator[None]:
    """Write what is logged to standard error, from a level on; of other packages, warnings."""
    root, own = logging.getLogger(), logging.getLogger("spclust")
    handler = _StandardError()
    handler.setFormatter(_Json() if as_json else _Sentence())
    handler.setLevel(level.upper())
    if level != "debug":  # which kernels are compiled is told on a terminal, by a line of its own
        handler.addFilter(lambda one: one.name != own.name or one.levelno >= logging.WARNING)
    before = own.level
    own.setLevel(level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        own.setLevel(before)
