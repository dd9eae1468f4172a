"""Work shared among threads, which are kept: starting one takes as long as thousands of rows."""

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
    others = _others(threads - 1)
    waiting = [others.submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        # Threads that have not begun have nothing left to do.
        failures = [done.exception() for done in waiting if not done.cancel()]
    for failure in failures:
        if failure is not None:
            raise failure
