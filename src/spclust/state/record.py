"""Records: named numbers and arrays in one block of memory, in Python and in kernels.

A record class declares its fields, as a table does:

    class Structures(Record):
        live = Integer()              # a word of eight bytes
        n = Extent()                  # the length of an axis
        weight = Array("n")           # an array in the same memory

The memory starts with the words and the offset of each array; the arrays follow. Kernels get the
memory as an array, and `in_kernel` makes a record of it again. There a record is one pointer, and a
field is read where it is used: passing thirty arrays instead of one pointer would take more time to
compile than all of the arithmetic.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import (
    intrinsic,
    lower_setattr_generic,
    models,
    overload_attribute,
    register_model,
)

from spclust.array_types import Floats
from spclust.jit.internals import declare_attributes
from spclust.numerics.memory import LINE, aligned, new_array

Value = TypeVar("Value", int, float, bool)

_WORD, _FLOAT = ir.IntType(64), ir.DoubleType()


class Word(Generic[Value]):
    """A number of a record."""

    dtype: ClassVar[Any]
    compiled: ClassVar[Any]
    name: str
    place: int  # in words

    def __init__(self, *, constant: bool = False) -> None:
        self.constant = constant  # in kernels: it may be read once, whatever is written since

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Value:
        value: Value = record.words[self.dtype][self.place].item()
        return value

    def __set__(self, record: Any, value: Value) -> None:
        record.words[self.dtype][self.place] = value


class Integer(Word[int]):
    """A whole number."""

    dtype, compiled = np.int64, types.int64


class Extent(Integer):
    """The length of an axis: it stays the same for as long as the memory does."""

    def __init__(self) -> None:
        super().__init__(constant=True)


class Real(Word[float]):
    """A floating-point number."""

    dtype, compiled = np.float64, types.float64


class Flag(Word[bool]):
    """True or False."""

    dtype, compiled = np.bool_, types.boolean


class Array:
    """An array of a record; its axes are named after extents, or have a number as length."""

    name: str
    place: int  # of its offset, in words

    def __init__(self, axes: str, dtype: Any = np.float64) -> None:
        self.axes = tuple(int(axis) if axis.isdigit() else axis for axis in axes.split())
        self.dtype = dtype
        number = types.int64 if dtype is np.int64 else types.float64
        self.compiled = types.Array(number, len(self.axes), "C")

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        return record.views[self.name]

    def shape(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """The lengths of its axes."""
        return tuple(axis if isinstance(axis, int) else extents[axis] for axis in self.axes)

    def size(self, extents: Mapping[str, int]) -> int:
        """Words that it takes, up to the next cache line."""
        return -(-prod(self.shape(extents)) // LINE) * LINE


class Together(Array):
    """Several arrays of one axis, declared one after the other, as the rows of one array."""

    def __init__(self, first: str, last: str) -> None:
        self.first, self.last = first, last

    def join(self, fields: Mapping[str, Any]) -> None:
        """Find the rows among the fields."""
        names = list(fields)
        rows = names[names.index(self.first) : names.index(self.last) + 1]
        super().__init__(f"{len(rows)} {fields[self.first].axes[0]}")
        self.place = fields[self.first].place


class Record:
    """Named numbers and arrays that share one block of memory."""

    fields: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.fields = {name: it for name, it in vars(cls).items() if isinstance(it, Word | Array)}
        for place, field in enumerate(cls.fields.values()):
            field.place = place
        for field in cls.fields.values():
            if isinstance(field, Together):
                field.join(cls.fields)
        if not _ALL_ATTRIBUTES:
            for name in (*cls.fields, "covariance"):
                declare_attribute(name)

    def __init__(self, memory: Floats) -> None:
        self.memory = memory
        head = memory[: len(self.fields)]
        # A flag is a word, too: its first byte, which is the lowest one, tells.
        self.words = {
            np.float64: head,
            np.int64: head.view(np.int64),
            np.bool_: head.view(np.bool_)[::8],
        }
        integers, extents = self.words[np.int64], self.extents
        self.views = {}
        for array in self.arrays():
            start, shape = int(integers[array.place]), array.shape(extents)
            part = memory[start : start + prod(shape)]
            self.views[array.name] = part.view(array.dtype).reshape(shape)

    @classmethod
    def arrays(cls) -> Iterator[Array]:
        """The fields that are arrays."""
        return (field for field in cls.fields.values() if isinstance(field, Array))

    @classmethod
    def _stored(cls) -> Iterator[Array]:
        return (array for array in cls.arrays() if not isinstance(array, Together))

    @property
    def extents(self) -> dict[str, int]:
        """The lengths of all axes."""
        return {name: getattr(self, name) for name, it in self.fields.items() if type(it) is Extent}

    def copy_words(self, other: Any) -> None:
        """Copy all numbers of another record but the lengths of axes. Modified in place: self."""
        for name, field in self.fields.items():
            if isinstance(field, Word) and not isinstance(field, Extent):
                setattr(self, name, getattr(other, name))

    @classmethod
    def size(cls, extents: Mapping[str, int]) -> int:
        """Words of memory that a record takes."""
        head = -(-len(cls.fields) // LINE) * LINE
        return head + sum(array.size(extents) for array in cls._stored())

    @classmethod
    def empty(cls, extents: Mapping[str, int]) -> Any:
        """A record in new memory, all of it 0."""
        memory = aligned(cls.size(extents), np.zeros)
        integers, start = memory.view(np.int64), -(-len(cls.fields) // LINE) * LINE
        for name, extent in extents.items():
            integers[cls.fields[name].place] = extent
        for array in cls._stored():
            integers[array.place] = start
            start += array.size(extents)
        return cls(memory)


class RecordType(types.Type):
    """A record in a kernel: a pointer to its memory, and the extents that the compiler knows."""

    def __init__(
        self, record: type[Record], extents: Mapping[str, int], constants: Mapping[str, Any]
    ) -> None:
        self.record, self.known, self.constants = record, dict(extents), dict(constants)
        super().__init__(name=f"{record.__name__}({self.known}, {self.constants})")

    def type_of(self, name: str) -> Any:
        """The type of a field; None if there is none of that name."""
        if name in self.constants:
            return types.Module(self.constants[name])
        field = self.record.fields.get(name)
        return None if field is None else field.compiled


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOAT.as_pointer())


def _place(builder: Any, record: Any, place: int, kind: Any) -> Any:
    """Pointer to a word of a record."""
    return builder.bitcast(builder.gep(record, [_WORD(place)]), kind.as_pointer())


def _word(builder: Any, record: Any, place: int, kind: Any, constant: bool) -> Any:
    """A word of a record."""
    word = builder.load(_place(builder, record, place, kind))
    if constant:
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _read(context: Any, builder: Any, kind: RecordType, record: Any, name: str) -> Any:
    """The value of a field in compiled code."""
    if name in kind.constants:
        return context.get_dummy_value()
    if name in kind.known:
        return _WORD(kind.known[name])
    field = kind.record.fields[name]
    if isinstance(field, Array):
        shape = [
            _WORD(axis) if isinstance(axis, int) else _read(context, builder, kind, record, axis)
            for axis in field.axes
        ]
        data = builder.gep(record, [_word(builder, record, field.place, _WORD, True)])
        return new_array(context, builder, field.compiled, data, shape)
    number = _FLOAT if isinstance(field, Real) else _WORD
    word = _word(builder, record, field.place, number, field.constant)
    return builder.trunc(word, ir.IntType(1)) if isinstance(field, Flag) else word


def _write(context: Any, builder: Any, signature: Any, args: Any, name: str) -> None:
    """Write the value of a field in compiled code."""
    record, value = args
    field = signature.args[0].record.fields[name]
    if isinstance(field, Flag):
        value = builder.zext(value, _WORD)
    builder.store(value, _place(builder, record, field.place, value.type))


lower_setattr_generic(RecordType)(_write)
_ALL_ATTRIBUTES = declare_attributes(RecordType, RecordType.type_of, _read)


@cache
def declare_attribute(name: str) -> None:
    """Declare one attribute of records to Numba, by its public interface."""

    @intrinsic
    def value(typingctx: Any, record: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _read(context, builder, record, args[0], name)

        return record.type_of(name)(record), build

    # Both functions have to have the same signature, without types.
    overload_attribute(RecordType, name)(
        lambda record: None if record.type_of(name) is None else lambda record: value(record)
    )
