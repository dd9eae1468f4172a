"""Saved models that were tampered with, and given a right checksum: each is refused or works.

Run as a program, with a seed and a number of attempts for each kind, so that a crash is seen as
one. It prints how many were refused, and how many loaded and worked.
"""

import hashlib
import json
import struct
import sys
import warnings

import numpy as np

from spclust import SPC

PREFIX = struct.Struct("<8sIQQ")
KINDS = {
    "plane": ("full", 2),
    "full": ("full", 3),
    "lowrank": ("lowrank", 12),
    "diag": ("diag", 3),
    "spherical": ("spherical", 3),
}
ODD_NUMBERS = [
    *(np.nan, np.inf, -np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 31.0, 1e6),
    *(1e15, 2.0**31, 2.0**53, 2.0**63, 1e18, 1e150, 1e300, 1.7e308, -1e300, 5e-324, 1e-300),
]
ODD_VALUES = [
    *(None, True, -1, 0, 1, 2, 3, 10**6, 2**62, 10**30, 0.5, 1e308, "", "full", "lowrank", "x"),
    *([], [0], [2**62, 2**62], {}, {"float": "nan"}, {"float": "x"}, [[[[]]]], "<f8", "|O8"),
]


def model_of(kind, seed=0):
    """A small model of some kind, with structures that have grown and others."""
    covariance, d = KINDS[kind]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) + 6.0 * rng.integers(3, size=(60, 1))
    model = SPC(6, beta=0.05, w_min=0.05, covariance_type=covariance, scale=0.7)
    return model.fit(X) if seed % 2 else model.partial_fit(X), X


def split(data):
    """Header, as a dictionary, and body."""
    start = PREFIX.size + PREFIX.unpack_from(data)[3]
    return json.loads(data[PREFIX.size : start]), data[start:-32]


def sealed(header, body):
    """A file of any header and body with all lengths, and the checksum, right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = PREFIX.size + len(text) + len(body) + 32
    content = PREFIX.pack(b"SPCLUST\x00", 1, length, len(text)) + text + body
    return content + hashlib.sha256(content).digest()


def places(tree, path=()):
    """Where there is something in a tree of dictionaries and lists."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def with_odd_numbers(data, rng):
    """Some numbers of the arrays become odd ones; often those of the head, which come first."""
    header, body = split(data)
    numbers = np.frombuffer(body[: len(body) // 8 * 8], "<f8").copy()
    for _ in range(rng.integers(1, 4)):
        at = rng.integers(32 if rng.random() < 0.4 else numbers.size)
        old, odd = numbers[at], ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
        with np.errstate(all="ignore"):
            numbers[at] = [odd, old + 1.0, old - 1.0, -old, old * 1e3, odd][rng.integers(6)]
    return sealed(header, numbers.tobytes() + body[numbers.nbytes :])


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
    return sealed(header, body)


def with_odd_bytes(data, rng):
    """Bytes of header or body are changed, cut out, put in or exchanged."""
    start = PREFIX.size + PREFIX.unpack_from(data)[3]
    text, body = data[PREFIX.size : start], data[start:-32]
    if rng.random() < 0.3:
        return sealed(corrupted(text, rng), body)
    return sealed(text, corrupted(body, rng))


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


def works(model, X):
    """Ask a model for everything; sentences about what is wrong with it are answers too."""
    rows = np.random.default_rng(0).normal(scale=5.0, size=(12, X.shape[1]))
    steps = [
        lambda: model.predict(rows),
        lambda: model.structures_.covariance,
        lambda: model.labels_,
        lambda: model.typicality(rows),
        lambda: model.partial_fit(rows),
        lambda: model.learn_one(rows[0]),
        lambda: model.partial_fit(100.0 * rows),
        lambda: model.predict(rows),
        lambda: model.to_bytes(),
    ]
    for step in steps:
        try:
            step()
        except (ValueError, AttributeError, MemoryError) as error:
            if isinstance(error, AttributeError) and "labels_" not in str(error):
                raise


def main(seed, attempts):
    warnings.simplefilter("ignore")  # odd numbers overflow
    refused = worked = 0
    for k, kind in enumerate(KINDS):
        model, X = model_of(kind, seed + k)
        data, rng = model.to_bytes(), np.random.default_rng([seed, k])
        for _ in range(attempts):
            tamper = (with_odd_numbers, with_odd_header, with_odd_bytes)[rng.integers(3)]
            crafted = tamper(data, rng)
            try:
                loaded = SPC.from_bytes(crafted)
            except ValueError as error:
                if not str(error).startswith("Cannot load a model from these bytes: "):
                    raise
                refused += 1
                continue
            works(loaded, X)
            worked += 1
    print(refused, worked)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
