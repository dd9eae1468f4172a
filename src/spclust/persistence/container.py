"""The container of saved models: a header of plain values and named arrays, as bytes and back.

Nothing here depends on what a model is. docs/reference/file_format.md has the format
byte by byte. Reading runs no code from the bytes; arrays take no memory besides the bytes
themselves.
"""

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Mapping
from datetime import timedelta
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from spclust.durations import duration_seconds
from spclust.persistence.atomic_file import AnyPath

Array: TypeAlias = npt.NDArray[Any]

MAGIC = b"SPCLUST\x00"
VERSION = 5
_PREFIX = struct.Struct("<8sIQQ")  # magic, version, length of everything, length of the header
_VERSION_AT = slice(8, 12)
_DIGEST = hashlib.sha256
_DIGEST_SIZE = 32
_LONGEST_HEADER = 2**30  # bytes
_MEMORY_OF_A_BYTE = 32  # bytes, at most, that one of JSON may take as Python objects
_ANOTHER_COPY = "save the model again, or take another copy"
_AT_ONCE = 1 << 24  # bytes that are read of a file whose length is not known
_DTYPES = ("<f8", "<i8", "|u1", "<u2", "<u4", "<u8")


class RefusedError(ValueError):
    """Why bytes are not a model: the end of a sentence about them."""


