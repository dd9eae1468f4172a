"""Work shared among threads that stay: to start one takes as long as to read thousands of rows."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise


@cache
def _others(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="spclust")


# A forked child has none of its parent's threads: it must not wait for them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_others.cache_clear)


def shrinking_stretches(rows: int, threads: int, least: int) -> list[int]:
    """Where to cut so many rows for several threads, from 0 on: the ends of stretches.

    Long ones first, since each costs something, and short ones last, of `least` rows, so that all
    threads are ready at about the same time. Of what is left, one thread takes all, and one of two
    a third, lest a slow one holds on to half of the work.
    """
    ends = [0]
    while ends[-1] < rows:
        left = rows - ends[-1]
        ends.append(ends[-1] + min(left, max(least, left // (2 * threads - 1))))
    return ends


def in_stretches(work: Callable[[int, int], None], ends: list[int], threads: int) -> None:
    """Do work(start, stop) for stretches of rows on several threads, this one included.

    Each takes the next one when it is ready: where the machine has other things to do, too, no
    thread waits long for another. The work must not share itself out in turn. All of it has ended
    when this returns or raises.
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
                left.clear()  # what the others are at is all that they do
                raise

    if threads == 1:
        take()
        return
    others = _others(threads - 1)
    waiting = [others.submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        # What has not begun has nothing to do any more.
        failures = [done.exception() for done in waiting if not done.cancel()]
    for failure in failures:
        if failure is not None:
            raise failure
