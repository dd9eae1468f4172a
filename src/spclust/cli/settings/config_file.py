"""Options from a file of TOML: shared ones at its top, and a table for each command."""

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum
from inspect import Parameter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import typer
from typer.models import OptionInfo

Parameters = dict[str, Parameter]  # options of a command, by their names in the file


def defaults_of(path: str, name: str, commands: dict[str, list[Parameter]]) -> dict[str, Any]:
    """Values of a file for the command of this name, by parameter; typer.BadParameter if wrong."""
    content = _read(path)
    options = {each: options_of(parameters) for each, parameters in commands.items()}
    everywhere = {option for each in options.values() for option in each}
    shared = {key: value for key, value in content.items() if not isinstance(value, dict)}
    for key in shared:
        _require(_plain(key), everywhere, f"{path!r} has no option {key!r} of any command")
    for key, table in content.items():
        if not isinstance(table, dict):
            continue
        _require(key, commands, f"{path!r} has a table [{key}], which is no command")
        for option in table:
            sentence = f"{path!r}: spclust {key} has no option {option!r}"
            _require(_plain(option), options[key], sentence)
    found: dict[str, Any] = {}
    for place, table in (("", shared), (f"[{name}] ", content.get(name, {}))):
        for key, value in table.items():
            parameter = options[name].get(_plain(key))
            if parameter is not None:
                found[parameter.name] = _checked(parameter, value, f"{path!r}: {place}{key}")
    return found


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise typer.BadParameter(f"{path!r} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path!r} is no TOML: {error}.") from None


def options_of(parameters: Iterable[Parameter]) -> Parameters:
    """Options by their long names, without the dashes; arguments have none."""
    found: Parameters = {}
    for parameter in parameters:
        info = _info(parameter)
        if info is None or parameter.name == "config":
            continue
        # In an annotation the first name is where a default value would be.
        declared = [info.default, *(info.param_decls or ())]
        long = [text for text in declared if isinstance(text, str) and text.startswith("--")]
        for text in long or [parameter.name]:
            found[_plain(text.removeprefix("--").partition("/")[0])] = parameter
    return found


def _info(parameter: Parameter) -> OptionInfo | None:
    infos = (each for each in get_args(parameter.annotation) if isinstance(each, OptionInfo))
    return next(infos, None)


def _plain(name: str) -> str:
    return name.replace("_", "-")


def _require(name: str, known: Iterable[str], sentence: str) -> None:
    if name not in known:
        close = get_close_matches(name, list(known), 1)
        raise typer.BadParameter(sentence + (f": did you mean {close[0]!r}?" if close else "."))


def _checked(parameter: Parameter, value: Any, place: str) -> Any:
    """The value as the option takes it; typer.BadParameter if it is of another type."""
    kind = get_args(parameter.annotation)[0]
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is list:
        values = value if isinstance(value, list) else [value]
        return [_scalar(parameter, str, each, place) for each in values]
    return _scalar(parameter, kind, value, place)


def _scalar(parameter: Parameter, kind: Any, value: Any, place: str) -> Any:
    types, wanted = {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
    }.get(kind, ((str, int, float), "text or a number"))
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        raise typer.BadParameter(f"{place} is {wanted}, not {value!r}.")
    if isinstance(kind, type) and issubclass(kind, Enum):
        words = [str(each.value) for each in kind]
        if value not in words:
            raise typer.BadParameter(f"{place} is one of {', '.join(words)}, not {value!r}.")
    if kind in (int, float):
        _require_range(_info(parameter), value, place)
        return value
    return value if kind is bool else str(value)


def _require_range(info: OptionInfo | None, value: Any, place: str) -> None:
    if info is not None and info.min is not None and value < info.min:
        raise typer.BadParameter(f"{place} is at least {info.min}, not {value!r}.")
    if info is not None and info.max is not None and value > info.max:
        raise typer.BadParameter(f"{place} is at most {info.max}, not {value!r}.")
