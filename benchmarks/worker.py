"""A competitor in a process of its own: reads jobs and writes answers as lines of JSON.

Started as `python -m benchmarks.worker NAME`. The first line written says whether the competitor
can run. Output of libraries is redirected to the standard error stream.
"""

import gc
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np

from benchmarks.competitor import Competitor
from benchmarks.competitors import COMPETITORS
from benchmarks.streams import BLOCK, STREAMS, Rows, Stream

POOL = 10  # blocks of the stream that are kept in memory and repeated
MIN_BURN_IN, MIN_POINTS = 1500, 500  # DenStream needs 1,000 points before it starts
CHUNK = {"one": 500, "predict": 100}  # points timed at once, if a call has a single point
AGEING_PARTS, AGEING_REPEATS = 5, 3  # 10,000 points are timed in five parts; the best counts

Chunk = Sequence[Any]  # arguments of successive calls
Answer = dict[str, Any]


def seconds(call: Callable[[Any], Any], chunk: Chunk) -> float:
    """Time of the calls, with the garbage collector off."""
    gc.disable()
    started = time.perf_counter()
    for argument in chunk:
        call(argument)
    elapsed = time.perf_counter() - started
    gc.enable()
    return elapsed


class Limit(NamedTuple):
    """Number of points: at least `least`, then until the seconds or `most` are reached."""

    least: int
    seconds: float
    most: float = float("inf")


class Timed(NamedTuple):
    """Points and their time."""

    points: int
    seconds: float
    quickest: float  # seconds a point, of the quickest chunk


def timed(
    feed: Iterator[tuple[int, Chunk]],
    call: Callable[[Any], Any],
    points: int | None,
    limit: Limit,
) -> Timed:
    """Time the given number of points, or as many as the limit allows."""
    done, elapsed, quickest = 0, 0.0, float("inf")

    def more() -> bool:
        if points is not None:
            return done < points
        return done < max(limit.least, 1) or (elapsed < limit.seconds and done < limit.most)

    while more():
        size, chunk = next(feed)
        took = seconds(call, chunk)
        quickest = min(quickest, took / size)
        elapsed += took
        done += size
    return Timed(done, elapsed, quickest)


class Feed:
    """Endless arguments for the calls of one measure, prepared before the timing."""

    def __init__(self, competitor: Competitor, stream: Stream, measure: str) -> None:
        self.competitor, self.stream, self.measure = competitor, stream, measure
        self.prepared: dict[int, list[tuple[int, Chunk]]] = {}

    def chunks(self) -> Iterator[tuple[int, Chunk]]:
        """Number of points and arguments of successive chunks, from the start of the stream."""
        for index in count():
            block = index % POOL
            if block not in self.prepared:
                self.prepared[block] = list(self._prepare(block))
            yield from self.prepared[block]

    def _prepare(self, block: int) -> Iterator[tuple[int, Chunk]]:
        rows = self.stream.block(block)
        if self.measure.startswith("batch"):
            size = batch_size(self.measure)
            yield len(rows), [rows[at : at + size] for at in range(0, len(rows), size)]
            return
        size = CHUNK[self.measure]
        for at in range(0, len(rows), size):
            part = rows[at : at + size]
            yield len(part), self.competitor.points(part)


def batch_size(measure: str) -> int:
    """10000 of "batch 10,000"."""
    return int(measure.removeprefix("batch ").replace(",", ""))


