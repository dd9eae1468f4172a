"""Labels that last: a number stays with its cluster, and no other cluster ever gets it."""

import pickle

import numpy as np
from sklearn.metrics import adjusted_rand_score

from spclust.river import SPC
from tests.river_interface.streams import as_points


def labels_of_stream(model, X):
    """The label of each point before it is learnt."""
    labels = []
    for x in as_points(X):
        labels.append(model.predict_one(x))
        model.learn_one(x)
    return np.array(labels)


def around(centres, n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(centres), size=n)
    return np.array(centres)[y] + rng.normal(size=(n, 2)), y


def test_clusters_that_come_and_go_leave_the_numbers_of_others_alone():
    places = {"stays": (0.0, 0.0), "goes": (30.0, 0.0), "comes": (0.0, 30.0)}
    first, _ = around([places["stays"], places["goes"]], 1500, 0)
    later, _ = around([places["stays"], places["comes"]], 3000, 1)
    model = SPC(half_life=200)
    labels_of_stream(model, first)
    before = {
        name: model.predict_one(dict(zip("ab", at, strict=True))) for name, at in places.items()
    }
    labels_of_stream(model, later)
    after = {
        name: model.predict_one(dict(zip("ab", at, strict=True))) for name, at in places.items()
    }
    assert before["stays"] == after["stays"] >= 0
    assert after["comes"] not in (*before.values(), -1)
    assert set(model.clusters) == {after["stays"], after["comes"]}
    assert set(model.typicality_one({"a": 0.0, "b": 0.0})) == set(model.clusters)


def test_labels_of_a_stream_that_turns_are_those_of_its_clusters():
    rng = np.random.default_rng(0)
    n = 3000
    y, turn = rng.integers(3, size=n), np.pi * np.arange(n) / n
    angle = turn + 2.0 * np.pi * y / 3.0
    X = 12.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(n, 2))
    labels = labels_of_stream(SPC(half_life=300), X)
    assert adjusted_rand_score(y[300:], labels[300:]) > 0.95


def test_a_copy_goes_on_with_the_same_numbers():
    X, _ = around([(0.0, 0.0), (20.0, 0.0), (0.0, 20.0)], 900, 3)
    model = SPC(half_life=100)
    labels_of_stream(model, X[:600])
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(labels_of_stream(model, X[600:]), labels_of_stream(copy, X[600:]))
