"""The format of saved models: a header of plain values and named arrays, as bytes and back.

Nothing here knows what a model is. docs/saving.md has the format byte by byte. Reading runs no code
that the bytes might bring along, and takes no more memory than the bytes themselves.
"""

import hashlib
import json
import math
import struct
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

MAGIC = b"SPCLUST\x00"
VERSION = 2
_PREFIX = struct.Struct("<8sIQQ")  # magic, version, length of everything, length of the header
_VERSION_AT = slice(8, 12)
_DIGEST = hashlib.sha256
_DIGEST_SIZE = 32
_DTYPES = ("<f8", "<i8", "|u1", "<u2", "<u4", "<u8")


class RefusedError(ValueError):
    """Why bytes are no model: the end of a sentence about them."""


class Content(NamedTuple):
    """What a saved model consists of."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def encode(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A header, of values that `plain` gives, and arrays, of one of a few types, as bytes."""
    stored = {name: _little_endian(array) for name, array in arrays.items()}
    table = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)}
        for name, array in stored.items()
    ]
    text = json.dumps(
        {**header, "arrays": table}, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()
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


def decode(data: bytes) -> Content:
    """What `encode` was given; RefusedError if these bytes are not what it gave.

    Arrays are read-only views of the bytes.
    """
    refuse_strangers(data)
    if len(data) < _VERSION_AT.stop:
        raise RefusedError("it was cut short: save the model again, or take another copy")
    version = int.from_bytes(data[_VERSION_AT], "little")
    if version > VERSION:
        raise RefusedError(
            f"it was written by a newer spclust (format {version}, this one reads up to "
            f"{VERSION}): upgrade spclust"
        )
    if version not in _READERS:
        raise RefusedError(f"it is damaged (there is no format {version}): take another copy")
    return _READERS[version](data)


def refuse_strangers(start: bytes) -> None:
    """Raise RefusedError if bytes cannot be, or begin, a saved model."""
    if len(start) == 0:
        raise RefusedError("it is empty")
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise RefusedError("it is no saved model of spclust")


def _read(data: bytes) -> Content:
    if len(data) < _PREFIX.size:
        raise RefusedError("it was cut short: save the model again, or take another copy")
    _, _, length, header_length = _PREFIX.unpack_from(data)
    if len(data) < length:
        raise RefusedError(
            f"it was cut short, to {len(data)} of {length} bytes: save the model again, or take "
            "another copy"
        )
    content = memoryview(data)[:-_DIGEST_SIZE]
    if len(data) > length or _DIGEST(content).digest() != data[-_DIGEST_SIZE:]:
        raise RefusedError("it is damaged (its checksum is another one): take another copy")
    if _PREFIX.size + header_length > len(content):
        raise RefusedError("its header is longer than itself")
    start = _PREFIX.size + header_length
    header = _parsed(bytes(content[_PREFIX.size : start]))
    arrays = _arrays(header.pop("arrays", None), content[start:])
    return Content(header, arrays)


def _read_version_1(data: bytes) -> Content:
    """States without time stamps and automatic parameters, and with what these are without."""
    header, arrays = _read(data)
    if arrays.keys() >= {"head", "count"} and arrays["head"].shape == (32,):
        old = arrays["head"]
        head = np.concatenate([old, [1.0, 0.0, 0.0, 100.0 * old[0]], np.zeros(4)])
        arrays = {**arrays, "head": head, "recent": arrays["count"]}
        arrays |= {name: np.empty(0) for name in ("owner", "origin", "unit")}  # as in a new one,
        arrays["scatter"] = np.empty((0, int(old[1])))  # for the first two numbers are N and d
    return Content(header, arrays)


# How each version is read. A newer one adds a function here, and those before it stay.
_READERS: dict[int, Callable[[bytes], Content]] = {1: _read_version_1, 2: _read}


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RefusedError("its header is no JSON") from None
    if not isinstance(header, dict):
        raise RefusedError("its header is no JSON object")
    return header


def _arrays(table: Any, body: memoryview) -> dict[str, Array]:
    """The arrays of a table of names, types and shapes, which lie one after the other in `body`."""
    arrays: dict[str, Array] = {}
    start = 0
    for row in table if isinstance(table, list) else [None]:
        name, dtype, shape = _table_row(row)
        count = math.prod(shape)
        end = start + count * int(dtype[-1])
        if end > len(body) or name in arrays:
            raise RefusedError("its header and its arrays do not go together")
        numbers = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
        try:
            arrays[name] = numbers.reshape(shape)
        except ValueError:  # an array of nothing may still be too large in one direction
            raise RefusedError("its header and its arrays do not go together") from None
        start = end
    if start != len(body):
        raise RefusedError("its header and its arrays do not go together")
    return arrays


def _table_row(row: Any) -> tuple[str, str, tuple[int, ...]]:
    """Name, type and shape, if they are what they should be."""
    if isinstance(row, dict) and set(row) == {"name", "dtype", "shape"}:
        name, dtype, shape = row["name"], row["dtype"], row["shape"]
        sound = isinstance(name, str) and dtype in _DTYPES and isinstance(shape, list)
        if sound and len(shape) < 4 and all(type(side) is int and side >= 0 for side in shape):
            return name, dtype, tuple(shape)
    raise RefusedError("its table of arrays is not what it should be")


def plain(value: Any, what: str) -> Any:
    """A number, text, truth value or None as what JSON has; numbers of NumPy become plain ones.

    Raises a TypeError that says that `what` cannot be saved if it is anything else.
    """
    if value is None or isinstance(value, bool | np.bool_):
        return value if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    raise TypeError(
        f"{what} is {value!r:.60}, which cannot be saved: only numbers, text, True, False and None "
        "can."
    )


def unplain(value: Any) -> Any:
    """What `plain` was given, in plain Python."""
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
    elif value is None or isinstance(value, bool | int | float | str):
        return value
    raise RefusedError("a value in its header is of no known kind")
