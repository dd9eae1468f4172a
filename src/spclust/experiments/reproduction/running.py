"""Runs: one algorithm with its parameters on one stream, scored; many of them on several cores."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from spclust import metrics
from spclust.arrays import Floats, Integers
from spclust.experiments.reproduction.contestants import CONTESTANTS
from spclust.experiments.reproduction.experiments import Experiment, make_experiment

BATCH = 100  # points learnt at a time
WINDOW = 300  # points labelled at arrival that are scored together
PAPER = "SPC, Table I"  # SPC with the paper's parameters; the other SPC has those of a search
SCORES = ("purity", "nmi", "ari")

Job = TypeVar("Job")
Answer = TypeVar("Answer")
_experiments: dict[str, Experiment] = {}


@dataclass(frozen=True)
class Run:
    """What is to be run."""

    experiment: str
    entry: str  # name of a contestant, or PAPER
    seed: int
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Scored:
    """What came of it."""

    run: Run
    scores: dict[str, float]
    clusters: int
    noise: float  # share of points without a cluster
    seconds: float  # to learn the stream and label it
    arrival: float | None  # mean NMI of windows, each batch labelled before it is learnt


def score(run: Run) -> Scored:
    """Run, and score the labels that all points get after the stream; noise is one more cluster."""
    experiment = the_experiment(run.experiment)
    X, y = experiment.stream(run.seed)
    make = CONTESTANTS["SPC" if run.entry == PAPER else run.entry].make
    model, arrival = make(**run.parameters), None
    started = time.perf_counter()
    labels = labels_after(model, X)
    seconds = time.perf_counter() - started
    scores = {name: metrics.SCORES[name](y, labels) for name in SCORES}
    found = len(np.unique(labels[labels >= 0]))
    if experiment.in_turn:
        windows = metrics.prequential(make(**run.parameters), X, y, window=WINDOW, batch=BATCH)
        arrival = float(np.mean([window.scores["nmi"] for window in windows]))
    return Scored(run, scores, found, float(np.mean(labels == -1)), seconds, arrival)


def labels_after(model: Any, X: Floats) -> Integers:
    """Learn a stream, and label all of it with what is known at its end."""
    for start in range(0, len(X), BATCH):
        model.partial_fit(X[start : start + BATCH])
    labels: Integers = model.predict(X)
    return labels


def the_experiment(key: str) -> Experiment:
    """An experiment, its data looked for once."""
    if key not in _experiments:
        _experiments[key] = make_experiment(key)
    return _experiments[key]


def in_parallel(
    work: Callable[[Job], Answer], jobs: Iterable[Job], processes: int
) -> Iterator[tuple[Job, Answer]]:
    """Each job with its answer, in the order in which they come."""
    jobs = list(jobs)
    if processes == 1:
        for job in jobs:
            yield job, work(job)
        return
    # A fresh interpreter each: a fork of one that has threads may never end.
    context = get_context("spawn")
    known = {key: experiment.published for key, experiment in _experiments.items()}
    with ProcessPoolExecutor(processes, context, initializer=_prepare, initargs=(known,)) as pool:
        waiting = {pool.submit(work, job): job for job in jobs}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prepare(known: dict[str, bool]) -> None:
    """Use the same data as the process that asks, without looking for it again, and one core."""
    for key, published in known.items():
        _experiments[key] = make_experiment(key, published)
    threadpool_limits(1)