class Worker:
    """Runner of the jobs of one competitor; prepared points are kept between jobs."""

    def __init__(self, competitor: Competitor) -> None:
        self.competitor = competitor
        self.feeds: dict[tuple[str, str], Feed] = {}
        self.stream: Stream | None = None

    def run(self, job: dict[str, Any]) -> Answer:
        """Answer to one job: stream, n, measure, budget in seconds, and the plan if there is one.

        A plan is the number of points to burn in and to time. The first round determines it by
        the clock; the later rounds repeat it, so that all rounds do the same work.
        """
        stream = STREAMS[job["stream"]]
        if stream != self.stream:
            self._change_to(stream, job["n"])
        self.competitor.build(stream, job["n"])
        measure = {"ageing": self._ageing, "predict": self._predict}.get(
            job["measure"], self._learn
        )
        answer = measure(stream, job)
        answer["micro_clusters"] = self.competitor.micro_clusters()
        answer["parameters"] = self.competitor.parameters
        state = self._state()
        answer["state_bytes"] = None if state is None else len(state)
        return answer

    def _change_to(self, stream: Stream, n: int) -> None:
        self.stream = stream
        self.feeds.clear()
        if self.competitor.warm_up:
            self.competitor.build(stream, n)
            feed, call = self._feed(stream, "one"), self.competitor.learn_one
            timed(feed, call, None, Limit(MIN_POINTS, self.competitor.warm_up))

    def _feed(self, stream: Stream, measure: str) -> Iterator[tuple[int, Chunk]]:
        key = stream.name, measure
        if key not in self.feeds:
            self.feeds[key] = Feed(self.competitor, stream, measure)
        return self.feeds[key].chunks()

    def _call(self, measure: str) -> Callable[[Any], Any]:
        batch = measure.startswith("batch")
        return self.competitor.learn_batch if batch else self.competitor.learn_one

    def _learn(self, stream: Stream, job: dict[str, Any]) -> Answer:
        feed, call = self._feed(stream, job["measure"]), self._call(job["measure"])
        burn_in, points = job["plan"] or (None, None)
        burn_in = timed(feed, call, burn_in, Limit(MIN_BURN_IN, job["budget"], BLOCK)).points
        done = timed(feed, call, points, Limit(MIN_POINTS, job["budget"]))
        sample = {job["measure"]: 1e6 * done.seconds / done.points}
        return {"us": sample, "plan": (burn_in, done.points)}

    def _fastest_measure(self) -> str:
        return f"batch {max(self.competitor.batches):,}" if self.competitor.batches else "one"

    def _predict(self, stream: Stream, job: dict[str, Any]) -> Answer:
        learn = self._fastest_measure()
        burn_in, points = job["plan"] or (None, None)
        feed, call = self._feed(stream, learn), self._call(learn)
        burn_in = timed(feed, call, burn_in, Limit(MIN_BURN_IN, job["budget"], BLOCK)).points
        if self.competitor.batches:
            rows = np.concatenate([stream.block(index) for index in range(POOL)])
            feed = repeat((len(rows), [rows]))
        else:
            feed = self._feed(stream, "predict")
        call = self.competitor.predict
        _, warm_up = next(feed)
        seconds(call, warm_up)
        done = timed(feed, call, points, Limit(0, job["budget"]))
        # Nothing is learnt, so that all chunks are the same work; the quickest counts, because two
        # threads are faster only while both cores are free.
        return {"us": {"predict": 1e6 * done.quickest}, "plan": (burn_in, done.points)}

    def _ageing(self, stream: Stream, job: dict[str, Any]) -> Answer:
        """Cost of the first 10,000 points after the burn-in, and of 10,000 after many points.

        "Many" is `points`, or what can be learnt within the budget. If the state can be pickled,
        both are timed again at the end, in turn and on the same rows, because the load of the
        machine may have changed.
        """
        blocks = (self._ageing_chunks(stream.block(index)) for index in count())
        for chunk in next(blocks):
            seconds(self._fastest_call(), chunk)
        early = self._state()
        first = late = self._best(next(blocks))
        seen, spent = 2 * BLOCK, 0.0
        while seen < job["points"] and spent < job["budget"]:
            times = [seconds(self._fastest_call(), chunk) for chunk in next(blocks)]
            seen, spent, late = seen + BLOCK, spent + sum(times), min(times)
        if early is not None and (aged := self._state()) is not None:
            first, late = self._in_turn(early, aged, next(blocks))
        size = BLOCK / AGEING_PARTS
        us = {"first 10k": 1e6 * first / size, "after many": 1e6 * late / size}
        return {"us": us, "plan": (BLOCK, seen)}

    def _ageing_chunks(self, rows: Rows) -> list[Chunk]:
        """The rows in parts that are timed one by one; the best counts."""
        parts = np.split(rows, AGEING_PARTS)
        if self.competitor.batches:
            return [[part] for part in parts]
        return [self.competitor.points(part) for part in parts]

    def _fastest_call(self) -> Callable[[Any], Any]:
        return self._call(self._fastest_measure())

    def _best(self, chunks: list[Chunk]) -> float:
        return min(seconds(self._fastest_call(), chunk) for chunk in chunks)

    def _in_turn(self, early: bytes, aged: bytes, chunks: list[Chunk]) -> tuple[float, float]:
        best = [float("inf"), float("inf")]
        for _ in range(AGEING_REPEATS):
            for which, state in enumerate((early, aged)):
                self.competitor.model = pickle.loads(state)
                best[which] = min(best[which], self._best(chunks))
        return best[0], best[1]

    def _state(self) -> bytes | None:
        return pickle.dumps(self.competitor.model) if self.competitor.pickles else None


def main() -> None:
    """Answer jobs until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    competitor = COMPETITORS[sys.argv[1]]
    print(json.dumps({"missing": competitor.available()}), file=answers)
    worker = Worker(competitor)
    for line in sys.stdin:
        try:
            answer = worker.run(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
