"""Arrays within an array: parts of one block of memory, named without a copy and without a call.

A slice that is reshaped does the same, but costs a kernel some forty calls, more time than it takes
to learn a point, and seconds to compile.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from spclust.array_types import Floats

_BYTES = 8  # of a float64
LINE = 8  # float64 in a cache line of 64 bytes
_WORD = ir.IntType(64)


def aligned(n: int, new: Callable[[int], Floats] = np.empty) -> Floats:
    """Memory for n numbers that starts with a cache line.

    Eight numbers that lie across two lines take twice the time to read, and ten times if they were
    written just before. With np.zeros as `new`, memory that is never written to costs nothing.
    """
    memory = new(n + LINE)
    start = -memory.ctypes.data // _BYTES % LINE
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


def new_array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """The value of an array in compiled code: contiguous, in memory that it does not own."""
    array = context.make_array(kind)(context, builder)
    strides = [_WORD(_BYTES)]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    nitems = shape[0]
    for extent in shape[1:]:
        nitems = builder.mul(nitems, extent)
    array.data = builder.bitcast(data, array.data.type)
    array.shape, array.strides = _packed(builder, shape), _packed(builder, strides)
    array.itemsize, array.nitems = _WORD(_BYTES), nitems
    array.meminfo, array.parent = (
        ir.Constant(each.type, None) for each in (array.meminfo, array.parent)
    )
    return array._getvalue()


def _packed(builder: Any, numbers: list[Any]) -> Any:
    packed = ir.Constant(ir.ArrayType(_WORD, len(numbers)), ir.Undefined)
    for i, number in enumerate(numbers):
        packed = builder.insert_value(packed, number, i)
    return packed


def _compile(function: Callable[..., Any], ndim: int) -> None:
    """Declare the compiled form of one of the functions above to Numba."""
    kind = types.Array(types.float64, ndim, "C")

    @type_callable(function)
    def typer(context: Any) -> Any:
        return (lambda memory, start, n: kind, lambda memory, start, n, k: kind)[ndim - 1]

    @lower_builtin(function, types.Array, *[types.Integer] * (ndim + 1))
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        memory = context.make_array(signature.args[0])(context, builder, args[0])
        start, *shape = (
            context.cast(builder, value, given, types.intp)
            for value, given in zip(args[1:], signature.args[1:], strict=True)
        )
        return new_array(context, builder, kind, builder.gep(memory.data, [start]), shape)


for _function, _ndim in ((row, 1), (matrix, 2)):
    _compile(_function, _ndim)
