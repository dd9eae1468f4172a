"""Eight structures at a time: the arithmetic of one vector register.

Means and factors are stored in blocks of eight structures, so that the same entry of eight of them
lies side by side. Eight sums in a tuple are kept in one register while a loop runs: they are
written out here because a loop over them would keep them in memory, three times slower: the
compiler cannot know that what a loop writes is not what it reads next.
"""

from typing import TypeAlias

from spclust.arrays import Floats
from spclust.core.compile import paragraph

LANES = 8
Eight: TypeAlias = tuple[float, float, float, float, float, float, float, float]
ZEROS: Eight = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_INF = float("inf")
INFINITIES: Eight = (_INF, _INF, _INF, _INF, _INF, _INF, _INF, _INF)


@paragraph
def plus_products(y: Eight, a: Floats, i: int, b: Floats, j: int) -> Eight:
    """The sum y + a[i] * b[j], lane by lane; a and b are (rows, 8)."""
    return (
        y[0] + a[i, 0] * b[j, 0],
        y[1] + a[i, 1] * b[j, 1],
        y[2] + a[i, 2] * b[j, 2],
        y[3] + a[i, 3] * b[j, 3],
        y[4] + a[i, 4] * b[j, 4],
        y[5] + a[i, 5] * b[j, 5],
        y[6] + a[i, 6] * b[j, 6],
        y[7] + a[i, 7] * b[j, 7],
    )


@paragraph
def plus_multiple(y: Eight, factor: float, b: Floats, j: int) -> Eight:
    """The sum y + factor * b[j], lane by lane; b is (rows, 8)."""
    return (
        y[0] + factor * b[j, 0],
        y[1] + factor * b[j, 1],
        y[2] + factor * b[j, 2],
        y[3] + factor * b[j, 3],
        y[4] + factor * b[j, 4],
        y[5] + factor * b[j, 5],
        y[6] + factor * b[j, 6],
        y[7] + factor * b[j, 7],
    )


@paragraph
def plus_squares(q: Eight, y: Eight) -> Eight:
    """The sum q + y * y, lane by lane."""
    return (
        q[0] + y[0] * y[0],
        q[1] + y[1] * y[1],
        q[2] + y[2] * y[2],
        q[3] + y[3] * y[3],
        q[4] + y[4] * y[4],
        q[5] + y[5] * y[5],
        q[6] + y[6] * y[6],
        q[7] + y[7] * y[7],
    )


@paragraph
def smaller(y: Eight, row: Floats, start: int) -> Eight:
    """The smaller of y and row[start : start + 8], lane by lane."""
    return (
        row[start] if row[start] < y[0] else y[0],
        row[start + 1] if row[start + 1] < y[1] else y[1],
        row[start + 2] if row[start + 2] < y[2] else y[2],
        row[start + 3] if row[start + 3] < y[3] else y[3],
        row[start + 4] if row[start + 4] < y[4] else y[4],
        row[start + 5] if row[start + 5] < y[5] else y[5],
        row[start + 6] if row[start + 6] < y[6] else y[6],
        row[start + 7] if row[start + 7] < y[7] else y[7],
    )


@paragraph
def store(y: Eight, out: Floats, start: int) -> None:
    """Write y to out[start : start + 8]. Modified in place: out."""
    out[start] = y[0]
    out[start + 1] = y[1]
    out[start + 2] = y[2]
    out[start + 3] = y[3]
    out[start + 4] = y[4]
    out[start + 5] = y[5]
    out[start + 6] = y[6]
    out[start + 7] = y[7]
