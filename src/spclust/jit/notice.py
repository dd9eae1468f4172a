"""A line for the user when kernels are compiled for the first time, which takes seconds."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_LOG = logging.getLogger("spclust")
_told = False


def _is_cached(dispatcher: Any) -> bool:
    """True if the machine code of a kernel is on disk."""
    folder = dispatcher.stats.cache_path
    name = dispatcher.py_func.__qualname__.replace("<", "").replace(">", "")
    return bool(folder) and any(Path(folder).glob(f"*{name}*.nbi"))


@contextmanager
def of(dispatcher: Any) -> Iterator[None]:
    """Say once per process that kernels are being compiled, on a terminal and in the log."""
    global _told
    if _told or _is_cached(dispatcher):
        yield
        return
    _told = True
    sentence = (
        "spclust compiles its kernels for this kind of data: 5 to 15 seconds, once per "
        "environment (python -m spclust.compilation does it ahead)"
    )
    _LOG.info(sentence)
    shown = sys.stderr is not None and sys.stderr.isatty()
    if shown:
        print(f"{sentence} ...", end="", file=sys.stderr, flush=True)
    start = time.perf_counter()
    try:
        yield
    finally:
        if shown:
            print(f" {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
