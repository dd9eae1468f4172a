"""Logarithm, exponential and power of eight numbers at a time.

The mathematical library takes one number at a time, and calling it would cost more than all the
rest of a step. Here a logarithm is the series of the inverse hyperbolic tangent, and an exponential
its own series, each on the short interval to which a power of two reduces every argument; both are
right to a few units in the last place.
"""

import math

import numpy as np

from spclust.jit.decorators import outlined, part
from spclust.numerics.eight import (
    Eight,
    below_bits,
    if_below,
    larger_of,
    root_of,
    rounded,
    same,
    smaller_of,
)
from spclust.numerics.eight_exponents import (
    power_of_two_in,
    times_power_of_two,
    without_power_of_two,
)

# log 2 in two parts: products of the first with whole numbers below 2^11 are exact.
_LOG2_HIGH, _LOG2_LOW = 0.6931471805592082, 7.371002565167799e-13
_PER_LOG2 = 1.0 / math.log(2.0)

_TERMS = tuple(1.0 / math.factorial(n) for n in range(14))  # of the exponential series

_MOST_HALVES = 40
_SMALLEST_NORMAL = 2.3e-308
_LIFT = 54.0  # so many powers of two make any smaller number normal
_SMALLEST_ARGUMENT, _LARGEST_ARGUMENT = -708.0, 709.0  # of exponentials that are normal floats


@part
def logarithm(a: Eight) -> Eight:
    """Logarithms of finite numbers that are not negative; that of 0 is -inf."""
    if below_bits(a, same(_SMALLEST_NORMAL)) == 0:  # nearly always
        return logarithm_of_normal(a)
    return logarithm_of_any(a)


@part
def logarithm_of_normal(a: Eight) -> Eight:
    """Logarithms of positive numbers that are not too small to have all digits."""
    k, m = power_of_two_in(a), without_power_of_two(a)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    # log m = 2 artanh s = 2 s (1 + z/3 + z^2/5 + ...), where z < 0.03: in two halves, of even and
    # of odd powers, because every sum waits for the one before.
    even, odd, zz = same(1.0 / 19.0), same(1.0 / 17.0), z * z
    for n in range(13, 4, -4):
        even = even * zz + 1.0 / (n + 2)
        odd = odd * zz + 1.0 / n
    series = (even * zz + 1.0 / 3.0) + odd * z
    return k * _LOG2_HIGH + (2.0 * s + (2.0 * s * z * series + k * _LOG2_LOW))


@outlined
def logarithm_of_any(a: Eight) -> Eight:
    """`logarithm` where a number is 0 or too small to have all digits."""
    limit = same(_SMALLEST_NORMAL)
    log = logarithm_of_normal(if_below(a, limit, larger_of(a * 2.0**_LIFT, limit), a))
    log = if_below(a, limit, log - _LIFT * math.log(2.0), log)
    return if_below(a, same(5e-324), same(-np.inf), log)


@part
def exponential(x: Eight) -> Eight:
    """The exponentials: 0 below -708, inf above 709."""
    low, high = same(_SMALLEST_ARGUMENT), same(_LARGEST_ARGUMENT)
    if below_bits(x, low) | below_bits(high, x) == 0:  # nearly always
        return exponential_of_moderate(x)
    power = exponential_of_moderate(larger_of(smaller_of(x, high), low))
    return if_below(high, x, same(np.inf), if_below(x, low, same(0.0), power))


@part
def exponential_of_moderate(x: Eight) -> Eight:
    """The exponentials of numbers between -708 and 709."""
    k = rounded(x * _PER_LOG2)
    r = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
    # 1 + r + r^2 / 2! + ..., where |r| < 0.35: in two halves, as above.
    even, odd, rr = same(_TERMS[12]), same(_TERMS[13]), r * r
    for n in range(10, -1, -2):
        even = even * rr + _TERMS[n]
        odd = odd * rr + _TERMS[n + 1]
    return times_power_of_two(even + odd * r, k)


@part
def power(a: Eight, p: float, halves: int) -> Eight:
    """The powers a^p, p > 0, of numbers that are not negative.

    If p is `halves` / 2, they are products, which are several times faster; else `halves` is 0.
    """
    if halves == 0:
        return exponential(logarithm(a) * p)
    product = root_of(a) if halves % 2 == 1 else same(1.0)
    for _ in range(halves // 2):
        product = product * a
    return product


@part
def halves_in(p: float) -> int:
    """The whole number of halves that p is, if it is one and not too many; else 0."""
    halves = int(2.0 * p)
    return halves if halves == 2.0 * p and halves <= _MOST_HALVES else 0
