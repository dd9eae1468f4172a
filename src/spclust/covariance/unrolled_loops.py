"""Loops over a few features, written out for a number of features that the compiler knows.

A loop over ten features spends half of its time on being a loop. Here the compiler is handed the
operations one by one, in the order in which `full` has them. The first argument of each function,
the state, only tells the number of features.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from spclust.numerics.eight import EIGHT, FUSED, declared, everywhere, fused, place_of

_written_out: Any = intrinsic
_WORD = ir.IntType(64)


class _Writer:
    """Writes instructions for arrays that a function was given."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.args = context, builder, args
        self.kinds = signature.args

    def eight(self, array: int, i: int) -> Any:
        """Row i of an argument of shape (rows, 8)."""
        where = types.void(self.kinds[array])
        place = place_of(self.context, self.builder, where, self.args[array], _WORD(i))
        return self.builder.load(place, align=8)

    def eight_times(self, array: int, i: int) -> Any:
        """Eight times number i of an argument of shape (t,)."""
        return everywhere(self.builder, self.number(array, i))

    def place(self, array: int, i: int) -> Any:
        """Pointer to number i of an argument, whatever its shape."""
        kind = self.kinds[array]
        data = self.context.make_array(kind)(self.context, self.builder, self.args[array]).data
        return self.builder.gep(data, [_WORD(i)])

    def number(self, array: int, i: int) -> Any:
        """Number i of an argument."""
        return self.builder.load(self.place(array, i))

    def row(self, array: int, i: int, n: int) -> Any:
        """The n numbers of an argument from its number i on."""
        kind = ir.VectorType(ir.DoubleType(), n).as_pointer()
        return self.builder.load(self.builder.bitcast(self.place(array, i), kind), align=8)

    def store_row(self, row: Any, array: int, i: int) -> None:
        """Write numbers to an argument, from its number i on."""
        place = self.builder.bitcast(self.place(array, i), row.type.as_pointer())
        self.builder.store(row, place, align=8)

    def gathered(self, numbers: Sequence[Any]) -> Any:
        """Numbers side by side."""
        row = ir.Constant(ir.VectorType(ir.DoubleType(), len(numbers)), ir.Undefined)
        for i, number in enumerate(numbers):
            row = self.builder.insert_element(row, number, _WORD(i))
        return row

    def repeated(self, number: Any, n: int) -> Any:
        """The same number n times, side by side."""
        return self.gathered([number] * n)

    def root(self, row: Any) -> Any:
        """Square roots of numbers side by side."""
        kind = ir.FunctionType(row.type, [row.type])
        name = f"llvm.sqrt.v{row.type.count}f64"
        return self.builder.call(declared(self.builder, kind, name), [row])

    def dot(self, factors: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """Sum of products, from the first to the last; 0 if there are none."""
        total = None
        for factor, number in zip(factors, numbers, strict=True):
            total = fused(self.builder, factor, number, total)
        return total


def _features(state: Any) -> int:
    return int(state.known["d"])


@_written_out
def squares_in_one_unrolled(typingctx: Any, state: Any, W: Any, offset: Any) -> Any:
    """`full.squares_in_one` for W (t,) and offset (d, 8)."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder, signature, args)
        e = [write.eight(2, c) for c in range(d)]
        squares, t = None, 0
        for r in range(d):
            w = [write.eight_times(1, t + c) for c in range(r + 1)]
            y = write.dot(w[::2], e[: r + 1 : 2])
            if r > 0:
                y = builder.fadd(y, write.dot(w[1::2], e[1 : r + 1 : 2]))
            squares = fused(builder, y, y, squares)
            t += r + 1
        return squares

    return EIGHT(state, W, offset), build


@_written_out
def squares_in_each_unrolled(typingctx: Any, state: Any, W: Any, offset: Any) -> Any:
    """`full.squares_in_each` for W (t, 8) and offsets (d, 8)."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _squares(_Writer(context, builder, signature, args), d, (2,))[0]

    return EIGHT(state, W, offset), build


@_written_out
def two_squares_in_each_unrolled(
    typingctx: Any, state: Any, W: Any, first: Any, second: Any
) -> Any:
    """`full.two_squares_in_each` for W (t, 8) and two sets of offsets (d, 8)."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        squares = _squares(_Writer(context, builder, signature, args), d, (2, 3))
        return context.make_tuple(builder, signature.return_type, squares)

    return types.UniTuple(EIGHT, 2)(state, W, first, second), build


def _squares(write: _Writer, d: int, offsets: Sequence[int]) -> list[Any]:
    """Squared lengths of W e, for each argument e (d, 8); argument 1 is W (t, 8)."""
    numbers = [[write.eight(k, c) for c in range(d)] for k in offsets]
    squares: list[Any] = [None] * len(numbers)
    t = 0
    for r in range(d):
        w = [write.eight(1, t + c) for c in range(r + 1)]
        for k, e in enumerate(numbers):
            y = write.dot(w, e[: r + 1])
            squares[k] = fused(write.builder, y, y, squares[k])
        t += r + 1
    return squares


@_written_out
def times_vector_unrolled(typingctx: Any, state: Any, W: Any, e: Any, p: Any) -> Any:
    """`times_vector`. Modified in place: p."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder, signature, args)
        numbers = [write.number(2, c) for c in range(d)]
        square, t = None, 0
        for r in range(d):
            y = write.dot([write.number(1, t + c) for c in range(r + 1)], numbers[: r + 1])
            builder.store(y, write.place(3, r))
            square = fused(builder, y, y, square)
            t += r + 1
        return square

    return types.float64(state, W, e, p), build


@_written_out
def add_square_unrolled(typingctx: Any, state: Any, Sigma: Any, share: Any, e: Any) -> Any:
    """`add_square`. Modified in place: Sigma."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder, signature, args)
        shares = write.repeated(args[2], d)
        moved = builder.fmul(write.row(3, 0, d), shares)
        rows = [write.row(1, r * d, d) for r in range(d)]
        for r in range(d):
            along = write.repeated(builder.extract_element(moved, _WORD(r)), d)
            write.store_row(fused(builder, along, moved, rows[r]), 1, r * d)
        return context.get_dummy_value()

    return types.void(state, Sigma, types.float64, e), build


@_written_out
def renew_inverse_unrolled(typingctx: Any, state: Any, W: Any, p: Any, share: Any) -> Any:
    """`renew_inverse` for share p. Modified in place: W."""
    d = _features(state)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder, signature, args)
        p = [builder.fmul(write.number(2, r), args[3]) for r in range(d)]
        squares = [ir.Constant(ir.DoubleType(), 1.0)]
        for each in p:
            squares.append(fused(builder, each, each, squares[-1]))
        root = write.root(write.gathered(squares[1:]))
        before = write.root(write.gathered(squares[:-1]))
        kept = builder.fdiv(before, root)
        taken = builder.fdiv(write.gathered(p), builder.fmul(before, root))
        sums: list[Any] = []
        t = 0
        for r in range(d):
            keep, take = (builder.extract_element(each, _WORD(r)) for each in (kept, taken))
            for c in range(r + 1):
                w = write.number(1, t + c)
                new = builder.fmul(keep, w, flags=() if c == r else FUSED)
                if c < r:
                    new = builder.fsub(new, builder.fmul(take, sums[c]), flags=FUSED)
                    sums[c] = fused(builder, p[r], w, sums[c])
                else:
                    sums.append(builder.fmul(p[r], w))
                builder.store(new, write.place(1, t + c))
            t += r + 1
        return context.get_dummy_value()

    return types.void(state, W, p, types.float64), build
