"""Covariances of restricted form: the same algorithm, with another union."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.algorithm.test_oracle import TIE, assert_same_structures
from tests.fixed import SPC
from tests.reference.algorithm1 import Algorithm1, diagonal_union, spherical_union
from tests.strategies import examples, online_params, streams

UNIONS = {"diag": diagonal_union, "spherical": spherical_union}


@pytest.mark.parametrize("kind", UNIONS)
def test_the_compiled_path_gives_the_structures_of_the_restricted_algorithm(kind):
    compared = []

    @examples(100)
    @given(X=streams(least_points=40), params=online_params(most_structures=12))
    def agree(X, params):
        oracle = Algorithm1(**params, union=UNIONS[kind])
        for x in X:
            oracle.update(x)
        model = SPC(**params, covariance_type=kind).fit(X)
        assume(oracle.narrowest > TIE)
        assert_same_structures(oracle, model)
        assert model._stream.pruned == oracle.pruned
        compared.append(oracle.merges)

    agree()
    assert sum(compared) > 2000


@pytest.mark.parametrize("kind", UNIONS)
@given(data=st.data())
def test_distances_are_those_of_the_dense_covariance(kind, data):
    X = data.draw(streams(least_points=30, most_points=60, most_features=6))
    model = SPC(6, covariance_type=kind).fit(X)
    table = model.structures_
    nlt = [
        np.log1p(np.einsum("ni,ij,nj->n", X - mu, np.linalg.inv(Sigma), X - mu) ** 2)
        for mu, Sigma in zip(table.mean, table.covariance, strict=True)
    ]
    np.testing.assert_allclose(-model.score_samples(X), np.min(nlt, axis=0), rtol=1e-7, atol=1e-9)
