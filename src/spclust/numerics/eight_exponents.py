"""Powers of two in eight numbers at a time: read from, taken out of, and added to their bits."""

from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic

from spclust.numerics import eight_python
from spclust.numerics.eight import EIGHT, LANES, VECTOR, WORDS

_vector_function: Any = intrinsic

# An integer k of moderate size, added to this float, lies in the lowest bits of the sum.
_INTEGER_IN_BITS = 1.5 * 2.0**52
_ROOT_OF_HALF_BITS = 0x3FE6A09E667F3BCD
_EXPONENT_PLACE = 52


def _exponent(builder: Any, a: Any) -> tuple[Any, Any]:
    """Bits of a float, and the k for which a / 2^k is between the roots of 1/2 and 2."""
    bits = builder.bitcast(a, WORDS)
    above = builder.sub(bits, _words(_ROOT_OF_HALF_BITS))
    return bits, builder.ashr(above, _words(_EXPONENT_PLACE))


def _words(value: int) -> Any:
    return ir.Constant(WORDS, [value] * LANES)


@_vector_function
def power_of_two_in(typingctx: Any, a: Any) -> Any:
    """The k for which a / 2^k is between the roots of 1/2 and 2; a is positive and normal."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, k = _exponent(builder, args[0])
        offset = ir.Constant(VECTOR, [_INTEGER_IN_BITS] * LANES)
        moved = builder.bitcast(builder.add(k, builder.bitcast(offset, WORDS)), VECTOR)
        return builder.fsub(moved, offset)

    return EIGHT(EIGHT), build


@_vector_function
def without_power_of_two(typingctx: Any, a: Any) -> Any:
    """The quotient a / 2^k between the roots of 1/2 and 2; a is positive and normal."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, k = _exponent(builder, args[0])
        return builder.bitcast(builder.sub(bits, builder.shl(k, _words(_EXPONENT_PLACE))), VECTOR)

    return EIGHT(EIGHT), build


@_vector_function
def times_power_of_two(typingctx: Any, a: Any, k: Any) -> Any:
    """The product a * 2^k for whole numbers k; it and a are positive and normal."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, k = args
        offset = ir.Constant(VECTOR, [_INTEGER_IN_BITS] * LANES)
        added = builder.shl(
            builder.bitcast(builder.fadd(k, offset), WORDS), _words(_EXPONENT_PLACE)
        )
        return builder.bitcast(builder.add(builder.bitcast(a, WORDS), added), VECTOR)

    return EIGHT(EIGHT, EIGHT), build


if numba.config.DISABLE_JIT:
    for _name in ("power_of_two_in", "without_power_of_two", "times_power_of_two"):
        globals()[_name] = getattr(eight_python, _name)
