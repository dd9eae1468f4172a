"""The parameters of SPC as options, generated from the table of parameters."""

from dataclasses import asdict, make_dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.parameters import DEFAULTS, TABLE, is_automatic, validate_model

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_PANEL = "Parameters of SPC"


def _option(name: str) -> Any:
    default = f" [default: {DEFAULTS[name]}]" if DEFAULTS[name] is not None else ""
    meaning = TABLE[name].meaning
    return typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"{meaning[0].upper()}{meaning[1:]}.{default}",
        metavar="VALUE",
        rich_help_panel=_PANEL,
    )


ModelOptions: Any = make_dataclass(
    "ModelOptions",
    [(name, Annotated[str | None, _option(name)], None) for name in DEFAULTS],
    frozen=True,
)


def given_parameters(options: Any, *, timed: bool) -> dict[str, Any]:
    """The parameters that were given, as numbers where they are numbers.

    Rows are `timed` if they have time stamps: then a half-life may be a time, such as 10m.
    """
    given = {name: _value(text) for name, text in asdict(options).items() if text is not None}
    for name, value in given.items():
        if TABLE[name].duration and isinstance(value, str):
            given[name] = _duration(name, value, timed=timed)
    return given


def _duration(name: str, text: str, *, timed: bool) -> timedelta:
    from spclust.time_units import duration_of

    option, duration = f"--{name.replace('_', '-')}", duration_of(text)
    if duration is None:
        times = ", or a time such as 30s, 10m, 6h or 7d" if timed else " of rows"
        raise typer.BadParameter(f"{option} is a number{times}, not {text!r}.")
    if not timed:
        raise typer.BadParameter(
            f"{option} {text} is a time: name the column of times by --time, too, or give a number "
            "of rows."
        )
    return duration


def _value(text: str) -> Any:
    """An integer, a number, None, or else a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text.lower() == "none" else text


def track_by_default(parameters: dict[str, Any], every: int) -> None:
    """Set `track_every` where it is needed and not given. Modified in place: parameters.

    The automatic mode chooses it.
    """
    if not is_automatic(parameters.get("scale", DEFAULTS["scale"])):
        parameters.setdefault("track_every", every)


def new_model(parameters: dict[str, Any]) -> "SPC":
    """A model with these parameters; typer.BadParameter if one of them is out of range."""
    from spclust.estimators.spc import SPC

    model = SPC(**parameters)
    try:
        validate_model(model)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return model
