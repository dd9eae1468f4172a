"""The parameters of SPC as options, by their names."""

from dataclasses import asdict, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.parameters import DEFAULTS, TABLE, validate_model

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


Parameters: Any = make_dataclass(
    "Parameters",
    [(name, Annotated[str | None, _option(name)], None) for name in DEFAULTS],
    frozen=True,
)


def given(parameters: Any) -> dict[str, Any]:
    """Those that were given, as numbers where they are some."""
    return {name: _value(text) for name, text in asdict(parameters).items() if text is not None}


def _value(text: str) -> Any:
    """A whole number, a number, or a word, which SPC may know."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text.lower() == "none" else text


def new_model(values: dict[str, Any]) -> "SPC":
    """A model with these parameters, which are refused at once if they are wrong."""
    from spclust.estimators.spc import SPC

    model = SPC(**values)
    try:
        validate_model(model)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return model
