"""The reproduction, stored: `python -m benchmarks.reproduction [FOLDER]`, about a minute.

Runs `spclust reproduce`, or takes its results from FOLDER, writes docs/results/reproduction.json
and the page that is made of it, which a test compares. It needs the published sets: results on
their substitutes are not stored.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import stored
from spclust.experiments.reproduction import report, reproduce, search, setups
from spclust.experiments.reproduction.runs import PAPER, Run, Scored

NAME = "reproduction"
MEASURES = ("clusters", "noise", "seconds", "arrival")


def page() -> Path:
    """The page with the report."""
    (found,) = stored.FOLDER.parent.rglob(f"{NAME}.md")
    return found


def compact(scored: list[dict[str, Any]]) -> dict[str, Any]:
    """Results as lists over streams, by experiment, entry and measure."""
    found: dict[str, Any] = {}
    for one in scored:
        values = {**one["scores"], **{measure: one[measure] for measure in MEASURES}}
        lists = found.setdefault(one["run"]["experiment"], {}).setdefault(one["run"]["entry"], {})
        for measure, value in values.items():
            rounded = value if value is None else float(f"{value:.6g}")
            lists.setdefault(measure, []).append(rounded)
    return {key: found[key] for key in setups.KEYS if key in found}


def figures(results: dict[str, Any]) -> dict[str, float]:
    """Means over streams, and the scores in the order of the file."""
    found = {}
    for key, by_entry in results.items():
        for entry, lists in by_entry.items():
            for measure, values in lists.items():
                if None not in values:
                    found[f"{key}/{entry}/{measure}"] = sum(values) / len(values)
                    found[f"{key}/{entry}/{measure}, first stream"] = values[0]
    return found


def text(results: dict[str, Any], pictures: str) -> str:
    """The page: the report of stored results, with the stored parameters of the search."""
    experiments = [setups.make_experiment(key, True) for key in results]
    scored = {
        key: {entry: _scored(key, entry, lists) for entry, lists in by_entry.items()}
        for key, by_entry in results.items()
    }
    found = search.stored()
    outcome = report.Outcome(
        experiments, scored, {key: found[key] for key in results}, 0.0, searched=False
    )
    return report.markdown(outcome, pictures)


def _scored(key: str, entry: str, lists: dict[str, list[Any]]) -> list[Scored]:
    return [
        Scored(
            Run(key, entry, seed, {}),
            {score: lists[score][seed] for score in ("purity", "nmi", "ari")},
            int(lists["clusters"][seed]),
            lists["noise"][seed],
            lists["seconds"][seed],
            lists["arrival"][seed],
        )
        for seed in range(len(lists["nmi"]))
    ]


def comparable(page_text: str) -> list[str]:
    """Lines of a page without those that differ by place and machine: pictures, time, versions."""
    parts = page_text.split("\n\n")
    kept = [part for part in parts if not part.startswith(("![", "Time: "))]
    return "\n\n".join(kept).splitlines()


def main() -> int:
    """Run or read, and store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduction", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.folder is None:
            reproduce(folder)
        scored = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        written = (folder / "report.md").read_text(encoding="utf-8")
    results = compact(scored)
    if PAPER not in results.get("aggregation", {}):
        print("These are not results of all experiments.", file=sys.stderr)
        return 1
    if report.NOT_PUBLISHED in written:
        print("A published set is missing: set SPCLUST_DATA to its folder.", file=sys.stderr)
        return 1
    path = stored.store(NAME, figures(results), {"streams": len(results["sine"][PAPER]["nmi"])})
    content = json.loads(path.read_text(encoding="utf-8"))
    lines = json.dumps({**content, "results": None}, indent=1)
    # One line for each list: the file stays short.
    lists = ",\n".join(
        f'  "{key}": {{\n'
        + ",\n".join(f'   "{entry}": {json.dumps(values)}' for entry, values in by_entry.items())
        + "\n  }"
        for key, by_entry in results.items()
    )
    whole = lines.replace('"results": null', f'"results": {{\n{lists}\n }}')
    path.write_text(whole + "\n", encoding="utf-8")
    pictures = "images" if page().parent == stored.FOLDER.parent else "../images"
    page().write_text(written.replace("(figures/", f"({pictures}/"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
