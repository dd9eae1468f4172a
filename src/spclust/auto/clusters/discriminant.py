"""The line on which two groups of structures are most clearly apart: Fisher's discriminant.

    w = S^-1 (mu_2 - mu_1)

S is the covariance within both groups. Long clusters side by side overlap on the line through their
centres, but not on w. S is known from few points, so it is shrunk to a multiple of I: the oracle
approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010), which has no constant. With very few
points S is that multiple, and w the line through the centres. The points of a structure count as
round.

The centres are known from few points, too. Those of n_1 and n_2 points of one cluster are apart by
chance: the square of their distance is trace(S) (1 / n_1 + 1 / n_2) on average, and more if the
groups were chosen to be apart. Two groups are judged as if they were nearer by that.
"""

import numpy as np

from spclust.array_types import Booleans, Floats
from spclust.jit.decorators import allocating, outlined
from spclust.numerics.cholesky import dot

_MOST = 64  # dimensions: the time for S^-1 grows with their third power
_CHOSEN = 2.0  # times the chance of groups that were not chosen


@allocating
def turn(line: Floats, offset: Floats, variance: Floats, n: Floats) -> None:
    """Turn the line (d,) through two centres into the discriminant. Modified in place: line.

    Of structures at offsets (k, d) from the centres of their groups, with variances (k,) and masses
    n (k,). With very many dimensions the line stays.
    """
    d, within, trace, squares = line.size, 0.0, 0.0, 0.0
    if d > _MOST:
        return
    # S, its upper triangle, as a sum, not a mean: the length of the line does not matter.
    S, points = np.zeros((d, d)), 1.0 - 2.0 / d  # n + 1 - 2 / d in the formula of the shrinkage
    for i in range(n.size):
        points += n[i]
        within += n[i] * variance[i]
    for r in range(d):
        S[r, r] = within
    for i in range(0, n.size - n.size % 2, 2):  # two at a time: S is then read and written once
        x, y = offset[i], offset[i + 1]
        for r in range(d):
            row, a, b = S[r], n[i] * x[r], n[i + 1] * y[r]
            for c in range(r, d):
                row[c] += a * x[c] + b * y[c]
    if n.size % 2:
        x = offset[n.size - 1]
        for r in range(d):
            row, a = S[r], n[n.size - 1] * x[r]
            for c in range(r, d):
                row[c] += a * x[c]
    # The shrinkage: trace(S), and `squares`, the trace of S^2, decide what share of S is known.
    for r in range(d):
        trace += S[r, r]
        squares -= S[r, r] * S[r, r]
        for c in range(r, d):
            squares += 2.0 * S[r, c] * S[r, c]
    known = points * (squares - trace * trace / d)
    unknown = (1.0 - 2.0 / d) * squares + trace * trace
    if not unknown < known:  # nor if they overflow
        return
    ridge = unknown / (known - unknown) * trace / d
    for r in range(d):
        S[r, r] += ridge
    # S w = line, by elimination: pivots are positive, because of the ridge.
    for k in range(d):
        pivot = S[k]
        for r in range(k + 1, d):
            row, factor = S[r], pivot[r] / pivot[k]
            line[r] -= factor * line[k]
            for c in range(r, d):
                row[c] -= factor * pivot[c]
    for k in range(d - 1, -1, -1):
        line[k] = (line[k] - dot(S[k], line, k + 1)) / S[k, k]


@outlined
def apart_beyond_chance(
    line: Floats, offset: Floats, variance: Floats, n: Floats, second: Booleans
) -> float:
    """The distance of two centres that is not by chance, as a share of it, from 0 to 1.

    Of two groups with a line (d,) through their centres, and structures as in `turn`.
    """
    n1, n2, scatter = 0.0, 0.0, 0.0
    for i in range(n.size):
        scatter += n[i] * (line.size * variance[i] + dot(offset[i], offset[i], 0))
        if second[i]:
            n2 += n[i]
        else:
            n1 += n[i]
    by_chance = _CHOSEN * scatter / (n1 + n2) * (1.0 / n1 + 1.0 / n2)
    square = dot(line, line, 0)
    return np.sqrt(1.0 - by_chance / square) if by_chance < square else 0.0
