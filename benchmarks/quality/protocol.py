"""Protocols: how a contestant learns a set, and what is measured."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

from benchmarks.quality.contestant import Contestant, Setting, parameters
from benchmarks.quality.streams import Stream
from spclust.array_types import Floats, Integers

BATCH, WARM_UP, WINDOW = 200, 1_000, 1_000
BEYOND = 5.0  # standard deviations outside of every cluster
PROBES, EVERY = 100, 1_000  # points placed outside, each so many points
FAIR = 0.5  # a point outside should be less typical than this


class Options(NamedTuple):
    """What is the same for all contestants."""

    orders: int
    seed: int
    limit: float  # seconds in one order


class Outcome(NamedTuple):
    """Values of each measure, one for each order; seconds; parameters of the model."""

    values: dict[str, list[float]]
    seconds: list[float]
    parameters: dict[str, Any]


class Deadline:
    """A clock of processor time, which other programs do not slow, that ends after a limit."""

    def __init__(self, limit: float) -> None:
        self.start, self.limit = time.process_time(), limit

    @property
    def seconds(self) -> float:
        """Seconds of this process since the start."""
        return time.process_time() - self.start

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """What is done inside takes no time."""
        before = self.seconds
        yield
        self.start += self.seconds - before

    def check(self) -> None:
        """Raise TimeoutError if the time is over."""
        if self.seconds > self.limit:
            raise TimeoutError(f"longer than {self.limit:g} s")


def batches(n: int, size: int = BATCH) -> Iterator[slice]:
    """Rows of each batch."""
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def nmi(y: Integers, labels: Integers) -> float:
    """NMI of the rows that have a cluster, y >= 0; NaN if there is none.

    If they all are of one cluster: 1 if they got one label, 0 otherwise. Label -1 is one more
    label.
    """
    known = y >= 0
    if not known.any():
        return float("nan")
    if len(np.unique(y[known])) == 1:
        return float(len(np.unique(labels[known])) == 1)
    return float(normalized_mutual_info_score(y[known], labels[known]))


def mean_nmi(y: Integers, labels: Integers, size: int) -> float:
    """Mean NMI over parts of so many rows."""
    return float(np.nanmean([nmi(y[part], labels[part]) for part in batches(len(y), size)]))


def made(one: Contestant, X: Floats, y: Integers, seed: int) -> Any:
    """A new model; all it compiles has been compiled by another one."""
    k = max(1, len(np.unique(y[y >= 0])))
    setting = Setting(X, k, seed)
    if one.compiled:
        spare = one.start(setting)
        for _ in range(2):
            spare.learn(X[:BATCH])
            (spare.predict if hasattr(spare, "predict") else spare.score)(X[:BATCH])
    return one.start(setting)


def static(one: Contestant, data: Any, options: Options) -> Outcome:
    """Learn all rows in random order, then label them: NMI."""
    X, y = one.rows(data.X), data.y
    scores, seconds, model = [], [], None
    for order in range(options.orders):
        rows = np.random.default_rng([options.seed, order]).permutation(len(X))
        model = made(one, X[rows], y, options.seed + order)
        clock = Deadline(options.limit)
        for part in batches(len(X), BATCH if one.in_batches else len(X)):
            model.learn(X[rows[part]])
            clock.check()
        labels = model.predict(X[rows])
        scores.append(nmi(y[rows], labels))
        seconds.append(clock.seconds)
    return Outcome({"NMI": scores}, seconds, parameters(model))


def stream(one: Contestant, data: Any, options: Options) -> Outcome:
    """Label each batch before it is learnt: mean NMI over batches, and over windows of 1,000.

    And over such windows with the labels that rows have when their batch has been learnt. The first
    1,000 rows, or half of a shorter stream, are learnt without being labelled.
    """
    X, y = one.rows(data.X), data.y
    model, clock = made(one, X, y, options.seed), Deadline(options.limit)
    before, after = np.full((2, len(X)), -1, dtype=np.int64)
    warm_up = min(WARM_UP, len(X) // 2)
    for part in batches(len(X)):
        if part.start >= warm_up:
            before[part] = model.predict(X[part])
        model.learn(X[part])
        if part.start >= warm_up:
            with clock.stopped():
                after[part] = getattr(model, "learnt_labels", model.predict)(X[part])
        clock.check()
    rows = slice(-(-warm_up // BATCH) * BATCH, None)
    values = {
        name: [mean_nmi(y[rows], labels[rows], size)]
        for name, labels, size in (
            ("batch", before, BATCH),
            ("window", before, WINDOW),
            ("learnt", after, WINDOW),
        )
    }
    return Outcome(values, [clock.seconds], parameters(model))


def outlier(one: Contestant, data: Any, options: Options) -> Outcome:
    """Score each batch before it is learnt, rows in random order: ROC-AUC.

    The first batch is only learnt. Batches have 200 rows, or a quarter of a smaller set.
    """
    X, y = one.rows(data.X), data.y == 1
    size = min(BATCH, len(X) // 4)
    areas, seconds, model = [], [], None
    for order in range(min(2, options.orders)):
        rows = np.random.default_rng([options.seed, order]).permutation(len(X))
        model = made(one, X[rows], data.y, options.seed + order)
        clock, scores = Deadline(options.limit), np.empty(len(X))
        for part in batches(len(X), size):
            if part.start:
                scores[part] = model.score(X[rows[part]])
            model.learn(X[rows[part]])
            clock.check()
        seconds.append(clock.seconds)
        areas.append(float(roc_auc_score(y[rows[size:]], scores[size:])))
    return Outcome({"ROC-AUC": areas}, seconds, parameters(model))


def outside(data: Stream, now: int, rng: np.random.Generator) -> Floats:
    """Points (m, d) five standard deviations outside of every cluster alive before row `now`.

    A cluster is alive if one of the last 200 rows is from it; a typical row is sqrt(d) standard
    deviations from its centre, so a point five outside is at sqrt(d) + 5 from the nearest.
    """
    recent = slice(now - BATCH, now)
    last = {s: i for i, s in enumerate(data.source[recent], now - BATCH) if s >= 0}
    centres, sd = data.centre[list(last.values())], float(data.sd[now - 1])
    away = sd * (np.sqrt(centres.shape[1]) + BEYOND)
    step = rng.normal(size=(20 * PROBES, centres.shape[1]))
    step *= away / np.linalg.norm(step, axis=1, keepdims=True)
    points = centres[rng.integers(0, len(centres), len(step))] + step
    gaps = np.linalg.norm(points[:, None] - centres, axis=2).min(axis=1)
    free: Floats = points[gaps >= away * (1 - 1e-9)][:PROBES]
    return free


def typicality(one: Contestant, data: Any, options: Options) -> Outcome:
    """Share of points outside that are hardly typical, and median typicality of rows, both before.

    Every 1,000 rows: 100 points outside, and the rows of the next batch, of clusters alive: one of
    the last 200 rows is from it. What begins in the next batch is typical nowhere yet.
    """
    rng, clock = np.random.default_rng(options.seed), Deadline(options.limit)
    model, strange, usual = made(one, data.X, data.y, options.seed), [], []
    for part in batches(len(data.X)):
        if part.start and part.start % EVERY == 0:
            probes = outside(data, part.start, rng)
            strange.append(model.model.typicality(probes).max(axis=1) < FAIR)
            alive = data.source[part.start - BATCH : part.start]
            rows = data.X[part][(data.y[part] >= 0) & np.isin(data.source[part], alive)]
            if len(rows):
                usual.append(model.model.typicality(rows).max(axis=1))
        model.learn(data.X[part])
        clock.check()
    values = {
        "outside below .5": [float(np.concatenate(strange).mean())],
        "median inside": [float(np.median(np.concatenate(usual)))],
    }
    return Outcome(values, [clock.seconds], parameters(model))


def alarm(one: Contestant, data: Any, options: Options) -> Outcome:
    """Share of rows of a clean stream that are called outliers before they are learnt."""
    model, clock = made(one, data.X, data.y, options.seed), Deadline(options.limit)
    alarms = []
    for part in batches(len(data.X)):
        if part.start >= WARM_UP:
            alarms.append(model.model.predict(data.X[part]) == -1)
        model.learn(data.X[part])
        clock.check()
    share = float(np.concatenate(alarms).mean())
    return Outcome({"alarms": [share]}, [clock.seconds], parameters(model))


PROTOCOLS = {
    "static": static,
    "stream": stream,
    "outlier": outlier,
    "robustness": stream,
    "typicality": typicality,
    "alarm": alarm,
}
