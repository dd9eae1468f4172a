"""Attempts: runs and searches whose failure is a result, one sentence, and not the end."""

import inspect
import traceback
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import TypeVar

from spclust.experiments.contestants import ContestantError
from spclust.experiments.reproduction.runs import Run, Scored, algorithm, in_parallel, score
from spclust.experiments.reproduction.search import Found, Search, find

Job = TypeVar("Job", Run, Search)
Answer = TypeVar("Answer", Scored, Found)


@dataclass(frozen=True)
class Failure:
    """Why an entry has no results in an experiment, or in any."""

    experiment: str  # "" if in none
    entry: str
    reason: str  # one sentence
    details: str = ""  # a traceback


def attempts(
    work: Callable[[Job], Answer | Failure],
    jobs: Iterable[Job],
    processes: int,
    done: Callable[[Job], None],
) -> list[tuple[Job, Answer | Failure]]:
    """Each job with its answer; a job whose process ended has a failure."""
    jobs = list(jobs)
    answers: list[tuple[Job, Answer | Failure]] = []
    try:
        for job, answer in in_parallel(work, jobs, processes) if jobs else ():
            answers.append((job, answer))
            done(job)
    except BrokenExecutor:
        finished = [job for job, _ in answers]
        reason = "failed: it ended the process that it ran in."
        answers += [(job, _failure(job, reason)) for job in jobs if job not in finished]
    return answers


def attempted_run(run: Run) -> Scored | Failure:
    """A run, or why it failed."""
    return _attempted(score, run)


def attempted_search(search: Search) -> Found | Failure:
    """A search, or why it failed."""
    return _attempted(find, search)


def _attempted(work: Callable[[Job], Answer], job: Job) -> Answer | Failure:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work(job)
    except ContestantError as error:
        return _failure(job, f"failed: {error}")
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split()).rstrip(".")
        message = f"{type(error).__name__}: {words}" if words else type(error).__name__
        details = "".join(traceback.format_exception(error))
        return _failure(job, f"failed: {message}{_place(job, error)}.", details)


def _failure(job: Run | Search, reason: str, details: str = "") -> Failure:
    return Failure(job.experiment, _entry(job), f"{_entry(job)} {reason}", details)


def _entry(job: Run | Search) -> str:
    return job.entry if isinstance(job, Run) else job.algorithm


def _place(job: Run | Search, error: BaseException) -> str:
    """The last line of the contestant's own file that was run, in words."""
    try:
        made = algorithm(_entry(job)).make
        owner = getattr(made, "__self__", None)  # a contestant
        file = inspect.getsourcefile(owner.target) if owner is not None else None
    except (KeyError, TypeError):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if file and frame.filename == file]
    return f" ({file}, line {lines[-1]})" if file and lines else ""
