import numpy as np
import pytest
from numba import config, njit

from spclust.algorithm.typicality import distances_both_ways
from spclust.covariance.dense import add_square
from spclust.covariance.unrolled_loops import (
    add_square_unrolled,
    renew_inverse_unrolled,
    times_vector_unrolled,
)
from spclust.numerics.cholesky import renew_inverse, times_vector
from spclust.parameters import Params
from spclust.state.creation import empty
from spclust.state.kinds import (
    DIAGONAL,
    FULL,
    PLANE,
    UNROLLED,
    Room,
    kind_of_kernel,
    without_unrolling,
)
from spclust.state.scratch import scratch_for, scratch_in_kernel
from spclust.state.structures import in_kernel
from tests.parts import compiled

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


add_square, renew_inverse = compiled(add_square), compiled(renew_inverse)
times_vector = compiled(times_vector)


def measuring(kind):
    @njit
    def measured(memory, scratch, mu, W, x, changed, next_too):
        s, work = in_kernel(memory, kind), scratch_in_kernel(scratch, kind)
        work.mu[:], work.x[:], work.W[:] = mu, x, W
        distances_both_ways(0 if changed else -1, next_too, s, work)
        return np.concatenate(
            (work.changed_q, work.changed_q_back, work.point_q, work.point_q_back)
        ).reshape(4, -1)

    return measured


@pytest.mark.parametrize("d", [6])
def test_written_out_distances_are_those_of_the_loops(d):
    looped, written_out = measuring(FULL), measuring(UNROLLED + d)
    rng = np.random.default_rng(d)
    s = empty(Params(30, 2.0, 0.0, 0.0, 0.0, 0.0, 0.5), d, Room())
    s.live, s.grown = 29, 17
    for array in (s.anchor, s.drift, s.whiten):
        array[:] = rng.normal(size=array.shape)
    (mu, x), W = rng.normal(size=(2, 2, d)), rng.normal(size=d * (d + 1) // 2)
    x[1] = 0.0

    def run(measured, changed, next_too):
        work = scratch_for(s)
        return measured(s.memory, work.memory, mu, W, x, changed, next_too)[:, :29]

    both = run(written_out, True, True)
    np.testing.assert_allclose(both, run(looped, True, True), rtol=1e-14)
    assert np.array_equal(run(written_out, True, False)[:2], both[:2])  # bit by bit
    assert np.array_equal(run(written_out, False, True)[2:], both[2:])


@pytest.mark.parametrize("d", [6, 13])
def test_written_out_growth_is_that_of_the_loops(d):
    kind = UNROLLED + d
    state = empty(Params(1, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0), d, Room()).memory

    @njit
    def grow(memory, Sigma, W, e, p, share):
        s = in_kernel(memory, kind)
        square = times_vector_unrolled(s, W, e, p)
        add_square_unrolled(s, Sigma, share, e)
        renew_inverse_unrolled(s, W, p, share)
        return square

    rng = np.random.default_rng(d)
    e, p, share = rng.normal(size=d), np.zeros(d), 0.3
    A = rng.normal(size=(d, d))
    Sigma, packed = A @ A.T + np.eye(d), rng.normal(size=d * (d + 1) // 2)
    expected, W, expected_p = Sigma.copy(), packed.copy(), np.zeros(d)
    square = times_vector(W, e, expected_p)
    add_square(expected, share, e)
    renew_inverse(W, share * expected_p, np.zeros(d), np.zeros(d))
    assert grow(state, Sigma, packed, e, p, share) == pytest.approx(square, rel=1e-13)
    np.testing.assert_allclose(p, expected_p, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(Sigma, expected, rtol=1e-14)
    np.testing.assert_allclose(packed, W, rtol=1e-12, atol=1e-14)


def test_kernels_are_written_out_for_a_few_features_of_full_covariances():
    assert kind_of_kernel(FULL, 2) == PLANE
    assert kind_of_kernel(FULL, 10) == UNROLLED + 10
    assert kind_of_kernel(FULL, 3) == kind_of_kernel(FULL, 54) == FULL
    assert kind_of_kernel(DIAGONAL, 10) == DIAGONAL
    assert without_unrolling(UNROLLED + 10) == FULL
    assert without_unrolling(PLANE) == PLANE
