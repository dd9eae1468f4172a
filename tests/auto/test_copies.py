"""Data of a few values, of which structures hold nothing but copies."""

import numpy as np
import pytest

from spclust import SPC


@pytest.mark.parametrize("half_life", [None, 500])
@pytest.mark.parametrize("values", [[0.0, 10.0], [0.0, 1.0, 10.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
def test_each_of_a_few_values_is_a_cluster(values, half_life):
    for seed in range(3):
        x = np.random.default_rng(seed).choice(values, size=(1500, 1))
        model = SPC(half_life=half_life).fit(x)
        assert model.n_clusters_ == len(values)
        assert len(set(model.predict(np.array(values)[:, np.newaxis]))) == len(values)
        assert model.predict(x).min() >= 0


def test_many_copies_of_one_value_are_a_cluster_beside_a_normal_one():
    rng = np.random.default_rng(0)
    x = np.where(rng.random((200_000, 1)) < 0.5, 0.0, rng.normal(10.0, 1.0, (200_000, 1)))
    model = SPC().fit(x)
    assert model.n_clusters_ == 2
    assert len(set(model.predict([[0.0], [10.0]]))) == 2


@pytest.mark.parametrize("half_life", [None, 20.5])
def test_points_that_are_all_equal_are_one_structure_or_more_in_one_cluster(half_life):
    model = SPC(5, half_life=half_life).fit(np.full((60, 2), 3.5))
    assert model.n_clusters_ == 1
    assert (model.structures_.mean == 3.5).all()
    assert model.predict([[3.5, 3.5]]).tolist() == [0]
    assert model.typicality([[3.5, 3.5]]).tolist() == [[1.0]]
