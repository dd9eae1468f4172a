"""The cache on disk: named by a digest of all sources, and filled by one process at a time.

Numba alone would notice a change in the file of the kernel itself but not in the files of the parts
that it calls, and would go on running the old code. So the name of a kernel, by which its machine
code is stored, has a digest of every source file in it.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numba

from spclust.jit import notice

_COMPILING = Lock()


def _digest_of_sources() -> str:
    """A digest of all files that can change a kernel: the whole package."""
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


DIGEST = _digest_of_sources()


def named_by_sources(function: Callable[..., Any]) -> None:
    """Put the digest into the name of a kernel. Modified in place: function."""
    function.__qualname__ += f"_{DIGEST}"


def compiled_once(dispatcher: Any, *arguments: Any) -> Any:
    """A kernel compiled for the types of these arguments, and for no others.

    It then takes an array that may be written to where it wants one that may not, and with any
    other type raises a TypeError, where it would else spend seconds to compile itself again.
    """
    if not hasattr(dispatcher, "py_func"):
        return dispatcher  # plain Python
    with _COMPILING:  # two threads may need it first
        if not dispatcher.signatures:
            signature = tuple(numba.typeof(argument) for argument in arguments)
            with _one_process(dispatcher), notice.of(dispatcher):
                dispatcher.compile(signature)
            dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _one_process(dispatcher: Any) -> Iterator[None]:
    """Wait until no other process compiles the same kernel: what it compiled is on disk then."""
    try:
        import fcntl  # not on Windows, where two processes may compile the same kernel

        folder = dispatcher.stats.cache_path
        os.makedirs(folder, exist_ok=True)
        lock = open(Path(folder) / f"{dispatcher.py_func.__qualname__[-80:]}.lock", "w")  # noqa: SIM115
    except (ImportError, OSError, TypeError):  # no cache, or no place to write
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
