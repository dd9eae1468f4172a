"""How commands end when they cannot go on: one sentence, and a documented exit code."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import typer

FAILED = 1  # data, files, models; wrong options are 2, which Typer gives
INTERRUPTED = 130  # by Ctrl-C, as shells have it: 128 and the number of the signal
TERMINATED = 143
PIPE_CLOSED = 141


class CommandError(Exception):
    """Why a command cannot go on: one sentence that says what, where, and what to do."""


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with what may go wrong told in one sentence instead of a traceback."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read our output has had enough: no word about it
            _forget_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except (CommandError, ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            if os.environ.get("SPCLUST_TRACEBACK"):  # for those who mend this command
                raise
            say(sentence_of(error))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return run


def sentence_of(error: BaseException) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError) and error.strerror:
        # Files that the library writes have a sentence for it already.
        name = error.filename
        text = error.strerror if name is None else f"{os.fsdecode(name)}: {error.strerror}"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."


def say(sentence: str) -> None:
    """Tell the user something beside the output of the command: on standard error, in one line."""
    typer.echo(f"spclust: {sentence}", err=True)


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Names in one line, the first ones if there are many."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def _forget_output() -> None:
    """Let Python not stumble over the closed pipe once more when it flushes at its end."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # standard output is no file
        pass
