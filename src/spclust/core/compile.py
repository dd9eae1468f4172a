"""How the kernels are compiled: one decorator, one set of options, one trustworthy cache."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

# error_model="numpy": 1 / 0 is inf, not an exception. "contract" allows fused multiply-adds;
# nothing else of fastmath may be on, because the state holds infinities on purpose.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}


def _newest_source() -> tuple[float, int]:
    """(time of last change, total bytes) over all kernels' files."""
    stats = [file.stat() for file in Path(__file__).parent.glob("*.py")]
    return max(s.st_mtime for s in stats), sum(s.st_size for s in stats)


_SOURCE_STAMP = _newest_source()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use and keep the machine code on disk for later processes.

    Numba alone would notice a change in the file of the kernel itself but not in the files of the
    kernels that it calls, and would go on running the old code; so the cache is stamped with the
    newest change in any of them. Where no directory can be written, nothing is kept.
    """
    try:
        compiled = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return njit(**_OPTIONS)(function)
    compiled._cache._cache_file._source_stamp = _SOURCE_STAMP
    return compiled


def paragraph(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of whatever calls it.

    For the parts of a long story: they read as functions of their own and are optimised once, with
    their caller, where nested kernels would be optimised again at each level of calls.
    """
    return njit(inline="always", **_OPTIONS)(function)
