import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust.core.distances import Unit, distances_in_structure, distances_of_point
from spclust.core.neighbours import first_smallest, smallest
from spclust.core.structures import empty_pool, view, view_in_kernel
from spclust.core.typicality import Relation
from spclust.params import Params
from tests.strategies import seeds


@njit
def both_ways(pool, mu, W, live, per_scale, q, q_back, fresh, offset):
    s, unit, out = view_in_kernel(pool), Unit(per_scale, 1e150), Relation(q, q_back, q, q, q)
    distances_of_point(mu, s, live, unit, out, offset)
    fresh[:] = q_back
    distances_in_structure(mu, W, s, live, unit, out, offset)


@given(d=st.integers(1, 9), live=st.integers(1, 30), seed=seeds, far=st.sampled_from([0.0, 1e9]))
def test_distances_are_those_of_the_definition(d, live, seed, far):
    rng = np.random.default_rng(seed)
    pool = empty_pool(Params(30, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0), d)
    s = view(pool)
    for array in (s.anchor, s.drift, s.whiten):
        array[:] = rng.normal(size=array.shape)
    s.anchor[:] += far
    t = d * (d + 1) // 2
    x, W = rng.normal(size=(2, d)), rng.normal(size=t)
    x[0] += far
    q, q_back, fresh = np.full((3, 32), np.nan)
    both_ways(pool, x, W, live, 2.0, q, q_back, fresh, np.empty((d, 8)))
    low = np.tril_indices(d)
    for i in range(live):
        e = 2.0 * (x[0] - s.anchor[i // 8, :, i % 8] + (x[1] - s.drift[i // 8, :, i % 8]))
        own, given_W = np.zeros((d, d)), np.zeros((d, d))
        own[low], given_W[low] = s.whiten[i // 8, :, i % 8], W
        np.testing.assert_allclose(q[i], np.sum((own @ e) ** 2), rtol=1e-9)
        np.testing.assert_allclose(fresh[i], e @ e, rtol=1e-9)
        np.testing.assert_allclose(q_back[i], np.sum((given_W @ e) ** 2), rtol=1e-9)


numbers = st.sampled_from([0.0, 1.0, 1.0, 2.0, -3.0, np.inf, -np.inf])


@given(st.lists(numbers, min_size=1, max_size=40), seeds)
def test_the_first_smallest_is_the_oldest_of_the_smallest(row, seed):
    ids = np.random.default_rng(seed).permutation(len(row)).astype(float)
    padded = np.concatenate([row, np.full(8, -np.inf)])  # what lies behind is not looked at
    assert smallest(padded, len(row)) == min(row)
    expected = min(range(len(row)), key=lambda j: (row[j], ids[j]))
    assert first_smallest(padded, ids, len(row)) == expected
