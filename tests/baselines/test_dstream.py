"""D-Stream: its laws, and agreement with a slow reference on streams drawn by Hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.experiments.baselines import DStream
from tests.baselines.common import moving_blobs
from tests.reference.dstream import SlowDStream
from tests.strategies import examples, streams


def density_of(model, cell):
    cells, density = model._online.occupied()
    return density[(cells == cell).all(axis=1)][0]


def in_cells(*counts):
    """So many points in the middle of cells (0,), (1,), ... of side 1."""
    return np.repeat(np.arange(len(counts)) + 0.5, counts)[:, np.newaxis]


@pytest.mark.parametrize("decay", [0.9, 0.998, 0.999999])
def test_density_of_a_cell_that_gets_all_points(decay):
    model = DStream(decay=decay).fit(np.zeros((50, 2)))
    assert density_of(model, [0, 0]) == pytest.approx(sum(decay**k for k in range(50)), rel=1e-12)


@pytest.mark.parametrize("decay", [0.9, 0.998, 1.0])
def test_densities_sum_to_the_mass_if_nothing_is_removed(decay):
    X = moving_blobs()
    model = DStream(decay=decay, gap=10**6).fit(X)
    _, density = model._online.occupied()
    expected = len(X) if decay == 1 else (1 - decay ** len(X)) / (1 - decay)
    assert density.sum() == pytest.approx(expected, rel=1e-12)
    assert model._online.mass(steady=False) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("link", ["all", "dense"])
def test_cells_that_touch_at_a_corner_are_two_clusters(link):
    corner = np.repeat([[0.5, 0.5], [1.5, 1.5]], 20, axis=0)
    model = DStream(link=link, n_cells=100).fit(corner)
    assert model.predict([[0.5, 0.5], [1.5, 1.5]]).tolist() == [0, 1]
    edge = np.concatenate([corner, np.repeat([[0.5, 1.5]], 20, axis=0)])
    assert set(DStream(link=link, n_cells=100).fit_predict(edge)) == {0}


@pytest.mark.parametrize(("link", "expected"), [("all", [0, 0, 0]), ("dense", [0, 0, 1])])
def test_whether_transitional_cells_join(link, expected):
    """Mean density of 10 cells 4.7: 20 and 22 are dense, 5 is transitional, 3 is sparse."""
    model = DStream(decay=1.0, link=link, n_cells=10, hard=False)
    middles = [[0.5], [1.5], [2.5]]
    assert model.fit(in_cells(20, 5, 22)).predict(middles).tolist() == expected
    assert model.fit(in_cells(20, 3, 22)).predict(middles).tolist() == [0, -1, 1]


def test_a_transitional_cell_goes_along_with_the_largest_cluster():
    model = DStream(decay=1.0, link="dense", n_cells=20)
    assert model.fit(in_cells(30, 8, 32, 30)).predict([[0.5], [1.5], [2.5]]).tolist() == [0, 1, 1]


def test_bounds_of_dense_and_sparse_belong_to_them():
    """10 cells and 10 points, mean density 1: 3 is dense, and 1 (times 1 / 2) is not sparse."""
    X = np.array([0.5] * 3 + [1.5] + [5.5] * 6)[:, np.newaxis]
    params = {"decay": 1.0, "n_cells": 10, "hard": False}
    assert DStream(**params).fit(X).predict([[0.5], [1.5]]).tolist() == [0, 0]
    halved = DStream(sparse=0.5, dense=6.0, **params)
    assert halved.fit(X).predict([[0.5], [5.5]]).tolist() == [-1, 0]
    X = np.concatenate([X[:2], [[9.5]], X[3:]])  # 2 and 1 beside each other, none dense
    assert DStream(**params).fit(X).predict([[0.5], [1.5], [5.5]]).tolist() == [-1, -1, 0]


def test_a_cell_with_just_the_density_of_a_sparse_one_is_sparse():
    """5 cells and 10 points, mean density 2: beside a dense 6 there is a 1, half the mean."""
    X = np.array([0.5] * 3 + [3.5] + [4.5] * 6)[:, np.newaxis]
    for sparse, expected in [(0.5, -1), (0.49, 0)]:
        model = DStream(decay=1.0, n_cells=5, sparse=sparse, hard=False).fit(X)
        assert model.predict([[3.5], [4.5]]).tolist() == [expected, 0]


def test_negative_numbers_have_cells_of_the_same_size():
    model = DStream(side=2.0, gap=10**6).fit([[-0.1], [0.1], [-1.9], [-2.1], [-0.0]])
    cells, density = model._online.occupied()
    assert dict(zip(cells[:, 0], density.round().astype(int), strict=True)) == {-1: 2, 0: 2, -2: 1}


def vanishings(X, protection):
    """Numbers of points after which cell 5 was removed, and the model."""
    model = DStream(decay=0.9, n_cells=10, gap=1, protection=protection)
    found, there = [], False
    for t, x in enumerate(X, start=1):
        cells, _ = model.partial_fit(x[np.newaxis])._online.occupied()
        if there and 5.0 not in cells:
            found.append(t)
        there = 5.0 in cells
    return found, model


@pytest.mark.parametrize(("decay", "n_cells"), [(0.5, 5), (0.9, 10), (0.9, 40), (0.99, 8)])
def test_a_cell_is_removed_when_the_published_bound_says_so(decay, n_cells):
    idle = next(
        a for a in range(1000) if decay**a < 0.8 * (1 - decay ** (a + 1)) / (n_cells * (1 - decay))
    )
    model = DStream(decay=decay, n_cells=n_cells, gap=1)
    model.fit([[5.5]]).partial_fit(np.full((idle - 1, 1), 0.5))
    assert len(model._online.slots) == 2
    assert len(model.partial_fit([[0.5]])._online.slots) == 1


def test_cells_that_get_no_more_points_are_removed_and_protected_for_a_while():
    X = np.concatenate([[[5.5]], np.full((400, 1), 0.5)])
    (first,), model = vanishings(X, protection=0.3)
    assert first < 30
    assert not model._online.removals  # nothing is remembered for ever
    X[first] = 5.5
    assert vanishings(X, protection=0.0)[0] == [first, 2 * first]
    assert vanishings(X, protection=0.3)[0] == [first, 2 * first]
    assert vanishings(X, protection=9.0)[0] == [first, 10 * first]


def test_without_decay_nothing_is_removed_and_there_is_no_steady_state():
    X = moving_blobs()
    model = DStream(decay=1.0, gap=1).fit(X)
    assert len(model._online.slots) == len(np.unique(np.floor(X), axis=0))
    with pytest.raises(ValueError, match='take mass="actual"'):
        DStream(decay=1.0, mass="steady").fit(X)


def test_many_features_are_no_burden():
    X = np.random.default_rng(0).normal(size=(200, 1024))
    model = DStream(side=0.5).fit(X)
    assert model._online.n_cells == np.inf
    assert len(set(model.labels_)) == 200  # one for each cell
    X[1::2] = X[::2]
    X[1::2, 5] += 0.5  # to the next cell
    assert len(set(model.fit_predict(X))) == 100
    assert set(DStream(side=0.5, n_cells=10**400).fit(X).labels_) == set(range(100))


@examples(150)
@given(
    X=streams(most_features=3, most_points=120),
    side=st.floats(0.5, 10.0),
    decay=st.sampled_from([0.7, 0.95, 0.998, 1.0]),
    dense=st.floats(1.1, 4.0),
    sparse=st.floats(0.1, 0.9),
    protection=st.sampled_from([0.0, 0.3]),
    gap=st.sampled_from([None, None, 5]),
    mass=st.sampled_from(["actual", "steady"]),
    link=st.sampled_from(["all", "dense"]),
    hard=st.booleans(),
)
def test_the_slow_one_agrees(X, side, hard, **params):
    if params["decay"] == 1.0:
        params["mass"] = "actual"
    model, slow = DStream(side, hard=hard, **params).fit(X), SlowDStream(side, **params)
    for x in X:
        slow.learn(x)
    cells, density = model._online.occupied()
    assert [tuple(cell) for cell in cells] == list(slow.density)
    assert density == pytest.approx(list(slow.density.values()), rel=1e-9)
    assert model.labels_.tolist() == [slow.predict(x, hard) for x in X]
