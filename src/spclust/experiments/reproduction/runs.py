"""Runs: one algorithm with its parameters on one stream, scored; several in parallel."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from spclust import metrics
from spclust.array_types import Floats, Integers
from spclust.experiments.contestants import Contestant, load_contestant
from spclust.experiments.reproduction.own_data import OwnData, own_experiment
from spclust.experiments.reproduction.search_space import ALGORITHMS, Algorithm
from spclust.experiments.reproduction.setups import Experiment, make_experiment

BATCH = 100  # points learnt at a time
WINDOW = 300  # points of a window that are labelled at arrival and scored together
PAPER = "SPC, Table I"  # SPC with the paper's parameters; "SPC" has those of the search
AUTOMATIC = "SPC()"  # SPC in the automatic mode, with nothing set
SCORES = ("purity", "nmi", "ari")

Job = TypeVar("Job")
Answer = TypeVar("Answer")
_experiments: dict[str, Experiment] = {}
_own: dict[str, OwnData] = {}  # by key of the experiment
_contestants: dict[str, Contestant] = {}  # by name


@dataclass(frozen=True)
class Run:
    """A run: an algorithm with parameters on a stream."""

    experiment: str
    entry: str  # name of an algorithm or contestant, PAPER or AUTOMATIC
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
    make = algorithm("SPC" if run.entry in (PAPER, AUTOMATIC) else run.entry).make
    if experiment.own:  # what is compiled for this number of features is not timed
        labels_after(make(**run.parameters), X[: 2 * BATCH])
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


def register(contestants: Iterable[Contestant] = (), data: Iterable[OwnData] = ()) -> None:
    """Make contestants known by name and data by key, also to processes; forget earlier ones."""
    _contestants.clear()
    _contestants.update({one.name: one for one in contestants})
    _own.clear()
    _own.update({one.key: one for one in data})


@contextmanager
def registered(contestants: Iterable[Contestant], data: Iterable[OwnData]) -> Iterator[None]:
    """Register contestants and data for a while."""
    register(contestants, data)
    try:
        yield
    finally:
        register()


def algorithm(name: str) -> Algorithm:
    """One of the six algorithms, or a contestant."""
    if name not in _contestants:
        return ALGORITHMS[name]
    one = _contestants[name]
    return Algorithm(name, one.make, one.axes, one.parameters)


def cached_experiment(key: str) -> Experiment:
    """An experiment; its data are loaded once."""
    if key in _own:
        return own_experiment(_own[key])
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
    own, texts = list(_own.values()), {name: one.text for name, one in _contestants.items()}
    arguments = (known, own, texts)
    with ProcessPoolExecutor(processes, context, initializer=_prepare, initargs=arguments) as pool:
        submitted = {pool.submit(work, job): job for job in jobs}
        try:
            for done in as_completed(submitted):
                yield submitted[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prepare(known: dict[str, bool], own: list[OwnData], texts: dict[str, str]) -> None:
    """Set up a worker: the data of the parent process without a new download, and one thread."""
    for key, published in known.items():
        _experiments[key] = make_experiment(key, published)
    register([replace(load_contestant(text), name=name) for name, text in texts.items()], own)
    threadpool_limits(1)
