"""Saved models that were tampered with, and given a valid checksum: each is refused or works.

Run as a program, with a seed and a number of attempts for each kind, so that a crash is seen as
one. It prints how many were refused, and how many loaded and worked; first of models of the present
version in the mode of the paper, then of those in the automatic mode, then of stored models of an
earlier version.
"""

import hashlib
import json
import struct
import sys
import warnings
from pathlib import Path

import numpy as np

from spclust import SPC

STORED = Path(__file__).parent / "stored"
PREFIX = struct.Struct("<8sIQQ")
KINDS = {
    "plane": ("full", 2),
    "full": ("full", 3),
    "lowrank": ("lowrank", 12),
    "diag": ("diag", 3),
    "spherical": ("spherical", 3),
}
AUTOMATIC_KINDS = {  # parameters, features, and whether points have time stamps
    "automatic full": ({"half_life": 40.0}, 3, False),
    "automatic line": ({}, 1, False),
    "automatic diag": ({"covariance_type": "diag"}, 3, False),
    "automatic spherical": ({"covariance_type": "spherical", "half_life": 15.0}, 3, False),
    "automatic times": ({"half_life": 30.0, "track_every": 20}, 2, True),
}
ODD_NUMBERS = [
    *(np.nan, np.inf, -np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 31.0, 1e6),
    *(1e15, 2.0**31, 2.0**53, 2.0**63, 1e18, 1e150, 1e300, 1.7e308, -1e300, 5e-324, 1e-300),
]
ODD_INTEGERS = [-1, 0, 1, 2, 3, 7, 8, 9, 59, 60, 10**6, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63)]
ODD_VALUES = [
    *(None, True, -1, 0, 1, 2, 3, 10**6, 2**62, 10**30, 0.5, 1e308, "", "full", "lowrank", "x"),
    *([], [0], [2**62, 2**62], {}, {"float": "nan"}, {"float": "x"}, [[[[]]]], "<f8", "|O8"),
]


def model_of(kind, seed=0):
    """A small model of some kind, with structures that have grown and others."""
    if kind in AUTOMATIC_KINDS:
        return automatic_model_of(kind, seed)
    covariance, d = KINDS[kind]
    X = blobs(d, seed)
    model = SPC(6, beta=0.05, w_min=0.05, covariance_type=covariance, scale=0.7)
    return model.fit(X) if seed % 2 else model.partial_fit(X)


def automatic_model_of(kind, seed=0):
    """The same in the automatic mode; more points are learnt than there is room for."""
    params, d, timed = AUTOMATIC_KINDS[kind]
    X = blobs(d, seed)
    t = 0.5 * np.arange(60.0) if timed else None
    model = SPC(6, **params)
    return model.fit(X, t=t) if seed % 2 else model.partial_fit(X, t=t)


def blobs(d, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, d)) + 6.0 * rng.integers(3, size=(60, 1))


def split(data):
    """Header, as a dictionary, and body."""
    start = PREFIX.size + PREFIX.unpack_from(data)[3]
    return json.loads(data[PREFIX.size : start]), data[start:-32]


def sealed(header, body, version=5):
    """A file of any header and body with valid lengths and a valid checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = PREFIX.size + len(text) + len(body) + 32
    content = PREFIX.pack(b"SPCLUST\x00", version, length, len(text)) + text + body
    return content + hashlib.sha256(content).digest()


def version_of(data):
    return PREFIX.unpack_from(data)[1]


def arrays_in(data):
    """Header, and arrays that may be changed."""
    header, body = split(data)
    arrays, start = {}, 0
    for row in header["arrays"]:
        count = int(np.prod(row["shape"]))
        array = np.frombuffer(body, row["dtype"], count, start)
        arrays[row["name"]] = array.reshape(row["shape"]).copy()
        start += array.nbytes
    return header, arrays


def with_arrays(data, header, arrays):
    """A model of the same version that holds these arrays."""
    table = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    body = b"".join(array.tobytes() for array in arrays.values())
    return sealed({**header, "arrays": table}, body, version_of(data))


def places(tree, path=()):
    """Where there is something in a tree of dictionaries and lists."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def with_odd_numbers(data, rng):
    """Some numbers of the arrays become odd ones; in each array as often as in any other."""
    header, arrays = arrays_in(data)
    filled = [array.reshape(-1) for array in arrays.values() if array.size]
    for _ in range(rng.integers(1, 4)):
        array = filled[rng.integers(len(filled))]
        at = rng.integers(array.size)
        if array.dtype.kind == "f":
            old, odd = array[at], ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
            with np.errstate(all="ignore"):
                array[at] = [odd, old + 1.0, old - 1.0, -old, old * 1e3, odd][rng.integers(6)]
        else:
            odd = np.array(ODD_INTEGERS[rng.integers(len(ODD_INTEGERS))])
            array[at] = odd.astype(array.dtype)
    return with_arrays(data, header, arrays)


