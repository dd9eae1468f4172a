"""Smallest numbers of a row and their places, eight numbers at a time."""

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.jit.decorators import part
from spclust.numerics.eight import (
    LANES,
    equal_bits,
    first_bit,
    load,
    same,
    smaller_of,
    smallest_of,
)

NOWHERE = -1


@part
def smallest(row: Floats, start: int, end: int) -> float:
    """Smallest of row[start:end], eight at a time; infinity if there is none."""
    eight, least = same(np.inf), np.inf
    while start + LANES <= end:
        eight = smaller_of(eight, load(row, start))
        start += LANES
    for j in range(start, end):
        least = min(least, row[j])
    return min(least, smallest_of(eight))


@part
def place_of_smallest(row: Floats) -> int:
    """Place of the smallest number; of equal ones, the first."""
    best = 0
    for j in range(row.size):
        best = j if row[j] < row[best] else best
    return best


@part
def only_place(row: Floats, value: float, start: int, end: int) -> int:
    """Place of `value` in row[start:end] if it is there once, else NOWHERE."""
    place = NOWHERE
    for block in range(start - start % LANES, end, LANES):
        bits = equal_bits(load(row, block), same(value))
        if block < start:
            bits &= -(1 << (start - block))
        if block + LANES > end:
            bits &= (1 << (end - block)) - 1
        if bits != 0:
            if place != NOWHERE or bits & (bits - 1) != 0:
                return NOWHERE
            place = block + first_bit(bits)
    return place


@part
def first_smallest(row: Floats, ids: Integers, end: int) -> int:
    """Place of the smallest of row[:end]; of equal ones, that of the lowest id (E12)."""
    least = smallest(row, 0, end)
    best = only_place(row, least, 0, end)
    if best != NOWHERE:  # nearly always
        return best
    for j in range(end):
        if row[j] == least and (best == NOWHERE or ids[j] < ids[best]):
            best = j
    return best
