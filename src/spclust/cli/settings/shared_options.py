"""Options that all commands have: --config, --log-level and --log-json."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any

import typer

from spclust.cli.settings.log_lines import log_lines

_PANEL = "Common"
_COMMANDS: dict[str, list[inspect.Parameter]] = {}  # parameters by the names of commands


class LogLevel(StrEnum):
    """Levels of lines on standard error."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _read_config(ctx: typer.Context, value: str | None) -> str | None:
    """Let the other options have their defaults from a file."""
    if value is not None and not ctx.resilient_parsing:
        from spclust.cli.settings.config_file import defaults_of

        ctx.default_map = defaults_of(value, str(ctx.info_name), _COMMANDS)
    return value


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "config": (
        Annotated[
            str | None,
            typer.Option(
                metavar="FILE",
                help="Options from a file of TOML, by the same names: shared ones at its top, and "
                "a table for each command. What is said here wins.",
                is_eager=True,
                callback=_read_config,
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
    "log_level": (
        Annotated[
            LogLevel,
            typer.Option(
                help="Least level of the lines on standard error.", rich_help_panel=_PANEL
            ),
        ],
        LogLevel.INFO,
    ),
    "log_json": (
        Annotated[
            bool,
            typer.Option(
                "--log-json",
                help="Lines on standard error as JSON: time, level and message.",
                rich_help_panel=_PANEL,
            ),
        ],
        False,
    ),
}


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with the options that all commands have."""
    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(command, eval_str=True).parameters.values()
    ]
    for name, (kind, default) in _OPTIONS.items():
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
        )

    @wraps(command)
    def run(**given: Any) -> None:
        level, as_json = given.pop("log_level"), given.pop("log_json")
        given.pop("config")
        with log_lines(level, as_json=as_json):
            command(**given)

    _COMMANDS[command.__name__] = parameters
    vars(run).pop("__wrapped__")  # Typer would read the signature of the command through it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
