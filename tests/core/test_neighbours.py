"""Who is nearest to whom, against a look at all pairs after every point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from spclust.algorithm import neighbours
from spclust.algorithm import update as online
from spclust.algorithm.neighbours import NOBODY
from spclust.parameters import Params
from spclust.state.kinds import FULL
from spclust.state.scratch import scratch_size
from spclust.state.structures import GROWN, LIVE, empty_pool, view, view_in_kernel
from tests.strategies import seeds


@njit
def closest(pool, limit):
    return neighbours.closest_pair_within(limit, view_in_kernel(pool, FULL))


def closest_of_all(s, live):
    """Odds and ids of the closest pair, the oldest among equals (E12)."""
    pairs = [
        (s.pair[i, j], *sorted((s.id[i], s.id[j]))) for i in range(live) for j in range(i + 1, live)
    ]
    return min(pairs)


@settings(max_examples=60)
@given(
    seed=seeds,
    d=st.integers(1, 3),
    n=st.integers(2, 20),
    digits=st.integers(0, 2),
    p=st.sampled_from([2.0, 2.7, 9.0]),
    w_min=st.sampled_from([0.0, 0.05]),
)
def test_the_closest_pair_is_found_and_grown_structures_sit_in_front(seed, d, n, digits, p, w_min):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(80, d)) * 3).round(digits)  # few digits: equal distances are common
    pool = empty_pool(Params(n, p, 0.0, 0.05, w_min, 3.0, 1.0), d)
    scratch = np.full(scratch_size(pool), np.nan)
    for x in X:
        online.learn(pool, x, scratch)
        s, live = view(pool), int(pool[LIVE])
        grown = int(pool[GROWN])
        assert (s.count[:grown] > 1).all()
        assert (s.count[grown:live] == 1).all()
        assert (s.Sigma[grown:] == np.eye(d)).all()
        assert np.isfinite(s.whiten).all()
        for i in range(live):
            assert s.bound[i] <= s.pair[i, i + 1 : live].min(initial=np.inf)
        if live > 1:
            odds, older, newer = closest_of_all(s, live)
            copy = pool.copy()  # the search raises bounds
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
    assert neighbours.only_place(row, float(place), 0, 20) == place
    assert neighbours.only_place(row, float(place), place + 1, 20) == NOBODY
    assert neighbours.only_place(row, float(place), 0, 21) == NOBODY  # twice
    assert neighbours.only_place(row, -5.0, 0, 20) == NOBODY
