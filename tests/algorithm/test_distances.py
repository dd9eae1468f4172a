import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spclust.algorithm.typicality import distances_both_ways, distances_of_point
from spclust.numerics import smallest as search
from spclust.parameters import Params
from spclust.state.creation import empty
from spclust.state.kinds import FULL, Room
from spclust.state.scratch import scratch_for, scratch_in_kernel
from spclust.state.structures import in_kernel
from tests.parts import compiled
from tests.strategies import seeds


@njit
def measured(memory, scratch, mu, W, x, changed, next_too, out):
    s, work = in_kernel(memory, FULL), scratch_in_kernel(scratch, FULL)
    work.mu[:], work.x[:], work.W[:] = mu, x, W
    distances_both_ways(0 if changed else -1, next_too, s, work)
    for i in range(out.shape[1]):
        out[0, i], out[1, i] = work.changed_q[i], work.changed_q_back[i]
        out[2, i], out[3, i] = work.point_q[i], work.point_q_back[i]
    distances_of_point(x, s, work.point_q, work.ahead, work.spare)
    for i in range(out.shape[1]):
        out[4, i] = work.point_q[i]


smallest, first_smallest = compiled(search.smallest), compiled(search.first_smallest)


@given(
    d=st.integers(1, 9),
    live=st.integers(1, 30),
    grown=st.integers(0, 30),
    seed=seeds,
    far=st.sampled_from([0.0, 1e9]),
)
def test_distances_are_those_of_the_definition(d, live, grown, seed, far):
    rng = np.random.default_rng(seed)
    s = empty(Params(30, 2.0, 0.0, 0.0, 0.0, 0.0, 0.5), d, Room())
    s.live, s.grown = live, grown
    for array in (s.anchor, s.drift):
        array[:] = rng.normal(size=array.shape)
    s.anchor[:] += far
    for i in range(grown):
        s.whiten[i // 8, :, i % 8] = rng.normal(size=s.whiten.shape[1])
    (mu, x), W = rng.normal(size=(2, 2, d)), rng.normal(size=d * (d + 1) // 2)
    mu[0] += far
    x[0], x[1] = x[0] + far, 0.0

    def run(changed, next_too):
        out, work = np.full((5, 32), np.nan), scratch_for(s)
        measured(s.memory, work.memory, mu, W, x, changed, next_too, out)
        return out[:, :live]

    both = run(True, True)
    low = np.tril_indices(d)
    given_W = np.zeros((d, d))
    given_W[low] = W
    for i in range(live):
        own = np.zeros((d, d))
        own[low] = s.whiten[i // 8, :, i % 8]
        mean, drift = s.anchor[i // 8, :, i % 8], s.drift[i // 8, :, i % 8]
        e, f = (2.0 * (a[0] - mean + (a[1] - drift)) for a in (mu, x))
        expected = [own @ e, given_W @ e, own @ f, f, own @ f]
        np.testing.assert_allclose(both[:, i], [np.sum(y**2) for y in expected], rtol=1e-9)
    assert np.array_equal(run(True, False)[:2], both[:2])  # alone or together, bit by bit
    assert np.array_equal(run(False, True)[2:], both[2:])


numbers = st.sampled_from([0.0, 1.0, 1.0, 2.0, -3.0, np.inf, -np.inf])


@given(st.lists(numbers, min_size=1, max_size=40), seeds)
def test_the_first_smallest_is_the_oldest_of_the_smallest(row, seed):
    ids = np.random.default_rng(seed).permutation(len(row))
    padded = np.concatenate([row, np.full(8, -np.inf)])  # what lies behind is not looked at
    assert smallest(padded, 0, len(row)) == min(row)
    expected = min(range(len(row)), key=lambda j: (row[j], ids[j]))
    assert first_smallest(padded, ids, len(row)) == expected
