"""The live table of `spclust watch`: clusters by their ids, and the last events."""

import time
from collections import Counter, deque
from typing import Any, Self

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from spclust.cli.summary import column_head
from spclust.prepared_model import PreparedModel
from spclust.tables.table_error import printable

_EVERY = 0.1  # seconds between two updates
_HISTORY = 20  # updates that a sparkline shows
_EVENTS = 8
_CLUSTERS = 15
_COLUMNS = 4
_LEVELS = " ▁▂▃▄▅▆▇█"
_STYLES = {"birth": "green", "death": "red", "merge": "magenta", "split": "cyan", "move": "yellow"}


class LiveTable:
    """A live table on a terminal; elsewhere events are printed as lines."""

    def __init__(self, prepared: PreparedModel, title: str) -> None:
        self._prepared, self._title = prepared, printable(title)
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._events: deque[dict[str, Any]] = deque(maxlen=_EVENTS)
        self._history: dict[int, deque[float]] = {}
        self._recent: Counter[int] = Counter()  # rows of each cluster since the last update
        self._started = time.perf_counter()
        self._drawn, self._rows_drawn, self._rows = 0.0, 0, 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def show(self, rows: int, events: list[dict[str, Any]]) -> None:
        """Show the state after `rows` rows, unless the last update is too recent."""
        self._rows = rows
        self._events.extend(events)
        model = self._prepared.model
        labels, ids = model.labels_, model.cluster_ids_
        places = np.searchsorted(model.cluster_labels_, labels[labels >= 0])
        self._recent.update(ids[places].tolist())
        if not self._console.is_terminal:
            for event in events:
                self._console.print(_line(event), highlight=False, soft_wrap=True)
        elif time.perf_counter() - self._drawn >= _EVERY:
            self._draw()

    def _draw(self) -> None:
        now, rows = time.perf_counter(), self._rows
        rate = (rows - self._rows_drawn) / (now - (self._drawn or self._started))
        self._drawn, self._rows_drawn = now, rows
        model = self._prepared.model
        head = Text.assemble(
            f"{rows:,} rows  {rate:,.0f}/s  {len(model.clustering())} structures  ",
            f"{model.n_clusters_} clusters  ",
            (self._title, "bold"),
            no_wrap=True,
            overflow="ellipsis",
        )
        clusters = self._clusters(rate)
        self._recent.clear()
        lines = [_line(event) for event in self._events] or [Text("none yet", style="dim")]
        self._live.update(
            Group(head, clusters, Panel(Group(*lines), title="events", expand=False)),
            refresh=True,
        )

    def _clusters(self, rate: float) -> Table:
        """A row for each cluster with an id, those with the most recent rows first."""
        prepared = self._prepared
        described, ids = prepared.model.describe(), prepared.model.cluster_ids_
        total = max(self._recent.total(), 1)
        share = np.array([self._recent[int(cluster)] / total for cluster in ids])
        centres = prepared.preparation.centres_in_units(described["centre"])
        table = Table(header_style="bold", expand=False)
        for name in ("cluster", "structures", "rows", "rows/s", "lately"):
            table.add_column(name, justify="left" if name == "lately" else "right")
        columns = prepared.preparation.columns[:_COLUMNS]
        for column in columns:
            table.add_column(column_head(column), justify="right")
        seen = set()
        shown = [i for i in np.argsort(-share, kind="stable").tolist() if ids[i] >= 0]
        for i in shown:
            cluster = int(ids[i])
            seen.add(cluster)
            shares = self._history.setdefault(cluster, deque(maxlen=_HISTORY))
            shares.append(float(share[i]))
        self._history = {each: self._history[each] for each in seen}
        for i in shown[:_CLUSTERS]:
            table.add_row(
                str(ids[i]),
                f"{described['structures'][i]:,}",
                f"{described['count'][i]:,}",
                f"{rate * share[i]:,.0f}",
                _sparkline(self._history[int(ids[i])]),
                *(f"{value:.4g}" for value in centres[i][: len(columns)]),
            )
        return table

    def __exit__(self, failure: object, *_: object) -> None:
        if self._console.is_terminal:
            if failure is None and self._rows:
                self._draw()
            self._live.stop()


def _sparkline(shares: deque[float]) -> Text:
    """Shares, 0 to 1, as a sparkline."""
    top = max(*shares, 0.01) if len(shares) > 1 else 1.0
    levels = (round(share / top * (len(_LEVELS) - 1)) for share in shares)
    return Text("".join(_LEVELS[level] for level in levels), style="blue")


def _line(event: dict[str, Any]) -> Text:
    """An event in one line."""
    before, after = (", ".join(map(str, event[side])) for side in ("before", "after"))
    arrow = f"{before} → {after}" if before and after and before != after else before or after
    centre = ", ".join(f"{value:.4g}" for value in list(event["centre"].values())[:_COLUMNS])
    return Text.assemble(
        f"{event['after_rows']:>10,}  ",
        (f"{event['event']:<6}", _STYLES[event["event"]]),
        f"cluster {arrow}  at {centre}",
        f"  {event['time']}" if "time" in event else "",
    )
