"""Parts of a row, eight numbers at a time: compiled, and in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust.numerics import eight as lanes
from spclust.numerics import eight_python as lanes_in_python


@njit
def doubled_until(row, i, end):
    y = lanes.load_until(row, i, end)
    lanes.store_until(y + y, row, i, end)
    return lanes.sum_of(y)


def doubled_in_python(row, i, end):
    y = lanes_in_python.load_until(row, i, end)
    lanes_in_python.store_until(y + y, row, i, end)
    return lanes_in_python.sum_of(y)


@pytest.mark.parametrize("doubled", [doubled_until, doubled_in_python])
@given(n=st.integers(1, 20), i=st.integers(0, 19), length=st.integers(0, 12))
def test_nothing_at_the_end_and_behind_it_is_touched(doubled, n, i, length):
    n = max(n, i + 1)
    end = min(i + length, n)
    memory = np.full(n + 8, np.nan)  # whatever lies behind a row
    row = memory[:n]
    row[:] = np.arange(1.0, n + 1.0)
    row[end:] = np.nan
    before = memory.copy()
    part = slice(i, min(i + 8, end))
    assert doubled(row, i, end) == before[part].sum()
    before[part] *= 2.0
    np.testing.assert_array_equal(memory, before)
