"""How to compile a kernel sooner: Numba does a few things again and again that need doing once.

All of it lasts while a kernel is compiled, and leaves the machine code as it is.
"""

import copy
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import Compiler
from numba.core.ir import Scope, VarMap
from numba.core.types.functions import BaseFunction


def _copy_of_scope(scope: Any, memo: dict[int, Any]) -> Any:
    """A scope of its own that has the same variables, which nobody changes.

    Where Numba writes one function out into another, it copies every variable of it for every block
    of it: up to a sixth of the time.
    """
    copied = copy.copy(scope)
    copied.localvars = VarMap()
    copied.localvars._con = dict(scope.localvars._con)
    copied.redefined = copy.copy(scope.redefined)
    copied.var_redefinitions = copy.deepcopy(scope.var_redefinitions)
    memo[id(scope)] = copied
    return copied


def _remembering(resolve: Any) -> Any:
    """What a function returns for arguments of some types, looked up once.

    For each `x + y` of the source Numba tries all that `+` may mean, up to sets and strings: for
    five thousand operations, a fifth of the time.
    """
    found: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return resolve(self, context, args, kws)
        key = self, tuple(args)
        if key not in found:
            found[key] = resolve(self, context, args, kws)
        return found[key]

    return get_call_type


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Millions of objects live until the end: to look for garbage among them is a seventh.

    Threads that do something else meanwhile keep theirs as long.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def _haste() -> Iterator[None]:
    """All of this; nothing within another one."""
    if hasattr(Scope, "__deepcopy__"):
        yield
        return
    resolve = BaseFunction.get_call_type
    try:
        setattr(Scope, "__deepcopy__", _copy_of_scope)  # noqa: B010 - unknown to type checkers
        setattr(BaseFunction, "get_call_type", _remembering(resolve))  # noqa: B010
        with _garbage_kept():
            yield
    finally:
        setattr(BaseFunction, "get_call_type", resolve)  # noqa: B010
        if hasattr(Scope, "__deepcopy__"):
            delattr(Scope, "__deepcopy__")


class _KernelCompiler(Compiler):
    """Numba's compiler, for kernels."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function of Python."""
        with _haste():
            return super().compile_extra(func)


# Options for `njit`. A Numba of another make has none, and takes longer to compile.
AS_A_KERNEL: dict[str, Any] = (
    {"pipeline_class": _KernelCompiler}
    if hasattr(VarMap(), "_con")
    and not hasattr(Scope, "__deepcopy__")
    and hasattr(BaseFunction, "get_call_type")
    else {}
)
