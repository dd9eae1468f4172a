"""A line for the user while kernels are compiled for the first time, which takes seconds.

It is written on a terminal only:

    spclust compiles kernels, once per environment, which takes some seconds: 1 2 3, done in 5 s

There may be one for learning, and another one for the first reading of clusters. The log `spclust`
tells it once per process (INFO), and each kernel (DEBUG).
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

_LOG = logging.getLogger("spclust")
_SENTENCE = "compiles kernels, once per environment, which takes some seconds"

Report = Callable[[str, float, bool], None]  # name of a kernel, seconds, whether it was compiled

reports: list[Report] = []  # called for each kernel that was compiled or loaded


class _Line:
    """The line: open from its first kernel until all that may compile kernels has ended."""

    lock = RLock()  # several threads may compile
    under_way = 0  # operations and kernels
    operations = 0  # that all of their kernels are told of
    kernels = 0  # that the line has told of; 0 if it is not open
    told = False  # once per process
    start = 0.0


@contextmanager
def one_line(operations: int = 1) -> Iterator[None]:
    """Tell of all kernels that an operation compiles in one line."""
    with _Line.lock:
        _Line.under_way += 1
        _Line.operations += operations
    try:
        yield
    finally:
        with _Line.lock:
            _Line.under_way -= 1
            _Line.operations -= operations
            if _Line.kernels and _Line.under_way == 0:
                _write(f", done in {time.perf_counter() - _Line.start:.0f} s\n")
                _Line.kernels = 0


@contextmanager
def of_kernel(name: str, is_cached: bool, compilations: Callable[[], int]) -> Iterator[None]:
    """Tell that a kernel is compiled, if it is not in the cache, and how long it took.

    `compilations` counts those that were not loaded from the cache.
    """
    start, before = time.perf_counter(), compilations()
    if is_cached:
        yield
    else:
        with one_line(operations=0):
            _begin()
            yield
    seconds, compiled = time.perf_counter() - start, compilations() > before
    _LOG.debug("%s %s in %.2f s", "compiled" if compiled else "loaded", name, seconds)
    for report in reports:
        report(name, seconds, compiled)


def _begin() -> None:
    """Tell that a kernel is about to be compiled: in an open line, or in a new one.

    Of kernels outside of operations, which few seconds are left for, only the first are told of.
    """
    with _Line.lock:
        if not _Line.told:
            _LOG.info("spclust %s; python -m spclust.compilation does it ahead", _SENTENCE)
        elif _Line.operations == 0 and _Line.kernels == 0:
            return
        _Line.told = True
        if _Line.kernels == 0:
            _Line.start = time.perf_counter()
            _write(f"spclust {_SENTENCE}:")
        _Line.kernels += 1
        _write(f" {_Line.kernels}")


def _write(text: str) -> None:
    """Write to standard error if it is a terminal, which nobody has put a display on."""
    stderr = sys.__stderr__
    if stderr is not None and stderr is sys.stderr and stderr.isatty():
        stderr.write(text)
        stderr.flush()
