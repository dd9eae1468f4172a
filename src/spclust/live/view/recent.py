"""What a stream brought lately: some of its rows, its events, and how it went second by second."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers, Rows

_POINTS = 400  # rows that are remembered
_AT_ONCE = 100  # rows of one batch that are remembered
_NUMBERS = 200_000  # in all of these, which limits the memory for wide tables
_EVENTS = 500
_SECONDS = 600

Arrivals = Callable[[Integers], Floats]


class Sample(NamedTuple):
    """Some of the newest rows, oldest first."""

    values: Floats  # (n, d) in the units of the data
    number: Integers  # (n,) of each row in the stream, from 1
    arrival: Floats  # (n,) of each row, as `arrivals_of_last_batch` has it


class Recent:
    """Rows, events and counters of a stream, which its learner adds and others read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: deque[Sample] = deque()
        self._sampled = 0
        self._events: deque[dict[str, Any]] = deque(maxlen=_EVENTS)
        self.events_told = 0
        self.kinds: Counter[str] = Counter()
        self.rows = 0  # learnt in this process
        self.last_row: float | None = None  # time of the last one

    def add(
        self, values: Rows, last: int, events: list[dict[str, Any]], arrivals: Arrivals
    ) -> None:
        """Add rows (n, d) that were learnt, and their events.

        The last row has a number; `arrivals` tells when those at some places arrived.
        """
        n, d = values.shape
        most = max(1, min(_AT_ONCE, _NUMBERS // max(d, 1)))
        chosen = np.arange(n) if n <= most else np.arange(most) * (n - 1) // max(most - 1, 1)
        some = np.asarray(values[chosen], dtype=np.float64)
        sample = Sample(some, last - n + 1 + chosen, arrivals(chosen))
        now = time.time()
        with self._lock:
            self.rows += n
            self.last_row = now
            self._samples.append(sample)
            self._sampled += len(chosen)
            limit = max(1, min(_POINTS, _NUMBERS // max(d, 1)))
            while self._sampled - len(self._samples[0].number) >= limit:
                self._sampled -= len(self._samples.popleft().number)
        self.add_events(events)

    def add_events(self, events: list[dict[str, Any]]) -> None:
        """Add events, which get numbers."""
        now = round(time.time(), 3)
        with self._lock:
            for event in events:
                self.events_told += 1
                self.kinds[event["event"]] += 1
                self._events.append({"number": self.events_told, **event, "time": now})

    def sample(self) -> Sample | None:
        """The rows that are remembered; None if there are none."""
        with self._lock:
            samples = list(self._samples)
        if not samples:
            return None
        return Sample(*(np.concatenate(part)[-_POINTS:] for part in zip(*samples, strict=True)))

    def events(self, since: int = 0, most: int | None = None) -> list[dict[str, Any]]:
        """Events after one with a number, oldest first; the last ones if there are more."""
        with self._lock:
            found = [event for event in self._events if event["number"] > since]
        return found if most is None else found[-most:]


class History:
    """A few numbers for each of the last seconds."""

    NAMES = ("time", "rate", "memory", "clusters", "outlier_share")

    def __init__(self) -> None:
        self._seconds: deque[tuple[Any, ...]] = deque(maxlen=_SECONDS)

    def add(self, *numbers: Any) -> None:
        """Add a second: the numbers of `NAMES`."""
        self._seconds.append(numbers)

    def last_time(self) -> float:
        """Time of the last second; 0 if there is none."""
        return float(self._seconds[-1][0]) if self._seconds else 0.0

    def columns(self) -> dict[str, list[Any]]:
        """The numbers by name, oldest first."""
        rows = list(self._seconds)
        return {name: [row[i] for row in rows] for i, name in enumerate(self.NAMES)}
