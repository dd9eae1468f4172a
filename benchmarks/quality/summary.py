"""Means over sets, arranged in grids: contestants by groups."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.quality.sources import GENERATED
from benchmarks.quality.tasks import Record

ALL = "all"
NOTHING = "-"
SEEDS = ("random_state", "seed")


class Mean(NamedTuple):
    """Mean of a measure over sets; NaN if no set was measured."""

    value: float
    measured: int
    sets: int
    reason: str  # of the first set that was not measured, if any

    @property
    def text(self) -> str:
        """Three digits, and how many sets were measured if not all; or missing, or failed."""
        if self.measured == 0:
            return self.reason.partition(":")[0] if self.sets else NOTHING
        if np.isnan(self.value):
            return NOTHING
        few = f" ({self.measured}/{self.sets})" if self.measured < self.sets else ""
        return f"{self.value:.3f}{few}"


class Grid(NamedTuple):
    """A table of texts."""

    key: str  # in stored results
    title: str
    head: list[str]
    rows: list[list[str]]


class View(NamedTuple):
    """What one grid shows."""

    key: str
    job: str
    title: str
    measure: str
    extra: tuple[str, ...] = ()  # further columns: means over all sets
    by: Callable[[Record], str] = lambda one: str(one["group"])
    only: str = ""  # group
    upright: bool = False  # groups are rows


def kind(one: Record) -> str:
    """Kind of a generated set: the first word of its name."""
    return str(one["set"]).partition(" ")[0].replace("_", " ")


VIEWS = (
    View(
        "static",
        "static",
        "Sets without time, rows in random order: NMI",
        "NMI",
        ("range", "ms/row"),
    ),
    View(
        "stream",
        "stream",
        "Streams, each batch of 200 labelled before it is learnt: mean NMI of batches",
        "batch",
        ("window", "learnt", "ms/row"),
    ),
    View("kinds", "stream", "Generated streams by kind: mean NMI of batches", "batch", (), kind,
         GENERATED, upright=True),
    View("outlier", "outlier", "Outliers, each batch scored before it is learnt: ROC-AUC",
         "ROC-AUC", ("ms/row",)),
    View("robustness", "robustness", "Generated streams, altered: mean NMI of batches", "batch"),
    View("outside", "typicality",
         "Share of points 5 standard deviations outside with typicality below .5",
         "outside below .5"),
    View("inside", "typicality", "Median typicality of rows before they are learnt",
         "median inside"),
    View("alarms", "alarm", "Share of alarms on clean stationary streams; contamination is .01",
         "alarms"),
)  # fmt: skip


def value(one: Record, measure: str) -> float:
    """A measure of one record: the mean over orders; "range" and "ms/row" are derived."""
    if measure == "ms/row":
        return 1000.0 * float(np.mean(one["seconds"])) / int(one["rows"])
    if measure == "range":
        scores = next(iter(one["values"].values()))
        return float(np.ptp(scores)) if len(scores) > 1 else float("nan")
    return float(np.mean(one["values"][measure]))


def mean(records: Iterable[Record], measure: str) -> Mean:
    """Mean over records."""
    shown = list(records)
    good = [value(one, measure) for one in shown if one["error"] is None]
    reasons = [str(one["error"]) for one in shown if one["error"] is not None]
    average = float(np.mean(good)) if good else float("nan")
    return Mean(average, len(good), len(shown), reasons[0] if reasons else "")


def of_view(records: Sequence[Record], view: View) -> list[Record]:
    """Records that a view shows."""
    return [
        one
        for one in records
        if one["job"] == view.job and (not view.only or one["group"] == view.only)
    ]


def names(records: Iterable[Record], by: Callable[[Record], str]) -> list[str]:
    """Distinct names in order of appearance."""
    return list(dict.fromkeys(map(by, records)))


def contestant(one: Record) -> str:
    """Name of the contestant."""
    return str(one["contestant"])


def grid(records: Sequence[Record], view: View) -> Grid | None:
    """The grid of a view, None if it has no records."""
    shown = of_view(records, view)
    if not shown:
        return None
    groups, rows = names(shown, view.by), []
    for name in names(shown, contestant):
        own = [one for one in shown if contestant(one) == name]
        cells = [mean([one for one in own if view.by(one) == g], view.measure) for g in groups]
        cells.append(mean(own, view.measure))
        good = [one for one in own if one["error"] is None]
        extra = [mean(good, measure) for measure in view.extra]
        rows.append([name, *(cell.text for cell in (*cells, *extra))])
    head = ["", *groups, ALL, *view.extra]
    if view.upright:
        turned = [list(column) for column in zip(head, *rows, strict=True)]
        return Grid(view.key, view.title, turned[0], turned[1:])
    return Grid(view.key, view.title, head, rows)


def parameter_grid(records: Sequence[Record]) -> Grid:
    """Parameters of all contestants, and what they are told."""
    texts: dict[tuple[str, str], str] = {}
    jobs: dict[tuple[str, str], list[str]] = {}
    for one in records:
        if not one["parameters"]:
            continue
        given = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in one["parameters"].items()
            if name not in SEEDS and not (name == "n_clusters" and "told" in one["note"])
        ]
        key = (one["contestant"], one["note"])
        texts.setdefault(key, ", ".join(given))
        if one["job"] not in jobs.setdefault(key, []):
            jobs[key].append(one["job"])
    lines = [[key[0], ", ".join(jobs[key]), text, key[1]] for key, text in texts.items()]
    return Grid("parameters", "Parameters", ["contestant", "jobs", "parameters", "given"], lines)


def reasons(records: Sequence[Record]) -> list[str]:
    """One line for each job, contestant and reason of failure, with the number of sets."""
    counts: dict[tuple[str, str, str], int] = {}
    for one in records:
        if one["error"] is not None:
            key = (one["job"], one["contestant"], one["error"])
            counts[key] = counts.get(key, 0) + 1
    return [
        f"{job}: {name}: {error} ({n} {'set' if n == 1 else 'sets'})"
        for (job, name, error), n in counts.items()
    ]


def grids(records: Sequence[Record]) -> list[Grid]:
    """All grids that have records."""
    return [one for one in (grid(records, view) for view in VIEWS) if one is not None]


def markdown(records: Sequence[Record]) -> str:
    """All grids as Markdown tables, for documents."""
    parts = []
    for one in (*grids(records), parameter_grid(records)):
        align = ["---", *("---:" if one.title != "Parameters" else "---" for _ in one.head[1:])]
        lines = [one.head, align, *one.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"{one.title}:\n\n{table}\n")
    failed = "\n".join(f"- {line}" for line in reasons(records))
    return "\n".join([*parts, *([f"Not measured:\n\n{failed}\n"] if failed else [])])
