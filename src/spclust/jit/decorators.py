"""How functions are compiled: a few decorators, one set of options, one cache.

A *kernel* is called from Python, and its machine code is kept on disk. A *part* is called by
kernels only: it is compiled into each kernel that calls it. With NUMBA_DISABLE_JIT=1 all of them
are plain Python, to step through.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba import njit

from spclust.jit import internals
from spclust.jit.cache import compiled_by_one_process, named_by_sources, with_cache

_CONFIG: Any = numba.config
COMPILED = not _CONFIG.DISABLE_JIT  # otherwise kernels are plain Python

# error_model="numpy": 1 / 0 is inf, not an exception. "contract" allows fused multiply-adds;
# nothing else of fastmath may be on, because the state holds infinities on purpose.
# Where parts are not inlined by `internals`, copies of one would be fused in different ways, and
# last bits would depend on how a stream is cut into calls: then nothing of it is on.
_FASTMATH: Any = {"contract"} if internals.ENABLED else False
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": _FASTMATH}
# None of NaN, in any order: only so is a sum vectorised.
_ANY_ORDER: Any = {"contract", "reassoc", "nsz", "nnan"} if internals.ENABLED else False


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use; keep the machine code on disk. It may make arrays.

    It releases the GIL while it runs. It has loops where NumPy has functions of whole arrays: each
    of these compiles for a tenth of a second, `median` or an assignment to a row for one or two.
    """
    return _kernel(function, nogil=True, **internals.ALLOCATION)


def lean_kernel(function: Callable[..., Any]) -> Any:
    """A kernel that makes no arrays: it works in memory that it is given, and holds the GIL.

    Where arrays can be made, every view of one is counted, and counting is an atomic operation: in
    the loop over points it would take more time than the arithmetic.
    """
    return _kernel(function, nogil=False, **internals.NO_ALLOCATION)


def _kernel(function: Callable[..., Any], **options: Any) -> Any:
    if not COMPILED:
        return function
    named_by_sources(function)
    options = {**_OPTIONS, **internals.KERNEL, **options}
    return compiled_by_one_process(with_cache(function, options))


def part(function: Callable[..., Any]) -> Any:
    """A part that is inlined: handing on arrays costs as much as fifty additions."""
    return _part(function, **internals.INLINED, **internals.NO_ALLOCATION)


def outlined(function: Callable[..., Any]) -> Any:
    """A part that may stay a function: the compiler decides, by its length.

    For what is seldom called, or long and called from several places.
    """
    return _part(function, **internals.OUTLINED, **internals.NO_ALLOCATION)


def reduction(function: Callable[..., Any]) -> Any:
    """A part that may add numbers, none NaN, in any order: only so is a sum vectorised."""
    options = {**internals.INLINED, **internals.NO_ALLOCATION}
    return _part(function, **{**options, "fastmath": _ANY_ORDER})


def allocating(function: Callable[..., Any]) -> Any:
    """A part that may make arrays."""
    return _part(function, **internals.OUTLINED, **internals.ALLOCATION)


def _part(function: Callable[..., Any], **options: Any) -> Any:
    if not COMPILED:
        return function
    return njit(**{**_OPTIONS, **internals.PART, **options})(function)


def specialised(function: Callable[..., Any], name: str) -> Any:
    """A lean kernel that is made anew for each kind of covariances: with a name of its own.

    The cache finds machine code by the name of its function.
    """
    function.__name__ += f"_{name}"
    function.__qualname__ += f"_{name}"
    return lean_kernel(function)
