"""A model that learns, as the service sees it: what happened lately, and snapshots of it."""

import math
import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spclust.array_types import Floats
from spclust.estimators.queries import arrivals_of_last_batch
from spclust.live.view.axes import Projection, View
from spclust.live.view.feed import Feed
from spclust.live.view.moment import Moment, moment_of
from spclust.live.view.recent import History, Recent
from spclust.live.view.snapshot import axes_for, encoded, picture, rounded_rows, tables
from spclust.prepared_model import PreparedModel

MOST_OUTLIERS = 20
_EVENTS_SHOWN = 50
_FINDINGS_EVERY = 5.0  # seconds
# Upper bounds of the histogram of typicality.
TYPICALITY_BOUNDS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class LiveModel:
    """A model, what it learnt lately, and the readers of the page."""

    def __init__(self, source: str, prepared: PreparedModel) -> None:
        self.source, self.prepared = source, prepared
        self.state = "waiting"  # "learning", or "ended"
        self.recent, self.history, self.feed = Recent(), History(), Feed()
        self.bad_rows: Callable[[], int] = lambda: 0  # that were left out
        self.waiting_rows: Callable[[], int] = lambda: 0  # accepted, and not learnt yet
        self.checkpointed: float | None = None  # time
        self.scored = 0  # rows of the sample whose typicality was computed,
        self.typicality_sum = 0.0
        self.typicality_counts = [0] * len(TYPICALITY_BOUNDS)
        self.outliers_seen = 0
        self.outlier_share: float | None = None
        self.rate = 0.0
        self.moment: Moment | None = None  # the last one
        self._outliers: deque[dict[str, Any]] = deque(maxlen=MOST_OUTLIERS)
        self._findings: list[str] | None = None
        self._findings_due = 0.0
        self._projection = Projection()
        self._known = (time.monotonic(), 0, 0)  # time, rows learnt, number of the last row
        self._snapshots = 0

    def learnt(self, values: Floats, last: int, events: list[dict[str, Any]]) -> None:
        """Note rows (n, d) that were learnt, in the units of the data: the learner calls this."""
        self.state = "learning"
        arrivals = partial(arrivals_of_last_batch, self.prepared.model, len(values))
        self.recent.add(values, last, events, arrivals)

    def renew(self) -> None:
        """Read the model again, and offer snapshots to the readers."""
        self.recent.add_events(self.prepared.observe())  # what the last batch brought, perhaps
        sample = self.recent.sample()
        self.moment = moment = moment_of(self.prepared, sample)
        self._measure_rate()
        if moment is not None:
            self._note_outliers(moment)
        now = time.time()
        if now - self.history.last_time() >= 1.0:
            clusters = 0 if moment is None else len(moment.cluster_ids)
            self.history.add(
                round(now, 3), round(self.rate, 1), memory(), clusters, self.outlier_share
            )
        if len(self.feed):
            self._renew_findings(now)
            self._snapshots += 1
            common = self._common(moment, now)
            self.feed.publish(lambda view: self._snapshot(view, moment, common))

    def _measure_rate(self) -> None:
        now, rows = time.monotonic(), self.recent.rows
        then, before, last = self._known
        if now - then > 0.0:
            self.rate = (rows - before) / (now - then)
        if rows == before and self.state == "learning":
            self.state = "waiting"
        self._known = (now, rows, last)

    def _note_outliers(self, moment: Moment) -> None:
        """Note those rows of the sample that are new."""
        now, rows, last = self._known
        if moment.sample is None or not len(moment.sample.number):
            return
        new = moment.sample.number > last
        self.outlier_share = None
        if new.any():
            typicality, flagged = np.exp(-moment.nlt[new]), moment.nlt[new] > moment.limit
            self.outlier_share = round(float(flagged.mean()), 5)
            self.scored += int(new.sum())
            self.typicality_sum += float(typicality.sum())
            places = np.searchsorted(TYPICALITY_BOUNDS, typicality)
            for place in np.minimum(places, len(TYPICALITY_BOUNDS) - 1):
                self.typicality_counts[place] += 1
            self.outliers_seen += int(flagged.sum())
            values, number = moment.sample.values[new], moment.sample.number[new]
            shown = np.flatnonzero(flagged)[-MOST_OUTLIERS:]
            for i, row in zip(shown, rounded_rows(values[shown]), strict=True):
                self._outliers.appendleft(
                    {
                        "row": int(number[i]),
                        "time": round(time.time(), 3),
                        "typicality": float(f"{typicality[i]:.3g}"),
                        "values": row,
                    }
                )
            self._known = (now, rows, int(moment.sample.number[-1]))

    def _renew_findings(self, now: float) -> None:
        if now >= self._findings_due and self.prepared.has_learnt:
            self._findings = self.prepared.diagnose()
            self._findings_due = now + _FINDINGS_EVERY

    def _common(self, moment: Moment | None, now: float) -> dict[str, Any]:
        """What all readers see, whatever their axes are."""
        record: dict[str, Any] = {
            "number": self._snapshots,
            "time": round(now, 3),
            "state": self.state,
            "source": self.source,
            "points": 0 if moment is None else moment.points,
            "rate": round(self.rate, 1),
            "memory": memory(),
            "queue": self.waiting_rows(),
            "structures": 0 if moment is None else len(moment.ids),
            "outlier_share": self.outlier_share,
            "outliers": list(self._outliers),
            "events": [_finite(event) for event in self.recent.events(most=_EVENTS_SHOWN)],
            "findings": self._findings,
        }
        if moment is None:
            nothing = ("features", "columns", "clusters", "ellipses", "recent")
            return record | {name: [] for name in nothing}
        return record | tables(moment, self.prepared.preparation)

    def _snapshot(self, view: View, moment: Moment | None, common: dict[str, Any]) -> bytes:
        if moment is None:
            empty = {"x": "", "y": "", "projection": False}
            return encoded({**common, "view": empty})
        preparation = self.prepared.preparation
        try:
            axes = axes_for(view, moment, self._projection, preparation)
        except ValueError:  # a feature that is not there
            axes = axes_for(View(), moment, self._projection, preparation)
        return encoded({**common, **picture(moment, axes, preparation)})

    def told(self, since: int) -> list[dict[str, Any]]:
        """Events after one with a number, all if that is of a process of before."""
        since = since if since <= self.recent.events_told else 0
        return [_finite(event) for event in self.recent.events(since)]

    def bytes_of_model(self) -> bytes:
        """The model as a saved file."""
        data: bytes = self.prepared.model._access.read(self.prepared.to_bytes)
        return data

    def past(self) -> bytes:
        """What a new reader gets first: the last minutes in numbers, and the last events."""
        return encoded({"history": self.history.columns(), "events": self.told(0)})


def _finite(event: dict[str, Any]) -> dict[str, Any]:
    """An event as JSON can have it."""
    centre = {n: v if math.isfinite(v) else None for n, v in event["centre"].items()}
    return {**event, "centre": dict(list(centre.items())[:MOST_OUTLIERS])}


def memory() -> int:
    """Resident memory of this process in bytes."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: the most that it ever was
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
