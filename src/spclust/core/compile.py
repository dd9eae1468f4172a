"""How the kernels are compiled: one decorator, one set of options, one trustworthy cache."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

_CONFIG: Any = numba.config

# error_model="numpy": 1 / 0 is inf, not an exception. "contract" allows fused multiply-adds;
# nothing else of fastmath may be on, because the state holds infinities on purpose.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "nogil": True,
    "_nrt": False,
}


def _digest_of_sources() -> str:
    """A name for the present state of all kernels' files."""
    content = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.blake2b(content, digest_size=8).hexdigest()


_DIGEST = _digest_of_sources()


class _SuperwordVectors:
    """While kernels are compiled, let LLVM turn adjacent scalar operations into vector ones.

    Numba has this off by default and knows no option for a single function. `lanes` needs it: there
    it doubles the speed of the distances. Without it everything works, only slower.
    """

    def __enter__(self) -> None:
        self.before = _CONFIG.SLP_VECTORIZE
        _CONFIG.SLP_VECTORIZE = 1

    def __exit__(self, *_: object) -> None:
        _CONFIG.SLP_VECTORIZE = self.before


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use and keep the machine code on disk for later processes.

    Numba alone would notice a change in the file of the kernel itself but not in the files of the
    kernels that it calls, and would go on running the old code; so the name of what is kept has the
    content of all of them in it. Where no directory can be written, nothing is kept. With
    NUMBA_DISABLE_JIT=1 kernels are plain Python, to step through.
    """
    return _compiled(function, _OPTIONS)


def allocating(function: Callable[..., Any]) -> Any:
    """A kernel that may make arrays; all others work in the memory that they are given.

    Where arrays can be made, every view of one is counted, and counting is an atomic operation: in
    the loop over points it would take more time than the arithmetic.
    """
    return _compiled(function, {**_OPTIONS, "_nrt": True})


def leaf(function: Callable[..., Any]) -> Any:
    """A small kernel that becomes a part of the machine code of whatever calls it.

    Handing an array to a function that stays a function costs as much as fifty additions.
    """
    return _compiled(function, {**_OPTIONS, "forceinline": True})


def reduction(function: Callable[..., Any]) -> Any:
    """A leaf that may add numbers, none NaN, in any order: only so is a sum vectorised."""
    return _compiled(
        function,
        {**_OPTIONS, "fastmath": {"contract", "reassoc", "nsz", "nnan"}, "forceinline": True},
    )


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    if _CONFIG.DISABLE_JIT:
        return function
    try:
        dispatcher = njit(cache=True, **options)(function)
        cache = dispatcher._cache
        name = f"{cache._impl.filename_base}.{_DIGEST}"
        stamp = cache._impl.locator.get_source_stamp()
        cache._cache_file = IndexDataCacheFile(cache.cache_path, name, stamp)
    except (RuntimeError, AttributeError):  # no place to write, or a Numba of another make
        dispatcher = njit(**options)(function)
    compile_signature = dispatcher.compile

    def compile_with_vectors(signature: Any) -> Any:
        with global_compiler_lock, _SuperwordVectors():
            return compile_signature(signature)

    dispatcher.compile = compile_with_vectors
    return dispatcher


def paragraph(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of whatever calls it.

    For the parts of a long story: they read as functions of their own and are optimised once, with
    their caller, where nested kernels would be optimised again at each level of calls.
    """
    return function if _CONFIG.DISABLE_JIT else njit(inline="always", **_OPTIONS)(function)
