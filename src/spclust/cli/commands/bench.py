"""`spclust bench`: measure the speed on this machine, in a minute."""

import os
import platform
import time
from typing import Annotated, Any

import typer

from spclust.cli.exit_codes import guarded

_CASES = ((2, 30), (2, 100), (10, 50), (50, 50))  # features, structures
_BATCH = 10_000
_CLUSTERS = 10


@guarded
def bench(
    seconds: Annotated[
        float, typer.Option(min=0.05, help="Approximate time of each measurement.")
    ] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Measure rows per second on this machine: rows learnt, and rows labelled.

    The comparison with other libraries is `make bench` in a checkout of spclust.
    """
    from rich.table import Table

    from spclust.cli.summary import print_json, print_table
    from spclust.version import __version__

    found = [_measured(d, n, seconds) for d, n in _CASES]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if as_json:
        print_json({"spclust": __version__, "machine": machine, "results": found})
        return
    table = Table(title=f"spclust {__version__}, {machine}", title_justify="left")
    for name in found[0]:
        table.add_column(name.replace("_", " "), justify="right")
    for record in found:
        table.add_row(*(f"{value:,}" for value in record.values()))
    print_table(table)


def _measured(d: int, n: int, seconds: float) -> dict[str, Any]:
    """Rows per second of d features with n structures, on one core."""
    import numpy as np

    from spclust.estimators.spc import SPC

    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, 40.0, (_CLUSTERS, d))
    X = centres[rng.integers(0, _CLUSTERS, _BATCH)] + rng.normal(size=(_BATCH, d))
    model = SPC(n).partial_fit(X)
    model.predict(X)  # compiles, before anything is measured
    learnt, labelled = _rate(model.partial_fit, X, seconds), _rate(model.predict, X, seconds)
    return {
        "features": d,
        "structures": n,
        "rows_learnt_per_second": round(learnt),
        "rows_labelled_per_second": round(labelled),
    }


def _rate(work: Any, X: Any, seconds: float) -> float:
    started, rows = time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        work(X)
        rows += len(X)
    return rows / (time.perf_counter() - started)
