"""How the kernels are compiled: one decorator, one set of options, one trustworthy cache."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import numba
from numba import njit
from numba.core.caching import IndexDataCacheFile

from spclust.jit.haste import AS_A_KERNEL
from spclust.jit.linked import AS_A_PART

_CONFIG: Any = numba.config

# error_model="numpy": 1 / 0 is inf, not an exception. "contract" allows fused multiply-adds;
# nothing else of fastmath may be on, because the state holds infinities on purpose.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "nogil": True,
    "_nrt": False,
    # Said in so many words, lest a function takes these over from the one that first calls it.
    "no_cpython_wrapper": False,
    "no_cfunc_wrapper": False,
    "forceinline": False,
}

COMPILED = not _CONFIG.DISABLE_JIT  # otherwise kernels are plain Python
_COMPILING = Lock()
_FOR_KERNELS_ALONE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _digest_of_sources() -> str:
    """A name for the present state of all kernels' files."""
    content = b"".join(
        file.read_bytes() for file in sorted(Path(__file__).parents[1].rglob("*.py"))
    )
    return hashlib.blake2b(content, digest_size=8).hexdigest()


_DIGEST = _digest_of_sources()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use and keep the machine code on disk for later processes.

    Numba alone would notice a change in the file of the kernel itself but not in the files of the
    kernels that it calls, and would go on running the old code; so the name of what is kept has the
    content of all of them in it. Where no directory can be written, nothing is kept. With
    NUMBA_DISABLE_JIT=1 kernels are plain Python, to step through.
    """
    return _compiled(function, _OPTIONS)


def kernel_of(kind: int) -> Callable[[Callable[..., Any]], Any]:
    """`kernel`, for a function that is made anew for each kind of spreads: with a name of its own.

    Machine code is found by its name. Numba numbers functions of one name as each process meets
    them, so that kernels of two kinds, compiled by two processes, could have the same.
    """

    def compile_it(function: Callable[..., Any]) -> Any:
        function.__name__ += f"_of_kind_{kind}"
        function.__qualname__ += f"_of_kind_{kind}"
        return kernel(function)

    return compile_it


def compiled_once(dispatcher: Any, *arguments: Any) -> Any:
    """A kernel compiled for the types of these arguments, and for no others.

    It then takes an array that may be written to where it wants one that may not, and with any
    other type raises a TypeError, where it would else spend seconds to compile itself again.
    """
    if not _CONFIG.DISABLE_JIT:
        with _COMPILING:  # two threads may want it first
            if not dispatcher.signatures:
                dispatcher.compile(tuple(numba.typeof(argument) for argument in arguments))
                dispatcher.disable_compile()
    return dispatcher


def address_of(dispatcher: Any) -> int:
    """Where the code of a kernel that is `compiled_once` is, for other kernels; 0 if unknown."""
    try:
        overload = next(iter(dispatcher.overloads.values()))
        where: int = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)
    except AttributeError:  # plain Python, or a Numba of another make
        return 0
    return where


def entry(dispatcher: Any) -> Any:
    """The machine code of a kernel that is `compiled_once`, to be called with just those types.

    Looking up which code suits the arguments takes as long as to hand them over.
    """
    try:
        return next(iter(dispatcher.overloads.values())).entry_point
    except AttributeError:  # plain Python, or a Numba of another make
        return dispatcher


def holding(function: Callable[..., Any]) -> Any:
    """A kernel that does not let other threads of Python run meanwhile: see `held`."""
    return _compiled(function, {**_OPTIONS, "nogil": False})


def allocating(function: Callable[..., Any]) -> Any:
    """A kernel that may make arrays; all others work in the memory that they are given.

    Where arrays can be made, every view of one is counted, and counting is an atomic operation: in
    the loop over points it would take more time than the arithmetic.
    """
    return _part_or_kernel(function, {**_OPTIONS, "_nrt": True})


def leaf(function: Callable[..., Any]) -> Any:
    """A small kernel that becomes a part of the machine code of whatever calls it.

    Handing an array to a function that stays a function costs as much as fifty additions.
    """
    return _part_or_kernel(function, {**_OPTIONS, "forceinline": True})


def inner(function: Callable[..., Any]) -> Any:
    """A leaf for kernels alone: not to be called from Python.

    For functions of structures or of eight numbers at a time, which do not come from Python.
    """
    return _part(function, {**_OPTIONS, "forceinline": True})


def separate(function: Callable[..., Any]) -> Any:
    """A function that may stay a function: the compiler decides, by its length.

    For what is seldom called, or long and called from several places.
    """
    return _part_or_kernel(function, _OPTIONS)


def reduction(function: Callable[..., Any]) -> Any:
    """A leaf that may add numbers, none NaN, in any order: only so is a sum vectorised."""
    return _part_or_kernel(
        function,
        {**_OPTIONS, "fastmath": {"contract", "reassoc", "nsz", "nnan"}, "forceinline": True},
    )


def _part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compile `function` as far as those that call it need it; they are what is kept on disk."""
    if _CONFIG.DISABLE_JIT:
        return function
    return njit(**{**options, **_FOR_KERNELS_ALONE, **AS_A_PART})(function)


def _part_or_kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel to Python, which need not ever call it, and a part to other kernels."""
    dispatcher, part = _compiled(function, options), _part(function, options)
    if not _CONFIG.DISABLE_JIT:
        dispatcher.get_call_template = part.get_call_template
        dispatcher.get_overload = part.get_overload
    return dispatcher


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    if _CONFIG.DISABLE_JIT:
        return function
    options = {**options, **AS_A_KERNEL}
    try:
        dispatcher = njit(cache=True, **options)(function)
        cache = dispatcher._cache
        name = f"{cache._impl.filename_base}.{_DIGEST}"
        stamp = cache._impl.locator.get_source_stamp()
        cache._cache_file = IndexDataCacheFile(cache.cache_path, name, stamp)
    except (RuntimeError, AttributeError):  # no place to write, or a Numba of another make
        dispatcher = njit(**options)(function)
    return dispatcher


def paragraph(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of whatever calls it.

    For the parts of a story that depend on the kind of spreads: where a caller gives a constant,
    branches that it rules out are not even typed.
    """
    return function if _CONFIG.DISABLE_JIT else njit(inline="always", **_OPTIONS)(function)
