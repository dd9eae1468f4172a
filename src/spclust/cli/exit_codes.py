"""How a command ends: one sentence for an error, an orderly end for a signal, an exit code."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import typer

from spclust.tables.table_error import TableError, TableOptionError, printable, sentence_of

if TYPE_CHECKING:
    from spclust.array_types import Integers

FAILED = 1  # data, files, models; Typer's own exit code for wrong options is 2
INTERRUPTED = 130  # by Ctrl-C: 128 plus the number of the signal, as in shells
PIPE_CLOSED = 141  # SIGPIPE
_POLL = 0.5  # seconds

_logger = logging.getLogger("spclust.cli")


class CommandError(Exception):
    """Why a command cannot go on: one sentence that says what, where, and what to do."""


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which ends with one sentence and an exit code instead of a traceback."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader of the output, such as head, has ended: no message
            _discard_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except TableOptionError as error:
            raise typer.BadParameter(printable(str(error))) from None
        except (
            *(CommandError, TableError, ValueError, TypeError),
            *(ImportError, OSError, MemoryError),
        ) as error:
            if os.environ.get("SPCLUST_TRACEBACK"):  # for developers of the command
                raise
            say(_missing_package(error) or sentence_of(error), logging.ERROR)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return run


@contextmanager
def named_rows(paths: Sequence[str], last: int, row: "Integers") -> Iterator[None]:
    """Raise a ValueError about rows as a CommandError that names them.

    `row` (n,) are their numbers in all inputs; the last of them is in `paths[last]`.
    """
    try:
        yield
    except ValueError as error:
        rows = f"row {row[0]:,}" if len(row) == 1 else f"rows {row[0]:,} to {row[-1]:,}"
        last = min(last, len(paths) - 1)  # one that is followed may have been rotated
        place = f"{paths[last]!r}, {rows}"
        if len(paths) > 1:  # which are not numbers in that file, and may begin before it
            end = "in" if len(row) == 1 else "the last of them in"
            place = f"{rows.capitalize()} of all inputs, {end} {paths[last]!r}"
        raise CommandError(f"{place}: {error}") from error


def _missing_package(error: BaseException) -> str | None:
    """What to install, if the error is that a package that tables need is not installed."""
    package = str(getattr(error, "name", None)).partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in ("pyarrow", "msgspec"):
        return f"This command needs {package}: install it with pip install 'spclust[cli]'."
    return None


def say(sentence: str, level: int = logging.INFO) -> None:
    """Write a sentence on standard error, in one line."""
    _logger.log(level, "%s", sentence)


def _discard_output() -> None:
    """Redirect standard output, so that Python's last flush does not fail at the closed pipe."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # standard output is no file
        pass


class StopSignal:
    """True once SIGINT or SIGTERM has arrived while it was entered.

    The first signal lets a run end in order; the second one has its usual effect, at once. It may
    be entered within itself.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._depth = 0
        self._handlers: dict[int, Any] = {}
        self._arrived = Event()
        self._then: Callable[[], None] = lambda: None

    def __call__(self) -> bool:
        """True if a signal has arrived."""
        return self.number is not None

    def then(self, call: Callable[[], None]) -> None:
        """Call a function, which must not wait for anything, when a signal arrives."""
        self._then = call

    def wait(self) -> None:
        """Wait for a signal, unless one has arrived."""
        while not self() and not self._arrived.wait(_POLL):
            continue

    def __enter__(self) -> Self:
        self._depth += 1
        if self() or self._depth > 1:
            return self
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.number = number
        self._restore()
        self._arrived.set()
        Thread(target=self._then, daemon=True).start()  # it may need a lock that this thread has

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}

    def __exit__(self, failure: object, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._restore()
