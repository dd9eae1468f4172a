"""The cache on disk: named by a digest of the sources, and filled by one process at a time.

Numba alone would notice a change in the file of the kernel itself but not in the files of the parts
that it calls, and would go on running the old code. So the name of a kernel, by which its machine
code is stored, has a digest of every source file in it that can change a kernel.

Numba uses a folder only if it may write there. Machine code in one that it may only read is copied
to the one that it uses, or else to a temporary one.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import numba
import numpy as np

from spclust.jit import internals, notice

_CONFIG: Any = numba.config
_COMPILING = RLock()


# What has kernels, and all that it imports: a test compares. A change elsewhere compiles nothing.
ROOMS = ("jit", "numerics", "state", "covariance", "algorithm", "auto", "stream", "tracking")
MODULES = ("array_types.py", "durations.py", "formulas.py", "parameters.py")


def _digest_of_sources() -> str:
    """A digest of all files that can change a kernel."""
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=8)
    files = [package / name for name in MODULES]
    for room in ROOMS:
        files += sorted((package / room).rglob("*.py"))
    for file in files:
        digest.update(file.relative_to(package).as_posix().encode())
        digest.update(file.read_bytes())
    digest.update(bytes([internals.ENABLED]))
    return digest.hexdigest()


DIGEST = _digest_of_sources()


def named_by_sources(function: Callable[..., Any]) -> None:
    """Put the digest into the name of a kernel. Modified in place: function."""
    function.__qualname__ += f"_{DIGEST}"


def with_cache(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel whose machine code is kept on disk, if there is a place for it."""
    with suppress(RuntimeError):  # there is no place to write, or no file of the source
        return numba.njit(cache=True, **options)(function)
    if any(_files_to_read(function)):
        before = _CONFIG.CACHE_DIR
        try:
            _CONFIG.CACHE_DIR = _temporary_folder()
            return numba.njit(cache=True, **options)(function)
        except (RuntimeError, OSError):
            pass
        finally:
            _CONFIG.CACHE_DIR = before
    return numba.njit(**options)(function)


@cache
def _temporary_folder() -> str:
    """A folder that no other user may write to, removed at the end of this process."""
    folder, process = tempfile.mkdtemp(prefix="spclust-"), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not that of a process that was forked
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _files_to_read(function: Callable[..., Any]) -> Iterator[Path]:
    """Files of machine code of a kernel in folders that may only be read, index last."""
    source = Path(function.__code__.co_filename)
    name = f"{source.stem}.{_file_name(function)}-*"
    places = [(source.parent, f"__pycache__/{name}")]
    if _CONFIG.CACHE_DIR:
        places.insert(0, (Path(_CONFIG.CACHE_DIR), f"*/{name}"))
    for ending in (".nbc", ".nbi"):
        for folder, pattern in places:
            for file in folder.glob(f"{pattern}{ending}"):
                # A folder that may be written to is Numba's own, or one that NUMBA_CACHE_DIR
                # replaces.
                if not os.access(file.parent, os.W_OK):
                    yield file


def _copy_what_may_only_be_read(dispatcher: Any) -> None:
    """Copy machine code from folders that are not writable to the one that is used."""
    folder = dispatcher.stats.cache_path
    for file in _files_to_read(dispatcher.py_func) if folder else ():
        with suppress(OSError):  # it may not even be read
            shutil.copyfile(file, Path(folder) / file.name)


def compiled_by_one_process(dispatcher: Any) -> Any:
    """A kernel that no two processes, and no two threads, compile at the same time.

    Whoever waited loads what the other one compiled. Numba calls `compile` for the types of each
    first call. Modified in place: dispatcher.
    """
    compile_for = dispatcher.compile
    name = dispatcher.py_func.__name__

    def compilations() -> int:
        return sum(dispatcher.stats.cache_misses.values())

    def compile_alone(signature: Any) -> Any:
        if signature in dispatcher.overloads:
            return compile_for(signature)
        with _COMPILING, _one_process(dispatcher):  # after which the other one's code is on disk
            if not (is_cached := _is_cached(dispatcher)):
                _copy_what_may_only_be_read(dispatcher)
                is_cached = _is_cached(dispatcher)
            with notice.of_kernel(name, is_cached, compilations):
                return compile_for(signature)

    dispatcher.compile = compile_alone
    return dispatcher


def compiled_once(dispatcher: Any, *arguments: Any) -> Any:
    """A kernel compiled for the types of these arguments, and for no others.

    It then takes an array that may be written to where it wants one that may not, and with any
    other type raises a TypeError, where it would else spend seconds to compile itself again.
    """
    if not hasattr(dispatcher, "py_func"):
        return dispatcher  # plain Python
    with _COMPILING:  # two threads may need it first
        if not dispatcher.signatures:
            dispatcher.compile(tuple(numba.typeof(argument) for argument in arguments))
            dispatcher.disable_compile()
    return dispatcher if internals.ENABLED else _of_contiguous_arrays(dispatcher)


def _of_contiguous_arrays(dispatcher: Any) -> Callable[..., Any]:
    """The kernel, called with copies of arrays that have gaps, which it has no signature for."""

    def call(*arguments: Any) -> Any:
        return dispatcher(
            *(np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arguments)
        )

    return call


def _is_cached(dispatcher: Any) -> bool:
    """True if machine code of a kernel is on disk, if only for other types."""
    folder = dispatcher.stats.cache_path
    return bool(folder) and any(Path(folder).glob(f"*{_file_name(dispatcher.py_func)}*.nbi"))


def _file_name(function: Callable[..., Any]) -> str:
    """The name of a kernel as it is part of the names of its files."""
    return function.__qualname__.replace("<", "").replace(">", "")


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
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
