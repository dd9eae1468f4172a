"""Labels that last: a number stays with its cluster, and no other cluster ever gets it."""

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import normalized_mutual_info_score

from spclust import SPC
from spclust.auto.clusters.lasting_labels import NOTHING_READ, next_reading
from spclust.stream import automatic_query
from tests.auto.automatic_states import half_lives, memory
from tests.strategies import examples, streams

PLACES = {"stays": (0.0, 0.0), "goes": (30.0, 0.0), "comes": (0.0, 30.0)}


def around(names, n, seed):
    rng = np.random.default_rng(seed)
    centres = np.array([PLACES[name] for name in names])
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2))


def labels_at(model):
    return dict(zip(PLACES, model.predict(list(PLACES.values())).tolist(), strict=True))


@pytest.mark.parametrize("batch", [1, 50, 3000])
def test_clusters_that_come_and_go_leave_the_labels_of_others_alone(batch):
    model = SPC(half_life=200).partial_fit(around(["stays", "goes"], 1500, 0))
    before = labels_at(model)
    X = around(["stays", "comes"], 3000, 1)
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch])
    after = labels_at(model)
    assert sorted((before["stays"], before["goes"])) == [0, 1]
    assert before["comes"] == after["goes"] == -1
    assert after["stays"] == before["stays"]
    assert after["comes"] > 1
    assert model.cluster_labels_.tolist() == sorted((after["stays"], after["comes"]))


def test_everything_that_counts_clusters_counts_the_same_ones():
    model = SPC(half_life=200).partial_fit(around(["goes", "stays"], 1500, 0))
    assert model.cluster_labels_.tolist() == [0, 1]
    X = around(["stays", "comes"], 3000, 1)
    model.partial_fit(X)
    labels = model.cluster_labels_
    assert labels.max() > model.n_clusters_ - 1 == 1
    assert set(model.labels_) - {-1} == set(model.predict(X)) - {-1} == set(labels)
    assert set(model.structures_.label) - {-1} == set(labels)
    assert model.describe()["label"].tolist() == labels.tolist()
    assert model.typicality(X).shape == (len(X), 2)
    best = labels[model.typicality(X).argmax(axis=1)]
    inside = model.predict(X) >= 0
    assert np.array_equal(best[inside], model.predict(X)[inside])
    assert np.array_equal(model.predict(model.cluster_centers_), labels)
    assert model.transform(X).shape == (len(X), len(model.get_feature_names_out()))


def test_fit_numbers_clusters_from_0_on_without_gaps():
    X = np.concatenate([around(["stays", "goes"], 1500, 0), around(["stays", "comes"], 3000, 1)])
    model = SPC(half_life=200).partial_fit(X)
    assert model.cluster_labels_.max() > 1
    model.fit(X)
    assert model.cluster_labels_.tolist() == [0, 1]
    labels = labels_at(model)
    model.partial_fit(X[-500:])
    assert labels_at(model) == labels


@pytest.mark.parametrize("saved", [False, True])
def test_labels_of_clusters_that_move_stay_with_them(saved):
    rng = np.random.default_rng(0)
    n = 6000
    y, turn = rng.integers(3, size=n), np.pi * np.arange(n) / n
    angle = turn + 2.0 * np.pi * y / 3.0
    X = 12.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(n, 2))
    model, labels = SPC(half_life=300).partial_fit(X[:300]), []
    for start in range(300, n, 100):
        labels.append(model.predict(X[start : start + 100]))
        model.partial_fit(X[start : start + 100])
        if saved:
            model = SPC.from_bytes(model.to_bytes())
    assert normalized_mutual_info_score(y[300:], np.concatenate(labels)) > 0.95


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_narrow_cluster_that_moves_fast_among_outliers_keeps_its_label(seed):
    """By 20 of its standard deviations from one reading to the next, among three others."""
    rng, n, d = np.random.default_rng(seed), 8000, 4
    centres, way = rng.normal(size=(4, d)) * 10.0, rng.normal(size=d)
    y = rng.integers(4, size=n)
    X = centres[y] + rng.normal(size=(n, d)) * np.where(y == 3, 0.05, 1.0)[:, np.newaxis]
    X += np.outer((y == 3) * 0.005 * np.arange(n), way / np.linalg.norm(way))
    others = rng.random(n) < 0.03
    X[others] = rng.uniform(-30.0, 30.0, size=(int(others.sum()), d))
    model, labels = SPC(half_life=500), []
    for start in range(0, n, 200):
        of_rows = model.partial_fit(X[start : start + 200]).labels_
        of_moving = of_rows[((y == 3) & ~others)[start : start + 200]]
        labels.append(int(np.bincount(of_moving[of_moving >= 0]).argmax()))
    assert len(set(labels)) == 1


@examples(30)
@given(streams(), half_lives)
def test_reading_changes_nothing_that_is_learnt_and_numbers_are_used_up(X, h):
    read, silent = (SPC(8, half_life=h) for _ in range(2))
    numbers = 0  # given so far: at renewals, too, so that a reader may see 2 before 1
    for at in range(0, len(X), 5):
        part = X[at : at + 5]
        labels = read.partial_fit(part).cluster_labels_.tolist()
        silent.partial_fit(part)
        assert len(set(labels)) == len(labels) == read.n_clusters_
        assert numbers <= read._stream.reading.given
        numbers = read._stream.reading.given
        assert all(0 <= label < numbers for label in labels)
    assert memory(read) == memory(silent)
    assert np.array_equal(read.partial_fit(X).predict(X) < 0, silent.partial_fit(X).predict(X) < 0)


def test_labels_that_were_read_are_the_readers_own():
    model = SPC().fit(around(["stays", "goes"], 500, 0))
    model.clustering()[:] = 7
    assert model.cluster_labels_.tolist() == [0, 1]


def test_several_threads_may_read_for_the_first_time(monkeypatch):
    def slow(*arguments):
        time.sleep(0.05)
        return next_reading(*arguments)

    monkeypatch.setattr(automatic_query, "next_reading", slow)
    X = around(["stays", "goes"], 500, 0)
    model = SPC().fit(X)
    with ThreadPoolExecutor(8) as pool:
        labels = [each.result() for each in [pool.submit(model.predict, X) for _ in range(8)]]
    assert all(np.array_equal(each, labels[0]) for each in labels)
    assert set(labels[0]) - {-1} == {0, 1}


def test_a_cluster_that_is_one_with_another_for_a_while_gets_its_label_back():
    s = SimpleNamespace(seen=0, live=4, capacity=100, id=np.arange(4), clusters=1)
    s.mass, s.cluster = np.array([3.0, 3.0, 2.0, 2.0]), np.zeros(4, dtype=np.int64)
    readings = [NOTHING_READ]

    def read(clusters, points):
        s.seen += points
        readings.append(next_reading(readings[-1], s, np.array(clusters)))
        return readings[-1].label.tolist()

    assert read([0, 0, 1, 1], 1000) == [0, 0, 1, 1]
    assert read([0, 0, 0, 0], 50) == [0, 0, 0, 0]
    assert read([0, 0, 1, 1], 50) == [0, 0, 1, 1]
    assert read([0, 0, 1, -1], 50) == [0, 0, 1, -1]
    assert read([0, 0, 0, 0], 50) == [0, 0, 0, 0]
    assert read([0, 0, 0, 0], 200) == [0, 0, 0, 0]  # for too long: it is forgotten
    assert read([0, 0, 1, 1], 50) == [0, 0, 2, 2]
    assert read([0, 1, 2, 2], 50) == [0, 3, 2, 2]
