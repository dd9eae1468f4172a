"""The closest pair, against a search through all pairs after every point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust.algorithm import closest_pair, kernels
from spclust.numerics import smallest as search
from spclust.parameters import Params
from spclust.state.creation import empty
from spclust.state.kinds import FULL, Room
from spclust.state.scratch import scratch_for
from spclust.state.structures import NOBODY, in_kernel
from tests.parts import compiled
from tests.strategies import examples, seeds


@njit
def closest(memory, limit):
    return closest_pair.closest_pair_within(limit, in_kernel(memory, FULL))


only_place = compiled(search.only_place)


def closest_of_all(s, live):
    """Odds and ids of the closest pair, the oldest among equals (E12)."""
    pairs = [
        (s.pair[i, j], *sorted((s.id[i], s.id[j]))) for i in range(live) for j in range(i + 1, live)
    ]
    return min(pairs)


@examples(60)
@given(
    seed=seeds,
    d=st.integers(1, 3),
    n=st.integers(2, 20),
    digits=st.integers(0, 2),
    p=st.sampled_from([2.0, 2.7, 9.0]),
    w_min=st.sampled_from([0.0, 0.05]),
)
def test_the_closest_pair_is_found_and_grown_structures_come_first(seed, d, n, digits, p, w_min):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(80, d)) * 3).round(digits)  # few digits: equal distances are common
    s = empty(Params(n, p, 0.0, 0.05, w_min, 3.0, 1.0), d, Room())
    work = scratch_for(s)
    for array in work.views.values():
        array[...] = np.nan
    for x in X:
        kernels.learn(s, x, work)
        live, grown = s.live, s.grown
        assert (s.count[:grown] > 1).all()
        assert (s.count[grown:live] == 1).all()
        assert (s.Sigma[grown:] == np.eye(d)).all()
        assert np.isfinite(s.whiten).all()
        for i in range(live):
            assert s.bound[i] <= s.pair[i, i + 1 : live].min(initial=np.inf)
        if live > 1:
            odds, older, newer = closest_of_all(s, live)
            copy = s.memory.copy()  # the search raises bounds
            i, j = closest(copy, np.inf)
            assert (s.id[i], s.id[j]) == (older, newer)
            assert closest(copy, odds) == (i, j)
            if odds > -np.inf:  # the logarithm for copies of one point
                below = np.nextafter(odds, -np.inf)
                assert closest(copy, below) == (NOBODY, NOBODY)


@pytest.mark.parametrize("place", range(20))
def test_a_value_is_found_where_it_is_alone(place):
    row = np.arange(24.0)
    row[20:] = place  # behind the end
    assert only_place(row, float(place), 0, 20) == place
    assert only_place(row, float(place), place + 1, 20) == NOBODY
    assert only_place(row, float(place), 0, 21) == NOBODY  # twice
    assert only_place(row, -5.0, 0, 20) == NOBODY
