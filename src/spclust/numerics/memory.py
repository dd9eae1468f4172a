"""Arrays within an array: parts of one block of memory, named without a copy and without a call.

A slice that is reshaped does the same, but costs a kernel some forty calls, more time than it takes
to learn a point, and seconds to compile.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array

from spclust.arrays import Floats

_BYTES = 8  # of a float64
_LINE = 64  # bytes of a cache line


def aligned(n: int) -> Floats:
    """Memory for n numbers that starts with a cache line.

    Eight numbers that lie across two lines take twice the time to read, and ten times if they were
    written just before.
    """
    memory = np.empty(n + _LINE // _BYTES)
    start = -memory.ctypes.data % _LINE // _BYTES
    return memory[start : start + n]


def aligned_copy(array: Floats) -> Floats:
    """The same numbers in such memory."""
    memory = aligned(array.size)
    memory[:] = array
    return memory


def row(memory: Any, start: int, n: int) -> Any:
    """The n numbers of `memory` from `start` on."""
    return memory[start : start + n]


def matrix(memory: Any, start: int, n: int, k: int) -> Any:
    """An array (n, k) that lies in `memory` from `start` on."""
    return memory[start : start + n * k].reshape(n, k)


def cube(memory: Any, start: int, n: int, k: int, m: int) -> Any:
    """An array (n, k, m) that lies in `memory` from `start` on."""
    return memory[start : start + n * k * m].reshape(n, k, m)


def _compile(function: Callable[..., Any], ndim: int) -> None:
    """Teach Numba what one of the functions above is in compiled code."""
    kind = types.Array(types.float64, ndim, "C")

    @type_callable(function)
    def typer(context: Any) -> Any:
        return (
            lambda memory, start, n: kind,
            lambda memory, start, n, k: kind,
            lambda memory, start, n, k, m: kind,
        )[ndim - 1]

    @lower_builtin(function, types.Array, *[types.Integer] * (ndim + 1))
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        memory = make_array(signature.args[0])(context, builder, args[0])
        start, *shape = (
            context.cast(builder, value, given, types.intp)
            for value, given in zip(args[1:], signature.args[1:], strict=True)
        )
        strides = [ir.Constant(ir.IntType(64), _BYTES)]
        for extent in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], extent))
        part = make_array(kind)(context, builder)
        populate_array(
            part,
            data=builder.gep(memory.data, [start]),
            shape=shape,
            strides=strides,
            itemsize=strides[-1],
            meminfo=None,
        )
        return part._getvalue()


for _function, _ndim in ((row, 1), (matrix, 2), (cube, 3)):
    _compile(_function, _ndim)
