"""Eight structures at a time: a type for the eight numbers of one vector register.

Means and factors are stored in blocks of eight structures, so that the same entry of eight of them
lies side by side. Compilers turn a loop over them into vector instructions only if they can prove
that what the loop writes is not what it reads next, which here they never can. So the eight numbers
are a type of their own, `Eight`, with the four operations; what is written with it becomes vector
instructions without further ado: two of four numbers each where the machine has no registers of
eight. A plain number stands for eight equal ones. Where compilation is switched off, an array of
eight numbers takes the place of an `Eight`.
"""

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from spclust.jit import internals
from spclust.numerics import eight_python

LANES = 8
ALL = 2**LANES - 1  # the bits of eight comparisons, if all hold
Eight: TypeAlias = Any

_FLOAT, _WORD = ir.DoubleType(), ir.IntType(64)
VECTOR, WORDS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_WORD, LANES)
# A product and a sum may become one operation, which rounds once, where all copies of a part do.
FUSED = ("contract",) if internals.ENABLED else ()
_NO_NAN = ("nnan", "nsz")


class _EightType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Eight")


@register_model(_EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


EIGHT = _EightType()
_vector_function: Any = intrinsic


def declared(builder: Any, kind: Any, name: str) -> Any:
    """An intrinsic function of LLVM, by its name."""
    known = builder.module.globals.get(name)
    return ir.Function(builder.module, kind, name) if known is None else known


def place_of(context: Any, builder: Any, signature: Any, array: Any, i: Any) -> Any:
    """Pointer to eight numbers: from place i of a row on, or row i of a (rows, 8) array."""
    kind = signature.args[0]
    data = context.make_array(kind)(context, builder, array).data
    first = builder.mul(i, ir.Constant(_WORD, LANES)) if kind.ndim == 2 else i
    return builder.bitcast(builder.gep(data, [first]), VECTOR.as_pointer())


@_vector_function
def load(typingctx: Any, a: Any, i: Any) -> Any:
    """The numbers a[i : i + 8] of a row, or a[i] of an array (rows, 8)."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(place_of(context, builder, signature, *args), align=8)

    return EIGHT(a, types.intp), build


@_vector_function
def store(typingctx: Any, y: Any, a: Any, i: Any) -> Any:
    """Write y to a[i : i + 8] of a row, or to a[i] of an array (rows, 8)."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        y, a, i = args
        where = types.void(*signature.args[1:])
        builder.store(y, place_of(context, builder, where, a, i), align=8)
        return context.get_dummy_value()

    return types.void(EIGHT, a, types.intp), build


def _before(builder: Any, i: Any, end: Any) -> Any:
    """True for each of the places i to i + 7 that is before `end`."""
    places = ir.Constant(WORDS, list(range(LANES)))
    return builder.icmp_signed("<", places, everywhere(builder, builder.sub(end, i)))


@_vector_function
def load_until(typingctx: Any, row: Any, i: Any, end: Any) -> Any:
    """The numbers row[i : i + 8], and 0 for those at `end` and behind it, which are not read."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, i, end = args
        place = place_of(context, builder, types.void(signature.args[0]), row, i)
        given = [place, ir.IntType(32)(8), _before(builder, i, end), ir.Constant(VECTOR, None)]
        kind = ir.FunctionType(VECTOR, [each.type for each in given])
        name = "llvm.masked.load.v8f64.p0"
        return builder.call(declared(builder, kind, name), given)

    return EIGHT(row, types.intp, types.intp), build


@_vector_function
def store_until(typingctx: Any, y: Any, row: Any, i: Any, end: Any) -> Any:
    """Write y to row[i : i + 8], but nothing at `end` and behind it."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        y, row, i, end = args
        place = place_of(context, builder, types.void(signature.args[1]), row, i)
        given = [y, place, ir.IntType(32)(8), _before(builder, i, end)]
        kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
        name = "llvm.masked.store.v8f64.p0"
        builder.call(declared(builder, kind, name), given)
        return context.get_dummy_value()

    return types.void(EIGHT, row, types.intp, types.intp), build


@_vector_function
def same(typingctx: Any, x: Any) -> Any:
    """Eight times the number x."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return everywhere(builder, args[0])

    return EIGHT(types.float64), build


@_vector_function
def same_at(typingctx: Any, row: Any, i: Any) -> Any:
    """Eight times the number row[i], i >= 0."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return everywhere(builder, builder.load(builder.gep(data, [args[1]])))

    return EIGHT(row, types.intp), build


def everywhere(builder: Any, number: Any) -> Any:
    """A vector of eight times the same number, of whatever type."""
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    one = builder.insert_element(nothing, number, _WORD(0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(one, nothing, first)


def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """The vector a b + c, rounded once where the machine can do that; a b if c is None."""
    product = builder.fmul(a, b, flags=FUSED if c is not None else ())
    return product if c is None else builder.fadd(c, product, flags=FUSED)


@_vector_function
def add_product(typingctx: Any, total: Any, a: Any, b: Any) -> Any:
    """The sum total + a b, rounded once where the machine can do that.

    In a sum of two products the compiler otherwise decides which one is fused with the sum.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, a, b = args
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        return builder.call(declared(builder, kind, "llvm.fmuladd.v8f64"), [a, b, total])

    return EIGHT(EIGHT, EIGHT, EIGHT), build


def _lane_by_lane(operation: Callable[..., Any], instruction: str) -> None:
    """Teach Numba an operation on two Eights, or on an Eight and a number."""

    @type_callable(operation)
    def type_it(context: Any) -> Any:
        def typer(a: Any, b: Any) -> Any:
            eights = isinstance(a, _EightType), isinstance(b, _EightType)
            numbers = isinstance(a, types.Float), isinstance(b, types.Float)
            if all(eights) or (eights[0] and numbers[1]) or (numbers[0] and eights[1]):
                return EIGHT
            return None

        return typer

    @lower_builtin(operation, _EightType, _EightType)
    @lower_builtin(operation, _EightType, types.Float)
    @lower_builtin(operation, types.Float, _EightType)
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = (a if a.type == VECTOR else everywhere(builder, a) for a in args)
        return getattr(builder, instruction)(*vectors, flags=FUSED)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _lane_by_lane(_operation, _instruction)


def _call(builder: Any, name: str, result: Any, args: Any) -> Any:
    """Call an intrinsic function of LLVM on vectors without NaN."""
    kind = ir.FunctionType(result, [VECTOR] * len(args))
    function = declared(builder, kind, name)
    return builder.call(function, args, fastmath=_NO_NAN)


def _of_one(name: str, result: Any, gives: Any) -> Any:
    @_vector_function
    def function(typingctx: Any, a: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _call(builder, name, result, args)

        return gives(EIGHT), build

    return function


def _of_two(name: str) -> Any:
    @_vector_function
    def function(typingctx: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _call(builder, name, VECTOR, args)

        return EIGHT(EIGHT, EIGHT), build

    return function


# The smaller, or larger, of two, lane by lane; the smallest, or largest, of the eight; square
# roots; the nearest whole numbers.
smaller_of, larger_of = _of_two("llvm.minnum.v8f64"), _of_two("llvm.maxnum.v8f64")
smallest_of = _of_one("llvm.vector.reduce.fmin.v8f64", _FLOAT, types.float64)
largest_of = _of_one("llvm.vector.reduce.fmax.v8f64", _FLOAT, types.float64)
root_of = _of_one("llvm.sqrt.v8f64", VECTOR, EIGHT)
rounded = _of_one("llvm.rint.v8f64", VECTOR, EIGHT)


def _comparison(sign: str) -> Any:
    """A function that compares two Eights: bit k of the number that it gives is about lane k."""

    @_vector_function
    def compare(typingctx: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            bits = builder.bitcast(builder.fcmp_ordered(sign, *args), ir.IntType(LANES))
            return builder.zext(bits, _WORD)

        return types.int64(EIGHT, EIGHT), build

    return compare


equal_bits, below_bits = _comparison("=="), _comparison("<")


@_vector_function
def sum_of(typingctx: Any, a: Any) -> Any:
    """Sum of the eight, in no particular order."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_FLOAT, [_FLOAT, VECTOR])
        name = "llvm.vector.reduce.fadd.v8f64"
        add = declared(builder, kind, name)
        return builder.call(add, [_FLOAT(0.0), *args], fastmath=("reassoc",))

    return types.float64(EIGHT), build


@_vector_function
def if_below(typingctx: Any, a: Any, limit: Any, this: Any, that: Any) -> Any:
    """The lanes of `this` where a < limit, those of `that` elsewhere."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, limit, this, that = args
        return builder.select(builder.fcmp_ordered("<", a, limit), this, that)

    return EIGHT(EIGHT, EIGHT, EIGHT, EIGHT), build


@_vector_function
def first_bit(typingctx: Any, bits: Any) -> Any:
    """Number of the lowest bit that is 1 in a number that is not 0."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


if numba.config.DISABLE_JIT:
    for _name in eight_python.__all__:
        globals()[_name] = getattr(eight_python, _name)
