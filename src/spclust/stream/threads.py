"""Work shared among threads, which are kept: starting one takes as long as thousands of rows."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

from spclust.array_types import Floats, Rows

Chunks = Callable[..., Iterator[tuple[slice, Any]]]

# Differences of a feature of a row and of a structure: about 0.2 and 0.15 ms.
_WORK_OF_A_THREAD, _WORK_OF_A_STRETCH = 400_000, 300_000


@cache
def _others(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="spclust")


# A forked child has none of its parent's threads: it must not wait for them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_others.cache_clear)


def shrinking_stretches(rows: int, threads: int, least: int) -> list[int]:
    """Ends of the stretches, from 0 on, into which rows are cut for several threads.

    Long ones first, since each has a cost, and short ones last, of `least` rows, so that all
    threads finish at about the same time. One thread takes all of what is left, and one of two
    takes a third, so that a slow one does not hold half of the work.
    """
    ends = [0]
    while ends[-1] < rows:
        left = rows - ends[-1]
        ends.append(ends[-1] + min(left, max(least, left // (2 * threads - 1))))
    return ends


def for_each_chunk(
    do: Callable[[slice, Floats], None], X: Rows, chunks: Chunks, structures: int, threads: int
) -> None:
    """Call `do`, which only reads the state, for each of the chunks of X, on several threads.

    `chunks(X, start=..., stop=...)` yields chunks and their slices. Fewer threads than allowed are
    used if there is little to do: waking one takes time.
    """

    def work(start: int, stop: int) -> None:
        for part, rows in chunks(X, start=start, stop=stop):
            do(part, rows)

    of_a_row = max(1, structures * X.shape[1])
    threads = max(1, min(threads, len(X) * of_a_row // _WORK_OF_A_THREAD))
    least = max(1, _WORK_OF_A_STRETCH // of_a_row)
    in_stretches(work, shrinking_stretches(len(X), threads, least), threads)


def in_stretches(work: Callable[[int, int], None], ends: list[int], threads: int) -> None:
    """Call work(start, stop) for stretches of rows on several threads, this one included.

    Each takes the next stretch when it is ready, so that on a busy machine no thread waits long for
    another. `work` must not call this in turn. All of it has ended when this returns or raises.
    """
    left = deque(pairwise(ends))  # safe to be shared

    def take() -> None:
        while True:
            try:
                start, stop = left.popleft()
            except IndexError:
                return
            try:
                work(start, stop)
            except BaseException:
                left.clear()  # the other threads finish their stretch, and stop
                raise

    if threads == 1:
        take()
        return
    others, begun = _others(threads - 1), list[Future[None]]()
    try:
        for _ in range(threads - 1):
            begun.append(others.submit(take))
        take()
    finally:
        failures = _failures(begun, left)
    if failures:
        raise failures[0]


def _failures(begun: list[Future[None]], left: deque[tuple[int, int]]) -> list[BaseException]:
    """Wait for threads; an interrupt meanwhile is a failure, too. Modified in place: left."""
    failures: list[BaseException] = []
    for each in begun:
        while True:
            try:
                if each.cancel():  # it has not begun, and has nothing left to do
                    break
                failure = each.exception()
            except BaseException as interrupt:
                left.clear()
                failures.append(interrupt)
                continue
            failures += [] if failure is None else [failure]
            break
    return failures