class Content(NamedTuple):
    """What a saved model consists of."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def encode(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A header, of values that `plain` gives, and arrays, of one of a few types, as bytes.

    Raises RefusedError if the header is too long to be read again.
    """
    stored = {name: _little_endian(array) for name, array in arrays.items()}
    table = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)}
        for name, array in stored.items()
    ]
    text = json.dumps(
        {**header, "arrays": table}, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()
    _refuse_long_header(len(text))
    body = sum(array.nbytes for array in stored.values())
    length = _PREFIX.size + len(text) + body + _DIGEST_SIZE
    parts = [_PREFIX.pack(MAGIC, VERSION, length, len(text)), text]
    parts += [array.tobytes() for array in stored.values()]
    digest = _DIGEST()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def _little_endian(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def decode(data: bytes, max_bytes: int | None = None) -> Content:
    """What `encode` was given; RefusedError if these bytes are not what it gave.

    Arrays are read-only views of the bytes. Also refused is a header that may take more memory
    than `max_bytes`, or than there is.
    """
    version_of(data)
    return _content(data, max_bytes)


def version_of(data: bytes) -> int:
    """The version of the format; RefusedError if these bytes are of none that can be read."""
    refuse_strangers(data)
    if len(data) < _VERSION_AT.stop:
        raise RefusedError(f"it was cut short: {_ANOTHER_COPY}")
    version = int.from_bytes(data[_VERSION_AT], "little")
    if version > VERSION:
        raise RefusedError(
            f"it was written by a newer spclust (format {version}, this one reads up to "
            f"{VERSION}): upgrade spclust"
        )
    if version < 1:
        raise RefusedError(f"it is damaged (there is no format {version}): take another copy")
    return version


def length_of(start: bytes) -> int:
    """The length of a saved model that begins with these bytes; RefusedError if none does."""
    version_of(start)
    if len(start) < _PREFIX.size:
        raise RefusedError(f"it was cut short: {_ANOTHER_COPY}")
    length: int = _PREFIX.unpack_from(start)[2]
    return length


def read_saved(path: AnyPath, max_bytes: int | None = None) -> bytes:
    """The bytes of a saved model in a file, and one more if there are more: `decode` refuses it.

    Raises RefusedError if these are no saved model, or more than `max_bytes`; OSError if there is
    no such file.
    """
    with open(path, "rb") as file:
        data = file.read(_PREFIX.size)
        length = length_of(data)
        if length > memory_limit(max_bytes):
            raise RefusedError(f"it has {length} bytes, more than it may have")
        about = os.fstat(file.fileno())
        at_once = about.st_size if stat.S_ISREG(about.st_mode) else _AT_ONCE
        parts, left = [data], length + 1 - len(data)
        while left > 0 and (part := file.read(min(left, at_once))):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def memory_limit(max_bytes: int | None) -> int:
    """Bytes that a model may take: those of this machine, or fewer."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        machine = 2**46
    return machine if max_bytes is None else min(machine, max_bytes)


def refuse_memory(needed: int, max_bytes: int | None) -> None:
    """Raise RefusedError if so many bytes, an integer without limit, are more than allowed."""
    if needed > memory_limit(None):
        raise RefusedError(f"it takes {1e-9 * needed:.0f} GB, more than this machine has")
    if needed > memory_limit(max_bytes):
        raise RefusedError(f"it takes {needed} bytes, more than max_bytes={max_bytes} allows")


def refuse_strangers(start: bytes) -> None:
    """Raise RefusedError if bytes cannot be, or begin, a saved model."""
    if len(start) == 0:
        raise RefusedError("it is empty")
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise RefusedError("it is not a saved model of spclust")


def _content(data: bytes, max_bytes: int | None) -> Content:
    if len(data) < _PREFIX.size:
        raise RefusedError(f"it was cut short: {_ANOTHER_COPY}")
    _, _, length, header_length = _PREFIX.unpack_from(data)
    if len(data) < length:
        raise RefusedError(f"it was cut short, to {len(data)} of {length} bytes: {_ANOTHER_COPY}")
    content = memoryview(data)[:-_DIGEST_SIZE]
    if len(data) > length or _DIGEST(content).digest() != data[-_DIGEST_SIZE:]:
        raise RefusedError("it is damaged (checksum mismatch): take another copy")
    start = _PREFIX.size + header_length
    if start > len(content):
        raise RefusedError("its header is longer than the file")
    _refuse_long_header(header_length)
    refuse_memory(_MEMORY_OF_A_BYTE * header_length, max_bytes)
    header = _parsed(bytes(content[_PREFIX.size : start]))
    arrays = _arrays(header.pop("arrays", None), content[start:])
    return Content(header, arrays)


def _refuse_long_header(length: int) -> None:
    if length > _LONGEST_HEADER:
        raise RefusedError(f"its header has {length} bytes, more than {_LONGEST_HEADER}")


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RefusedError("its header is not JSON") from None
    if not isinstance(header, dict):
        raise RefusedError("its header is not a JSON object")
    return header


def _arrays(table: Any, body: memoryview) -> dict[str, Array]:
    """The arrays of a table of names, types and shapes, one after the other in `body`."""
    arrays: dict[str, Array] = {}
    start = 0
    for row in table if isinstance(table, list) else [None]:
        name, dtype, shape = _table_row(row)
        count = math.prod(shape)
        end = start + count * int(dtype[-1])
        if end > len(body) or name in arrays:
            raise RefusedError("its header and its arrays do not match")
        numbers = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
        try:
            arrays[name] = numbers.reshape(shape)
        except ValueError:  # an empty array may still have an axis that is too long
            raise RefusedError("its header and its arrays do not match") from None
        start = end
    if start != len(body):
        raise RefusedError("its header and its arrays do not match")
    return arrays


def _table_row(row: Any) -> tuple[str, str, tuple[int, ...]]:
    """Name, type and shape of an array; RefusedError if they are not valid."""
    if isinstance(row, dict) and set(row) == {"name", "dtype", "shape"}:
        name, dtype, shape = row["name"], row["dtype"], row["shape"]
        sound = isinstance(name, str) and dtype in _DTYPES and isinstance(shape, list)
        if sound and len(shape) < 4 and all(type(side) is int and side >= 0 for side in shape):
            return name, dtype, tuple(shape)
    raise RefusedError("its table of arrays is not valid")


def plain(value: Any, what: str) -> Any:
    """A number, text, truth value, timedelta or None as JSON has it; NumPy numbers become plain.

    Raises a TypeError that says that `what` cannot be saved if it is anything else.
    """
    if value is None or isinstance(value, bool | np.bool_):
        return value if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    seconds = duration_seconds(value)
    if seconds is not None and _is_duration(seconds):
        return {"seconds": seconds}
    if isinstance(value, Integral) and seconds is None:  # NumPy's durations are integers
        return int(value)
    if isinstance(value, Real) and seconds is None:
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    raise TypeError(
        f"{what} is {value!r:.60}, which cannot be saved: only numbers, text, True, False, None "
        "and a timedelta can."
    )


def _is_duration(seconds: Any) -> bool:
    return type(seconds) is float and abs(seconds) < timedelta.max.total_seconds()


def unplain(value: Any) -> Any:
    """The value that `plain` was given, in plain Python."""
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        if set(value) == {"seconds"} and _is_duration(value["seconds"]):
            return timedelta(seconds=value["seconds"])
    elif value is None or isinstance(value, bool | int | float | str):
        return value
    raise RefusedError("a value in its header is not a number, text, true, false or null")
