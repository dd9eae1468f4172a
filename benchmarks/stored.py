"""Stored results: the figures of the last run of each benchmark, which the documents quote.

`--store` of a benchmark writes docs/results/NAME.json: command, date, machine, versions, parameters
and figures. A number in a document names its figure in a comment behind it, which readers do not
see: 0.38<!-- bench: SPC/2-D/50/batch 10,000 -->. `benchmarks/documents.py` rewrites them.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine

FOLDER = Path(__file__).parents[1] / "docs" / "results"


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add --store to the options of a benchmark."""
    parser.add_argument(
        "--store", action="store_true", help="keep the figures in docs/results, for the documents"
    )


def store(
    name: str,
    figures: Mapping[str, float],
    parameters: Mapping[str, Any] | argparse.Namespace,
    folder: Path = FOLDER,
) -> Path:
    """Write the figures of a run, with six digits; those that are no finite number are left out."""
    given = vars(parameters) if isinstance(parameters, argparse.Namespace) else parameters
    content = {
        "command": _command(sys.argv),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
        "parameters": {key: _plain(value) for key, value in given.items() if key != "store"},
        "figures": {
            key: float(f"{value:.6g}") for key, value in figures.items() if math.isfinite(value)
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"Stored: {path}")
    return path


def _command(arguments: Sequence[str]) -> str:
    """The command as a user types it: without the folders of this machine."""
    file = Path(arguments[0])
    module = file.parent.name if file.stem == "__main__" else file.stem
    inside = "" if module == "benchmarks" else f".{module}"
    words = [Path(word).name if Path(word).is_absolute() else word for word in arguments[1:]]
    return " ".join(["python -m benchmarks" + inside, *words])


def _plain(value: Any) -> Any:
    if isinstance(value, str | Path):
        return Path(value).name if Path(value).is_absolute() else str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def number(text: str) -> float:
    """The number that a cell of a table begins with; NaN if there is none."""
    first = text.replace(",", "").replace("%", "").split()
    try:
        return float(first[0])
    except (IndexError, ValueError):
        return math.nan
