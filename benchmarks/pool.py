"""Worker processes of all competitors: started together, used one at a time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from benchmarks.competitor import Competitor

ROOT = Path(__file__).parent.parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def environment(threads: int = 1) -> dict[str, str]:
    """Environment variables of a process that may use this many threads."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


class Pool:
    """Workers by the name of their competitor; `missing` has those that cannot run."""

    def __init__(self, competitors: Iterable[Competitor], log: IO[str]) -> None:
        self.missing: dict[str, str] = {}
        self.workers = {one.name: self._start(one, log) for one in competitors}

    @staticmethod
    def _start(competitor: Competitor, log: IO[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", competitor.name],
            cwd=ROOT,
            env=environment(competitor.threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    def greet(self, competitor: Competitor) -> None:
        """Wait until the worker is ready, or store why it is missing."""
        hello = self._answer(competitor.name)
        if reason := hello.get("missing") or hello.get("error"):
            self.missing[competitor.name] = reason

    def ask(self, name: str, job: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer to a job; {"error": reason} if it failed."""
        pipe = self.workers[name].stdin
        assert pipe is not None
        try:
            print(json.dumps(job), file=pipe, flush=True)
        except BrokenPipeError:
            return {"error": "its process has ended"}
        return self._answer(name)

    def _answer(self, name: str) -> dict[str, Any]:
        pipe = self.workers[name].stdout
        assert pipe is not None
        line = pipe.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "its process has ended"}
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers.values():
            if error is None:
                worker.communicate()
            else:
                worker.kill()
                worker.wait()
