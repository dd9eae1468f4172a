"""The text that names a contestant: where it is, and its parameters. Nothing of it is evaluated."""

import ast
import importlib
import importlib.util
import json
import os
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from spclust.experiments.contestants.contestant_error import ContestantError

TOLD = "k"  # as a value: the number of classes of the data
_TEXT = re.compile(r"(?P<place>.+?):(?P<name>[^\W\d]\w*(?:\.\w+)*)(?P<call>\(.*\))?", re.DOTALL)


class Reference(NamedTuple):
    """A contestant's text in its parts."""

    place: str  # a module, or a file that ends with .py
    name: str  # of a class or function in it
    given: dict[str, Any]  # parameters
    told: tuple[str, ...]  # parameters that are the number of classes


def parsed(text: str) -> Reference:
    """The parts of a text such as `module:Class(eps=0.5)`."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ContestantError(
            f"{text!r} names no contestant: write module:Class, path/to/file.py:Class, or "
            "'module:Class(eps=0.5)'."
        )
    given, told = _parameters(text, match["call"] or "()")
    return Reference(match["place"], match["name"], given, told)


def _parameters(text: str, call: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Keywords of a call as values, by literals alone, and those that are the bare word k."""
    wrong = ContestantError(
        f"The parameters of {text!r} cannot be read: write keywords with numbers, strings, lists, "
        f"True, False, None, or {TOLD} for the number of classes."
    )
    given, told = {}, []
    try:
        node = ast.parse(f"f{call}", mode="eval").body
        if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Name):
            raise wrong
        for keyword in node.keywords:
            if keyword.arg is None:
                raise wrong
            if isinstance(keyword.value, ast.Name) and keyword.value.id == TOLD:
                told.append(keyword.arg)
            else:
                given[keyword.arg] = ast.literal_eval(keyword.value)
        json.dumps(given)  # parameters are part of the results
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise wrong from None
    return given, tuple(told)


def target(reference: Reference) -> Callable[..., Any]:
    """The class or function itself."""
    file = reference.place.endswith(".py")
    found: Any = _of_file(Path(reference.place)) if file else _of_module(reference.place)
    for part in reference.name.split("."):
        if not hasattr(found, part):
            raise ContestantError(
                f"{reference.place} has no {reference.name}: name a class or a function of it."
            )
        found = getattr(found, part)
    if not callable(found):
        raise ContestantError(
            f"{reference.place}:{reference.name} is neither a class nor a function that returns a "
            "model."
        )
    return found  # type: ignore[no-any-return]


def _of_module(name: str) -> ModuleType:
    """An installed module, or one in the current directory, which is searched last."""
    _search_in(os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ContestantError(
                f"There is no module {name}, neither installed nor in {os.getcwd()}: name a "
                "module, or a file by its path, such as path/to/file.py."
            ) from None
        raise _not_importable(name, error) from error
    except (Exception, SystemExit) as error:
        raise _not_importable(name, error) from error


def _of_file(path: Path) -> ModuleType:
    """A module from a file; what is beside the file can be imported by it."""
    if not path.is_file():
        raise ContestantError(f"There is no file {path}: name the file of the contestant.")
    path = path.resolve()
    stem = re.sub(r"\W", "_", path.stem)
    name = f"contestant_{stem}_{zlib.crc32(os.fsencode(path)):08x}"
    if name in sys.modules:
        return sys.modules[name]
    _search_in(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses search for it there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _not_importable(str(path), error) from error
    return module


def _search_in(folder: str) -> None:
    """Search a folder for modules after all others: it must not replace installed ones."""
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()


def _not_importable(place: str, error: BaseException) -> ContestantError:
    words = " ".join(str(error).split()) or "no message"
    return ContestantError(f"{place} cannot be imported: {type(error).__name__}: {words}.")
