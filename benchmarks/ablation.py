"""What each part of the automatic mode is worth: `python -m benchmarks.ablation [FOLDER]`.

For each row the package is copied, a few lines are replaced, and `benchmarks.quality` measures the
copy in other processes, so that its kernels are compiled anew: about a minute each.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import stored

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "spclust"
_POWER = "half * (half if fades else root_of(half)) * squares"


class Change(NamedTuple):
    """Lines of a file that are replaced."""

    file: str
    before: str
    after: str


CHANGES: dict[str, list[Change]] = {
    "as it is": [],
    "no cluster clocks: structures only fade": [
        Change("auto/removal.py", "mass < _FADED or missed > silent", "mass < _FADED"),
        Change("auto/removal.py", "missed > both and missed_points", "False and missed_points"),
    ],
    "one clock for all clusters": [
        Change("auto/renewal.py", "np.where(labels >= 0, labels, clusters)", "0 * labels"),
    ],
    "metric by the widths of features": [
        Change(
            "auto/metric.py",
            "W = per_width[:, np.newaxis] * pooled * per_width + RIDGE**2 * np.eye(s.d)",
            "W = np.eye(s.d)",
        ),
    ],
    "the origin at rest: no common drift": [
        Change(
            "auto/common_drift.py",
            "return s.drift.copy() if moves else np.zeros(s.d)",
            "return np.zeros(s.d)",
        ),
    ],
    "one limit of novelty for all clusters": [
        Change(
            "auto/novelty.py",
            "width = max(1.0, median(labels[i], labels, reach, mass, order) / usual)",
            "width = 1.0",
        ),
    ],
    "groups of few structures judged like others": [
        Change("auto/clusters/separation.py", "WITHOUT_GAPS = 4", "WITHOUT_GAPS = 0"),
    ],
    "widths of all points": [
        Change("auto/metric.py", "_HEAVY, _FAR = 0.5, 8.0", "_HEAVY, _FAR = 0.0, np.inf"),
        Change("auto/metric.py", "_WIDEST = 0.1", "_WIDEST = 0.0"),
    ],
    "Ward's cost, with the first power of masses": [
        Change("auto/merge_cost.py", _POWER, "half * squares"),
    ],
    "the second power of masses, without a half-life, too": [
        Change("auto/merge_cost.py", _POWER, "half * half * squares"),
    ],
    "the power 1.5 of masses, with a half-life, too": [
        Change("auto/merge_cost.py", _POWER, "half * root_of(half) * squares"),
    ],
    "proposals of single linkage, not judged": [
        Change(
            "auto/clusters/evidence.py",
            "found = separate_groups(placed, proposed, fades, closely=fades and not s.weighted)",
            "found = proposed",
        ),
    ],
    "line and border not counted together": [
        Change(
            "auto/clusters/evidence.py",
            "_TOGETHER if closely else np.inf",
            "np.inf",
        ),
    ],
    "parts of rings judged like others": [
        Change("auto/clusters/judgement.py", "_INSIDE = 0.2", "_INSIDE = 0.0"),
    ],
    "the line through the centres, not the discriminant": [
        Change("auto/clusters/discriminant.py", "_MOST = 64", "_MOST = 0"),
    ],
    "no distance by chance": [
        Change("auto/clusters/discriminant.py", "_CHOSEN = 2.0", "_CHOSEN = 0.0"),
    ],
    "the same evidence in many features with a half-life": [
        Change(
            "auto/clusters/evidence.py",
            "_OF_FEW if closely and d > RESOLVED else limit_of(k)",
            "limit_of(k)",
        ),
    ],
    "no basins, no halves, no parts": [
        Change("auto/clusters/evidence.py", "if d > RESOLVED:", "if True:"),
        Change(
            "auto/clusters/evidence.py",
            "return divide_by_halves(labels, placed, limit, SHALLOW)",
            "return labels",
        ),
        Change("auto/clusters/evidence.py", "if in_parts and s.d > RESOLVED", "if False"),
    ],
}


def changed(changes: list[Change], folder: Path) -> None:
    """Copy the package to a folder, and change the copy."""
    shutil.copytree(SOURCE, folder / "spclust", ignore=shutil.ignore_patterns("__pycache__"))
    for change in changes:
        path = folder / "spclust" / change.file
        text = path.read_text()
        if change.before not in text:
            raise ValueError(f"{change.file} has no longer the line {change.before!r}.")
        path.write_text(text.replace(change.before, change.after))


def measured(changes: list[Change], arguments: list[str]) -> dict[str, float]:
    """Means of the two jobs with a changed package."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        changed(changes, folder)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([name, str(ROOT)])}
        jobs = ["--jobs", "static,stream", "--only", r"/SPC\((half_life=500)?\)$"]
        command = [sys.executable, "-m", "benchmarks.quality", *jobs, "--out", name, *arguments]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return means(json.loads((folder / "quality.json").read_text())["records"])


def means(records: list[dict[str, Any]]) -> dict[str, float]:
    """Mean NMI of static sets, and of streams with a half-life, in files and generated."""
    found: dict[str, list[float]] = {}
    for record in records:
        static = record["job"] == "static"
        if static == (record["contestant"] == "SPC()"):
            kind = "generated" if record["group"] == "generated" else "files"
            scores = next(iter(record["values"].values())) if static else record["values"]["batch"]
            found.setdefault(f"{record['job']}, {kind}", []).append(float(np.mean(scores)))
    return {name: float(np.mean(scores)) for name, scores in sorted(found.items())}


def main() -> int:
    """Measure all rows, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="as of benchmarks.quality")
    parser.add_argument("--seed", default="0", help="of generated sets and orders")
    stored.add_option(parser)
    options = parser.parse_args()
    arguments = [*([options.folder] if options.folder else []), "--seed", options.seed]
    head, figures = None, dict[str, float]()
    for name, changes in CHANGES.items():
        scores = measured(changes, arguments)
        figures |= {f"{name}/{column}": score for column, score in scores.items()}
        if head is None:
            head = list(scores)
            print(f"| | {' | '.join(head)} |\n|---|{'---:|' * len(head)}")
        print(f"| {name} | {' | '.join(f'{scores[column]:.3f}' for column in head)} |", flush=True)
    if options.store:
        stored.store("ablation", figures, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
