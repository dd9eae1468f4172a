import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.numerics import jacobi
from spclust.numerics.jacobi import LARGEST_FOR_JACOBI
from tests.parts import compiled
from tests.strategies import spd_matrices

in_place = compiled(jacobi.eigen)


def eigen(A):
    """Eigenvalues and eigenvectors, in memory that holds garbage before."""
    values, Q = np.full(len(A), np.nan), np.full(A.shape, np.nan)
    in_place(A, values, Q)
    return values, Q


@given(st.integers(1, LARGEST_FOR_JACOBI + 2).flatmap(spd_matrices))
def test_eigenvalues_and_vectors_are_numpys(S):
    values, Q = eigen(S.copy())
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(S), rtol=1e-9)
    np.testing.assert_allclose(Q.T @ Q, np.eye(len(S)), atol=1e-12)
    np.testing.assert_allclose((Q * values) @ Q.T, S, atol=1e-12 * np.linalg.norm(S))


@pytest.mark.parametrize(
    "S",
    [
        np.eye(4),
        np.diag([1e300, 1.0, 1e-300]),
        np.full((2, 2), 1e300) + np.diag([1e290, 0.0]),
        np.array([[1.0, 1e-16], [1e-16, 1.0]]),
    ],
)
def test_sizes_out_of_all_proportion_end_and_stay_finite(S):
    values, Q = eigen(S.copy())
    assert np.isfinite(values).all()
    np.testing.assert_allclose(Q.T @ Q, np.eye(len(S)), atol=1e-12)
    np.testing.assert_allclose(np.max(values), np.linalg.eigvalsh(S)[-1], rtol=1e-12)
