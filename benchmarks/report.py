"""Tables for the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.results import Key, MissingError, Record, Results
from benchmarks.targets import BATCH, ONE, Verdict

NOTHING = "-"


def number(value: float | None) -> str:
    """A number with three significant digits, or a dash."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def ratio(results: Results, key: Key, spc_call: str) -> float | None:
    """Time of the key over the time of SPC on the same stream with the same N."""
    try:
        return results.record(key).best / results.best("SPC", key.stream, key.n, spc_call)
    except MissingError:
        return None


def learning_table(results: Results, stream: str, n: int) -> Table | None:
    """Time per point of all competitors on one stream, the fastest first."""
    rows = [
        (key, record)
        for key, record in results.records.items()
        if (key.stream, key.n) == (stream, n)
        and (key.measure == ONE or key.measure.startswith("batch"))
    ]
    if not rows:
        return None
    table = Table(title=f"Learning, {stream}, N={n}", title_justify="left")
    table.add_column("competitor")
    table.add_column("call")
    for name in ("held", "us/point", "points/s", "spread", "/ SPC batch", "/ SPC one"):
        table.add_column(name, justify="right")
    for key, record in sorted(rows, key=lambda row: row[1].best):
        table.add_row(
            key.competitor,
            key.measure,
            NOTHING if record.micro_clusters is None else str(record.micro_clusters),
            number(record.best),
            number(1e6 / record.best),
            f"{record.spread:.2f}",
            number(ratio(results, key, BATCH)),
            number(ratio(results, key, ONE)) if key.measure == ONE else NOTHING,
            style="bold" if key.competitor.startswith("SPC") else None,
        )
    return table


def other_table(results: Results, stream: str) -> Table | None:
    """Prediction, memory and long streams, N=50."""
    table = Table(title=f"Prediction, memory, long streams: {stream}, N=50", title_justify="left")
    table.add_column("competitor")
    for name in ("predict us/point", "points/s", "state bytes", "first 10k us/point"):
        table.add_column(name, justify="right")
    for name in ("late us/point", "after points", "slower by"):
        table.add_column(name, justify="right")
    here = [key for key in results.records if (key.stream, key.n) == (stream, 50)]
    names = {key.competitor for key in here}
    for name in sorted(names, key=lambda name: (not name.startswith("SPC"), name)):
        row = {
            key.measure: record
            for key, record in results.records.items()
            if key[:3] == (name, stream, 50)
        }
        table.add_row(name, *_other_cells(row), style="bold" if name == "SPC" else None)
    return table if {"predict", "first 10k"} & {key.measure for key in here} else None


def _other_cells(row: dict[str, Record]) -> list[str]:
    predict, first, late = (row.get(name) for name in ("predict", "first 10k", "after many"))
    size = next(iter(row.values())).state_bytes
    cells = [number(predict.best), number(1e6 / predict.best)] if predict else [NOTHING] * 2
    cells.append(f"{size:,}" if size else "not measurable")
    if first and late:
        points = f"{late.points:,}"
        return [
            *cells,
            number(first.best),
            number(late.best),
            points,
            number(late.best / first.best),
        ]
    return cells + [NOTHING] * 4


def target_table(verdicts: Sequence[Verdict]) -> Table:
    """All targets, met or not."""
    table = Table(title="Targets (best times)", title_justify="left")
    table.add_column("target")
    table.add_column("measured", justify="right")
    table.add_column("bound", justify="right")
    table.add_column("verdict")
    styles = {"met": "green", "NOT met": "bold red"}
    for one in verdicts:
        value = NOTHING if one.value is None else number(one.value) + one.unit
        style = styles.get(one.verdict, "yellow")
        table.add_row(one.text, value, one.bound, f"[{style}]{one.verdict}[/{style}]")
    return table


def parameter_table(results: Results) -> Table:
    """Parameters of all competitors at N=50; all others are the packages' defaults."""
    table = Table(title="Parameters, N=50", title_justify="left")
    for name in ("competitor", "stream", "parameters"):
        table.add_column(name)
    shown = set()
    for key, record in results.records.items():
        if key.n == 50 and key[:2] not in shown:
            shown.add(key[:2])
            text = ", ".join(
                f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                for name, value in record.parameters.items()
            )
            table.add_row(key.competitor, key.stream, text)
    return table


def show(console: Console, results: Results, verdicts: Sequence[Verdict]) -> None:
    """Print everything."""
    tables = [parameter_table(results)]
    places = dict.fromkeys((key.stream, key.n) for key in results.records)
    for stream, n in places:
        tables += filter(None, [learning_table(results, stream, n)])
    for stream in dict.fromkeys(stream for stream, _ in places):
        tables += filter(None, [other_table(results, stream)])
    for table in [*tables, target_table(verdicts)]:
        console.print()
        console.print(table)
    for name, reason in results.missing.items():
        console.print(f"missing: {name}: {reason}", markup=False)
    met = sum(one.verdict == "met" for one in verdicts)
    failed = sum(one.verdict == "NOT met" for one in verdicts)
    rest = len(verdicts) - met - failed
    console.print(f"\nTargets: {met} met, {failed} NOT met, {rest} without a number.")
