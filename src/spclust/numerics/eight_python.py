"""The functions of `eight` in plain Python: an array of eight numbers is one `Eight`.

Functions are explained where they are compiled.
"""
# ruff: noqa: D103

import numpy as np

from spclust.array_types import Floats

__all__ = [
    "add_product",
    "below_bits",
    "equal_bits",
    "first_bit",
    "if_below",
    "larger_of",
    "largest_of",
    "load",
    "load_until",
    "power_of_two_in",
    "root_of",
    "rounded",
    "same",
    "same_at",
    "smaller_of",
    "smallest_of",
    "store",
    "store_until",
    "sum_of",
    "times_power_of_two",
    "without_power_of_two",
]
_LANES = 8


def add_product(total: Floats, a: Floats, b: Floats) -> Floats:
    return total + a * b


def load(a: Floats, i: int) -> Floats:
    return np.array(a[i] if a.ndim == 2 else a[i : i + _LANES])


def store(y: Floats, a: Floats, i: int) -> None:
    if a.ndim == 2:
        a[i] = y
    else:
        a[i : i + _LANES] = y


def load_until(row: Floats, i: int, end: int) -> Floats:
    part = row[i : min(i + _LANES, end)]
    return np.concatenate([part, np.zeros(_LANES - len(part))])


def store_until(y: Floats, row: Floats, i: int, end: int) -> None:
    row[i : min(i + _LANES, end)] = y[: end - i]


def sum_of(a: Floats) -> float:
    return float(a.sum())


def same(x: float) -> Floats:
    return np.full(_LANES, float(x))


def same_at(row: Floats, i: int) -> Floats:
    return same(row[i])


def smaller_of(a: Floats, b: Floats) -> Floats:
    return np.minimum(a, b)


def larger_of(a: Floats, b: Floats) -> Floats:
    return np.maximum(a, b)


def smallest_of(a: Floats) -> float:
    return float(a.min())


def largest_of(a: Floats) -> float:
    return float(a.max())


def root_of(a: Floats) -> Floats:
    return np.sqrt(a)


def equal_bits(a: Floats, b: Floats) -> int:
    return sum(1 << k for k in range(_LANES) if a[k] == b[k])


def below_bits(a: Floats, b: Floats) -> int:
    return sum(1 << k for k in range(_LANES) if a[k] < b[k])


def first_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def if_below(a: Floats, limit: Floats, this: Floats, that: Floats) -> Floats:
    return np.where(a < limit, this, that)


def power_of_two_in(a: Floats) -> Floats:
    mantissa, k = np.frexp(a)
    return np.where(mantissa < np.sqrt(0.5), k - 1.0, k)


def without_power_of_two(a: Floats) -> Floats:
    mantissa, _ = np.frexp(a)
    return np.where(mantissa < np.sqrt(0.5), 2.0 * mantissa, mantissa)


def times_power_of_two(a: Floats, k: Floats) -> Floats:
    return np.ldexp(a, k.astype(np.int64))


def rounded(a: Floats) -> Floats:
    return np.rint(a)
