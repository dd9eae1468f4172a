"""Work shared among threads that stay: to start one takes as long as to read thousands of rows."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def _others(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="spclust")


# A forked child has none of its parent's threads: it must not wait for them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_others.cache_clear)


def in_stretches(work: Callable[[int, int], None], rows: int, threads: int) -> None:
    """Do work(start, stop) for stretches of all rows, one for each thread, this one included.

    The work must not share itself out in turn. All of it has ended when this returns or raises.
    """
    ends = [rows * k // threads for k in range(threads + 1)]
    if threads == 1:
        work(0, rows)
        return
    others = _others(threads - 1)
    waiting = [others.submit(work, *ends[k : k + 2]) for k in range(1, threads)]
    try:
        work(*ends[:2])
    finally:
        failures = [done.exception() for done in waiting]
    for failure in failures:
        if failure is not None:
            raise failure
