"""Results as tables for people and as JSON for scripts."""

import json
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spclust.tables.table_error import printable
from spclust.time_units import duration_text

_MOST_COLUMNS = 6  # of centres, as many as fit on a terminal
_MOST_ROWS = 30


def table_of(records: list[dict[str, Any]]) -> Table:
    """The largest clusters or structures as a table, as many as fit on a terminal."""
    table = Table(header_style="bold")
    if not records:
        return table
    plain = [key for key in records[0] if key not in ("centre", "spread", "nlt", "distance")]
    names = list(records[0]["centre"])[:_MOST_COLUMNS]
    for key in (*plain, *names):
        table.add_column(column_head(key), justify="right")
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


def column_head(name: str) -> Text:
    """Name of a column as it is: Rich would take [x] for markup."""
    return Text(printable(name))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


def plain_parameter(value: Any) -> Any:
    """A parameter as JSON can hold it: a time as the option takes it, infinity as text."""
    if isinstance(value, timedelta):
        return duration_text(value)
    return str(value) if value in (float("inf"), float("-inf")) else value


def print_json(record: dict[str, Any], *, err: bool = False) -> None:
    """Print one JSON object in one line."""
    text = json.dumps(record, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
    Console(stderr=err).print(text, markup=False, highlight=False, soft_wrap=True)


def print_table(table: Table, *, err: bool = False) -> None:
    """Print a table, 160 characters wide if the output is not a terminal."""
    console = Console(stderr=err)
    if not console.is_terminal:
        console = Console(stderr=err, width=160)
    console.print(table)
