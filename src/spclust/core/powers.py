"""Logarithm, exponential and power of eight numbers at a time.

The mathematical library takes one number at a time, and calling it would cost more than all the
rest of a step. Here a logarithm is the series of the inverse hyperbolic tangent, and an exponential
its own series, each on the short interval to which a power of two reduces every argument; both are
right to a few units in the last place.
"""

import math

import numpy as np

from spclust.core.compile import inner, leaf
from spclust.core.lanes import (
    Eight,
    if_below,
    larger_of,
    power_of_two_in,
    root_of,
    rounded,
    same,
    smaller_of,
    times_power_of_two,
    without_power_of_two,
)

# log 2 in two parts: products of the first with whole numbers below 2^11 are exact.
_LOG2_HIGH, _LOG2_LOW = 0.6931471805592082, 7.371002565167799e-13
_PER_LOG2 = 1.0 / math.log(2.0)

_MOST_HALVES = 40
_SMALLEST_NORMAL = 2.3e-308
_LIFT = 54.0  # so many powers of two make any smaller number normal
_SMALLEST_ARGUMENT, _LARGEST_ARGUMENT = -708.0, 709.0  # of exponentials that are normal floats


@inner
def logarithm(a: Eight) -> Eight:
    """The natural logarithms of finite numbers that are not negative; that of 0 is -inf."""
    small, least = if_below(a, same(_SMALLEST_NORMAL), same(_LIFT), same(0.0)), same(5e-324)
    lifted = if_below(a, same(_SMALLEST_NORMAL), a * 2.0**_LIFT, a)
    k, m = power_of_two_in(lifted) - small, without_power_of_two(lifted)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    # log m = 2 artanh s = 2 s (1 + z/3 + z^2/5 + ...), where z < 0.03
    series = same(1.0 / 21.0)
    for n in range(19, 1, -2):
        series = series * z + 1.0 / n
    log = k * _LOG2_HIGH + (2.0 * s + (2.0 * s * z * series + k * _LOG2_LOW))
    return if_below(a, least, same(-np.inf), log)


@inner
def exponential(x: Eight) -> Eight:
    """The exponentials: 0 below -708, inf above 709."""
    inside = larger_of(smaller_of(x, same(_LARGEST_ARGUMENT)), same(_SMALLEST_ARGUMENT))
    k = rounded(inside * _PER_LOG2)
    r = (inside - k * _LOG2_HIGH) - k * _LOG2_LOW
    series = same(1.0)  # 1 + r (1 + r/2 (1 + r/3 (...))), where |r| < 0.35
    for n in range(14, 0, -1):
        series = series * (r * (1.0 / n)) + 1.0
    power = times_power_of_two(series, k)
    power = if_below(x, same(_SMALLEST_ARGUMENT), same(0.0), power)
    return if_below(same(_LARGEST_ARGUMENT), x, same(np.inf), power)


@inner
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


@leaf
def halves_in(p: float) -> int:
    """The whole number of halves that p is, if it is one and not too many; else 0."""
    halves = int(2.0 * p)
    return halves if halves == 2.0 * p and halves <= _MOST_HALVES else 0
