import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spclust.auto import scale as frame

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(np.array)


@given(numbers)
def test_the_middle_value_is_numpys(values):
    assert frame._median(values) == np.median(values)


@given(numbers)
def test_the_value_that_nine_of_ten_do_not_exceed_is_numpys(values):
    np.testing.assert_allclose(frame._most(values), np.quantile(values, 0.9), rtol=1e-9, atol=1e-9)
