"""The command as pages: every command, argument and option, from the application itself."""

from enum import Enum
from typing import Any

from typer.main import get_command

from spclust.cli import app


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def _kind(parameter: Any) -> str:
    """What an option takes: its metavariable, its choices, or its type."""
    annotation = parameter.type_descriptor.annotation
    if getattr(parameter, "is_flag", False):
        return ""
    if parameter.metavar:
        return str(parameter.metavar)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(choice.value for choice in annotation)
    return {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "Path": "FILE"}.get(
        getattr(annotation, "__name__", ""), "TEXT"
    )


def _default(parameter: Any) -> str:
    default = parameter.default
    if isinstance(default, Enum):
        default = default.value
    if default is None or default is False or callable(default) or default in ("", [], ()):
        return ""
    return f" Default: `{default}`."


def _row(parameter: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    if not names[0].startswith("-"):
        names = [parameter.metavar or parameter.name.upper()]
    kind = _kind(parameter) if names[0].startswith("-") else ""
    shown = ", ".join(f"`{name}`" for name in names) + (f" `{_cell(kind)}`" if kind else "")
    needed = " Required." if parameter.required else ""
    return f"| {shown} | {_cell(parameter.help or '')}{_default(parameter)}{needed} |"


def _table(parameters: list[Any]) -> str:
    return "\n".join(["| | meaning |", "|---|---|", *map(_row, parameters)])


def _page(name: str, command: Any) -> str:
    arguments = [one for one in command.params if not one.opts[0].startswith("-")]
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if one not in arguments and not getattr(one, "hidden", False):
            panels.setdefault(one.rich_help_panel or "Options", []).append(one)
    parts = [f"# spclust {name}", command.help or ""]
    if arguments:
        parts += ["## Arguments", _table(arguments)]
    for panel, parameters in panels.items():
        parts += [f"## {panel}", _table(parameters)]
    if command.epilog:
        parts += [command.epilog.strip().replace("**Examples**", "## Examples")]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Text of a page for each command, by its name, and of the index."""
    group = get_command(app)
    found = {name: _page(name, command) for name, command in group.commands.items()}
    toctree = "\n".join(found)
    found["index"] = (
        "# Commands and options\n\n"
        f"{group.help}\n\n{_table(group.params)}\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{toctree}\n```\n"
    )
    return found
