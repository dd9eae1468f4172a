"""Runs: one algorithm with its parameters on one stream, scored; several in parallel."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from spclust import metrics
from spclust.array_types import Floats, Integers
from spclust.experiments.reproduction.search_space import ALGORITHMS
from spclust.experiments.reproduction.setups import Experiment, make_experiment

BATCH = 100  # points learnt at a time
WINDOW = 300  # points of a window that are labelled at arrival and scored together
PAPER = "SPC, Table I"  # SPC with the paper's parameters; "SPC" has those of the search
AUTOMATIC = "SPC()"  # SPC in the automatic mode, with nothing set
SCORES = ("purity", "nmi", "ari")

Job = TypeVar("Job")
Answer = TypeVar("Answer")
_experiments: dict[str, Experiment] = {}


@dataclass(frozen=True)
class Run:
    """A run: an algorithm with parameters on a stream."""

    experiment: str
    entry: str  # name of an algorithm, PAPER or AUTOMATIC
    seed: int
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Scored:
    """Results of a run."""

    run: Run
    scores: dict[str, float]
    clusters: int
    noise: float  # share of points without a cluster
    seconds: float  # to learn the stream and label it
    arrival: float | None  # mean NMI of windows, each batch labelled before it is learnt


def score(run: Run) -> Scored:
    """Run, and score the labels of all points after the stream; noise is one more cluster."""
    experiment = cached_experiment(run.experiment)
    X, y = experiment.stream(run.seed)
    make = ALGORITHMS["SPC" if run.entry in (PAPER, AUTOMATIC) else run.entry].make
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
    """Learn a stream, then label all of its points."""
    for start in range(0, len(X), BATCH):
        model.partial_fit(X[start : start + BATCH])
    labels: Integers = model.predict(X)
    return labels


def cached_experiment(key: str) -> Experiment:
    """An experiment; its data are loaded once."""
    if key not in _experiments:
        _experiments[key] = make_experiment(key)
    return _experiments[key]


def in_parallel(
    work: Callable[[Job], Answer], jobs: Iterable[Job], processes: int
) -> Iterator[tuple[Job, Answer]]:
    """Yield each job with its answer, in order of completion."""
    jobs = list(jobs)
    if processes == 1:
        for job in jobs:
            yield job, work(job)
        return
    # New interpreters: a fork of a process with threads may deadlock.
    context = get_context("spawn")
    known = {key: experiment.published for key, experiment in _experiments.items()}
    with ProcessPoolExecutor(processes, context, initializer=_prepare, initargs=(known,)) as pool:
        submitted = {pool.submit(work, job): job for job in jobs}
        try:
            for done in as_completed(submitted):
                yield submitted[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prepare(known: dict[str, bool]) -> None:
    """Set up a worker: the data of the parent process without a new download, and one thread."""
    for key, published in known.items():
        _experiments[key] = make_experiment(key, published)
    threadpool_limits(1)
