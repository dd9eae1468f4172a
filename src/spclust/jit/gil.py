"""Release of the GIL inside of a kernel, depending on how long the kernel will take.

Numba's option `nogil` releases the GIL for every call. That is right for thousands of rows and
wrong for one point: a busy thread that gets the GIL keeps it for milliseconds, thousands of times
as long as the point takes. So the kernel that learns decides by the number of rows.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

_POINTER = ir.IntType(8).as_pointer()
_WORD = ir.IntType(64)


def _function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """A function of Python's C interface."""
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(result, arguments)
    return ir.Function(builder.module, kind, name) if known is None else known


def release(condition: bool) -> int:
    """Release the GIL if `condition` holds; what `acquire` has to be given."""
    return 0


def acquire(thread: int) -> None:
    """Acquire the GIL again if it was released."""


if not config.DISABLE_JIT:

    @intrinsic
    def release(typingctx: Any, condition: Any) -> Any:
        """The same in compiled code."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            before = builder.block
            with builder.if_then(args[0]):
                save = _function(builder, "PyEval_SaveThread", _POINTER, [])
                thread = builder.ptrtoint(builder.call(save, []), _WORD)
                inside = builder.block
            chosen = builder.phi(_WORD)
            chosen.add_incoming(_WORD(0), before)
            chosen.add_incoming(thread, inside)
            return chosen

        return types.intp(types.boolean), build

    @intrinsic
    def acquire(typingctx: Any, thread: Any) -> Any:
        """The same in compiled code."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            with builder.if_then(builder.icmp_signed("!=", args[0], _WORD(0))):
                restore = _function(builder, "PyEval_RestoreThread", ir.VoidType(), [_POINTER])
                builder.call(restore, [builder.inttoptr(args[0], _POINTER)])
            return context.get_dummy_value()

        return types.void(types.intp), build
