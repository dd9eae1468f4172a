"""A contestant: how its models are made, and the parameters that a search may vary."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from spclust.experiments.contestants.contestant_error import ContestantError
from spclust.experiments.contestants.contestant_model import ContestantModel, require_methods
from spclust.experiments.contestants.contestant_reference import parsed, target
from spclust.experiments.contestants.parameter_range import Axis, Choice, Unit

SEARCH_SPACE = "search_space"  # attribute of a class


@dataclass(frozen=True)
class Contestant:
    """An algorithm that is not one of ours."""

    text: str  # as it was given
    name: str  # in tables and figures
    target: Callable[..., Any]  # class, or function, that returns a model
    given: dict[str, Any]  # parameters
    told: tuple[str, ...]  # parameters that are the number of classes
    axes: dict[str, Axis | Choice]  # parameters that a search varies; none: defaults are run

    def make(self, **parameters: Any) -> ContestantModel:
        """A new model, whose labels are checked."""
        return ContestantModel(self.target(**parameters))

    def parameters(self, drawn: Mapping[str, Any], clusters: int) -> dict[str, Any]:
        """All parameters: those of a search, those given, the number of classes."""
        return {**drawn, **self.given, **dict.fromkeys(self.told, clusters)}


def load_contestant(text: str, taken: tuple[str, ...] = ()) -> Contestant:
    """The contestant that a text names. It is called by its class, or, if taken, by its text.

    Parameters
    ----------
    text : str
        `module:Class`, `path/to/file.py:Class`, or either with parameters, `(eps=0.5)`. Values are
        literals of Python, or the bare word k, the number of classes of the data.
    taken : tuple of str, optional
        Names of others.

    Returns
    -------
    Contestant

    Raises
    ------
    ContestantError
        If there is no such class, or if it does not have the methods of a stream clusterer.
    """
    reference = parsed(text)
    found = target(reference)
    if inspect.isclass(found):
        require_methods(found, reference.name)
    names = [*reference.given, *reference.told]
    axes = {name: axis for name, axis in _search_space(found, reference.name) if name not in names}
    _require_parameters(found, reference.name, [*names, *axes])
    whole = " ".join(text.split()).replace("|", "/")  # a bar would end a cell of a table
    possible = (reference.name, whole.removeprefix(f"{reference.place}:"), whole)
    name = next((name for name in possible if name not in taken), None)
    if name is None:
        raise ContestantError(f"The contestant {whole} is given twice.")
    return Contestant(text, name, found, reference.given, reference.told, axes)


def _require_parameters(found: Callable[..., Any], name: str, names: list[str]) -> None:
    try:
        inspect.signature(found).bind_partial(**dict.fromkeys(names))
    except TypeError as error:
        raise ContestantError(f"{name} cannot be made: {error}.") from None
    except ValueError:  # a class of C may have no signature
        return


def _search_space(found: Callable[..., Any], name: str) -> list[tuple[str, Axis | Choice]]:
    """The search space of a class, checked."""
    space = getattr(found, SEARCH_SPACE, {})
    if not isinstance(space, Mapping):
        raise ContestantError(
            f"{SEARCH_SPACE} of {name} must be a dictionary from parameters to Axis or Choice."
        )
    for parameter, axis in space.items():
        where = f"{SEARCH_SPACE}[{parameter!r}] of {name}"
        if isinstance(axis, Choice) and axis.words:
            continue
        if not isinstance(axis, Axis):
            raise ContestantError(
                f"{where} must be an Axis or a Choice with words, but is {axis!r}."
            )
        if axis.unit not in get_args(Unit):
            units = ", ".join(repr(unit) for unit in get_args(Unit))
            raise ContestantError(f"{where} has the unit {axis.unit!r}: there are {units}.")
        if not (axis.low < axis.high and (axis.linear or axis.low > 0) and 0 <= axis.off < 1):
            raise ContestantError(
                f"{where} must go from a number above 0, or with linear=True from any number, to a "
                "larger one; `off` is a share below 1."
            )
    return list(space.items())
