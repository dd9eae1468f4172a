"""Tasks: one contestant on one set; run in processes, a failure is a result."""

import multiprocessing
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.pool import THREAD_VARIABLES
from benchmarks.quality.clusterers import ROBUST, SPC_DEFAULT, SPC_HALF_LIFE, STATIC, STREAM, own
from benchmarks.quality.contestant import Contestant, MissingError
from benchmarks.quality.detectors import OUTLIER, Spc
from benchmarks.quality.protocol import PROTOCOLS, Options
from benchmarks.quality.sources import SOURCES, Size, Source
from spclust.experiments.contestants import ContestantError

CONTESTANTS: dict[str, Sequence[Contestant]] = {
    "static": STATIC,
    "stream": STREAM,
    "outlier": OUTLIER,
    "robustness": ROBUST,
    "typicality": (SPC_HALF_LIFE, SPC_DEFAULT),
    "alarm": (
        Contestant(
            "SPCOutlierDetector(contamination=.01, half_life=None)",
            lambda setting: Spc(contamination=0.01, half_life=None),
            compiled=True,
        ),
    ),
}
JOBS = {name: (name,) for name in ("static", "stream", "outlier", "robustness")} | {
    "typicality": ("typicality", "alarm")
}
OWN = ("static", "stream", "robustness")  # jobs of clusterers of users
Record = dict[str, Any]


class Task(NamedTuple):
    """One contestant on one set."""

    source: Source
    contestant: str
    options: Options
    text: str = ""  # names a contestant that is not one of ours

    @property
    def path(self) -> str:
        """Job, group, set and contestant in one text, for patterns."""
        return f"{self.source.job}/{self.source.group}/{self.source.name}/{self.contestant}"


def tasks(
    jobs: Sequence[str],
    folder: Path | None,
    size: Size,
    seeds: Sequence[int],
    only: str = "",
    texts: Mapping[str, str] = MappingProxyType({}),
) -> list[Task]:
    """All tasks of these jobs whose path has the pattern; `texts` name users' clusterers."""
    options = Options(size.orders, seeds[0], size.limit)
    found = []
    for job in jobs:
        for part in JOBS[job]:
            names = {one.name: "" for one in CONTESTANTS[part]} | dict(texts if part in OWN else {})
            found += [
                Task(source, name, options, text)
                for source in SOURCES[part](folder, size, seeds)
                for name, text in names.items()
            ]
    return [task for task in found if re.search(only, task.path, re.IGNORECASE)]


def blank(task: Task, error: str | None = None) -> Record:
    """A record without values."""
    return {
        "job": task.source.job,
        "group": task.source.group,
        "set": task.source.name,
        "contestant": task.contestant,
        "note": "",
        "values": {},
        "seconds": [],
        "parameters": {},
        "error": error,
    }


def record(task: Task) -> Record:
    """Run a task; `error` is the reason if it failed."""
    source = task.source
    found = blank(task)
    try:
        one = _contestant(task)
        found["note"] = one.note
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = source.load()
            found["rows"], found["features"] = map(int, data.X.shape)
            outcome = PROTOCOLS[source.job](one, data, task.options)
    except (ImportError, MissingError) as error:
        found["error"] = f"missing: {error}"
    except Exception as error:
        found["error"] = f"failed: {type(error).__name__}: {error}"
    else:
        found |= outcome._asdict()
    return found


def _contestant(task: Task) -> Contestant:
    if task.text:
        return replace(own(task.text), name=task.contestant)
    (one,) = (one for one in CONTESTANTS[task.source.job] if one.name == task.contestant)
    return one


def known(texts: Sequence[str], warn: Callable[[str], None]) -> dict[str, str]:
    """Texts of the clusterers that can be loaded, by name; `warn` gets a sentence on the others."""
    names: dict[str, str] = {}
    ours = tuple(one.name for part in OWN for one in CONTESTANTS[part])
    for text in texts:
        try:
            names[own(text, (*ours, *names)).name] = text
        except ContestantError as error:
            warn(str(error))
    return names


def run(
    todo: Sequence[Task], processes: int, done: Callable[[Record], None] = lambda _: None
) -> list[Record]:
    """Records of all tasks, in their order; `done` gets each one when it is there."""
    records: list[Record] = [{}] * len(todo)
    for number, found in _results(todo, processes):
        records[number] = found
        done(found)
    return records


def _results(todo: Sequence[Task], processes: int) -> Iterator[tuple[int, Record]]:
    if processes < 1:
        yield from enumerate(map(record, todo))
        return
    # Processes start anew, with one thread each: variables are read when libraries are loaded.
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        futures = {pool.submit(record, task): number for number, task in enumerate(todo)}
        for future in as_completed(futures):
            number, error = futures[future], future.exception()
            if error is None:
                yield number, future.result()
            else:  # its process has ended
                yield number, blank(todo[number], f"failed: {type(error).__name__}: {error}")
