"""What came of it, for people and for scripts."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from spclust.cli.models import named
from spclust.cli.prepared_model import Preparation

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_MOST_COLUMNS = 6  # of centres that a terminal has room for
_MOST_ROWS = 30


def clusters_of(model: "SPC", preparation: Preparation) -> list[dict[str, Any]]:
    """A record for each cluster, in the units of the data."""
    return _records(model, preparation, "clusters")


def structures_of(model: "SPC", preparation: Preparation) -> list[dict[str, Any]]:
    """A record for each structure, oldest first, in the units of the data."""
    return _records(model, preparation, "structures")


def _records(model: "SPC", preparation: Preparation, what: str) -> list[dict[str, Any]]:
    table = model.describe(what)
    names = named(preparation, model.n_features_in_)
    table["centre"] = preparation.centres_in_units(table["centre"])
    table["spread"] = preparation.spreads_in_units(table["spread"])
    return [
        {
            name: (
                dict(zip(names, column[i].tolist(), strict=True))
                if column.ndim > 1
                else _number(column[i])
            )
            for name, column in table.items()
        }
        for i in range(len(table["centre"]))
    ]


def _number(value: Any) -> Any:
    """A number as JSON has it; what is not finite is null there."""
    number = value.item()
    return number if not isinstance(number, float) or np.isfinite(number) else None


def table_of(records: list[dict[str, Any]]) -> Table:
    """Records of clusters or structures as a table, largest first as far as there is room."""
    table = Table(header_style="bold")
    if not records:
        return table
    plain = [key for key in records[0] if key not in ("centre", "spread", "nlt", "distance")]
    names = list(records[0]["centre"])[:_MOST_COLUMNS]
    for key in (*plain, *names):
        table.add_column(key, justify="right")
    shown = sorted(records, key=lambda record: -record["count"])[:_MOST_ROWS]
    for record in shown:
        centre = (f"{record['centre'][name]:.4g}" for name in names)
        table.add_row(*(_shown(record[key]) for key in plain), *centre)
    left = len(records) - len(shown)
    more = len(records[0]["centre"]) - len(names)
    caption = [f"{left} smaller ones" if left else "", f"{more} more columns" if more else ""]
    if any(caption):
        table.caption = f"and {' and '.join(filter(None, caption))}: see --json"
    return table


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


def print_json(record: dict[str, Any], *, err: bool = False) -> None:
    """One JSON object, for scripts."""
    Console(stderr=err).print(
        json.dumps(record, ensure_ascii=False), markup=False, highlight=False, soft_wrap=True
    )


def print_table(table: Table, *, err: bool = False) -> None:
    """A table, as wide as it needs to be if nobody looks."""
    console = Console(stderr=err)
    if not console.is_terminal:
        console = Console(stderr=err, width=160)
    console.print(table)
