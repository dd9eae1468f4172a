"""The parameters of SPC as options, by their names."""

from dataclasses import asdict, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.parameters import COVARIANCE_TYPES, TABLE

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_PANEL = "Parameters of SPC"

# Those of SPC's signature, which takes a second to import: too long to show a page of help.
DEFAULTS: dict[str, Any] = {
    "n_structures": 30,
    "scale": "auto",
    "eps": "auto",
    "beta": 0.0,
    "gamma": 0.0,
    "m": 1.5,
    "w_min": 0.01,
    "nlt_max": 3.0,
    "min_samples": 1,
    "outlier_nlt": None,
    "covariance_type": "auto",
    "max_rank": None,
    "track_every": None,
    "n_jobs": None,
}
_MEANINGS = {
    **{name: row.meaning for name, row in TABLE.items()},
    "covariance_type": f"form of the covariances: {', '.join(COVARIANCE_TYPES)}",
    "max_rank": "directions that a structure of lowrank keeps at the most",
    "track_every": "rows between two looks at the clusters, which tell events",
    "n_jobs": "threads that give labels; -1 is one for each core",
}


def _option(name: str) -> Any:
    default = f" [default: {DEFAULTS[name]}]" if DEFAULTS[name] is not None else ""
    meaning = _MEANINGS[name]
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
        model._validate_params()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return model