def with_odd_state(data, rng):
    """A number of the state, which the header holds, or `head` in earlier versions, is odd."""
    header, arrays = arrays_in(data)
    if "state" in header:
        names = list(header["state"])
        numbers = [*ODD_INTEGERS, *(x for x in ODD_NUMBERS if np.isfinite(x)), True, False, "diag"]
        old, name = header["state"], names[rng.integers(len(names))]
        odd = numbers[rng.integers(len(numbers))]
        if type(old[name]) is int and rng.random() < 0.5:
            odd = old[name] + int(rng.integers(-2, 3))
        header["state"] = {**old, name: odd}
        return with_arrays(data, header, arrays)
    head = arrays["head"]
    at = rng.integers(head.size)
    odd = ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    head[at] = odd if rng.random() < 0.5 else head[at] + rng.integers(-2, 3)
    return with_arrays(data, header, arrays)


def with_odd_arrays(data, rng):
    """An array has another shape or type, goes, or comes twice."""
    header, arrays = arrays_in(data)
    name = list(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    how = rng.integers(6)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[name] = array[: len(array) // 2]
    elif how == 2:
        arrays[name] = np.concatenate([array, array])
    elif how == 3:
        arrays[name] = array.reshape(-1)
    elif how == 4:
        arrays[name] = array.view("<i8" if array.dtype.kind == "f" else "<u1")
    else:
        arrays[f"{name}?"] = array
    return with_arrays(data, header, arrays)


def with_odd_header(data, rng):
    """A value of the header becomes another one, or goes."""
    header, body = split(data)
    *way, key = list(places(header))[rng.integers(len(list(places(header))))]
    branch = header
    for step in way:
        branch = branch[step]
    if rng.random() < 0.2:
        del branch[key]
    else:
        branch[key] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return sealed(header, body, version_of(data))


def with_odd_bytes(data, rng):
    """Bytes of header or body are changed, cut out, put in or exchanged."""
    start = PREFIX.size + PREFIX.unpack_from(data)[3]
    text, body, version = data[PREFIX.size : start], data[start:-32], version_of(data)
    if rng.random() < 0.3:
        return sealed(corrupted(text, rng), body, version)
    return sealed(text, corrupted(body, rng), version)


def with_odd_version(data, rng):
    """The number of the version is that of another one."""
    header, body = split(data)
    return sealed(header, body, int(rng.integers(6)))


def corrupted(data, rng):
    """The same bytes but for a flip, a cut, an insertion, an exchange, or a stretch of zeros."""
    mutable = bytearray(data)
    start, other = (int(i) for i in rng.integers(len(data), size=2))
    length = int(rng.integers(1, 1 + min(64, len(data))))
    how = rng.integers(6)
    if how == 0:
        mutable[start] ^= 1 << int(rng.integers(8))
    elif how == 1:
        del mutable[start:]
    elif how == 2:
        del mutable[start : start + length]
    elif how == 3:
        mutable[start:start] = rng.bytes(length)
    elif how == 4:
        first, second = data[start : start + length], data[other : other + length]
        mutable[start : start + len(second)] = second
        mutable[other : other + len(first)] = first
    else:
        mutable[start : start + length] = bytes(len(mutable[start : start + length]))
    return bytes(mutable)


WAYS = (
    *(with_odd_numbers, with_odd_numbers, with_odd_state, with_odd_state),
    *(with_odd_arrays, with_odd_header, with_odd_bytes, with_odd_version),
)


def works(model):
    """Ask a model for everything; sentences about what is wrong with it are answers too."""
    rng = np.random.default_rng(0)
    rows = rng.normal(scale=5.0, size=(12, model.n_features_in_))
    clock = model._stream.clock
    t = None if clock is None else np.nextafter(clock, np.inf) + np.arange(12.0)
    steps = [
        lambda: model.predict(rows),
        lambda: model.structures_.covariance,
        lambda: model.labels_,
        lambda: model.typicality(rows),
        lambda: model.partial_fit(rows, t=t),
        lambda: model.learn_one(rows[0], None if t is None else t[-1]),
        lambda: model.partial_fit(100.0 * rows, t=None if t is None else t + 12.0),
        lambda: model.predict(rows),
        lambda: model.to_bytes(),
    ]
    for step in steps:
        try:
            step()
        except (ValueError, AttributeError, MemoryError) as error:
            if isinstance(error, AttributeError) and "labels_" not in str(error):
                raise


def attempt(data, rng, attempts):
    """How many of some crafted models were refused, and how many worked."""
    refused = 0
    for _ in range(attempts):
        crafted = WAYS[rng.integers(len(WAYS))](data, rng)
        try:
            loaded = SPC.from_bytes(crafted)
        except ValueError as error:
            if not str(error).startswith("Cannot load a model from these bytes: "):
                raise
            refused += 1
        else:
            works(loaded)
    return np.array([refused, attempts - refused])


def main(seed, attempts):
    warnings.simplefilter("ignore")  # odd numbers overflow
    present = [model_of(kind, seed + k).to_bytes() for k, kind in enumerate(KINDS)]
    automatic = [model_of(kind, seed + k).to_bytes() for k, kind in enumerate(AUTOMATIC_KINDS)]
    stored = [path.read_bytes() for path in sorted(STORED.glob("v2-*.spc"))]
    for models in (present, automatic, stored):
        seeds = ([seed, version_of(data), k] for k, data in enumerate(models))
        counts = sum(
            attempt(data, np.random.default_rng(s), attempts)
            for data, s in zip(models, seeds, strict=True)
        )
        print(*counts)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
