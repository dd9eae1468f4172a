"""One point per call: the same stream as in batches, and nothing unsound gets in."""

import contextlib
import copy
import pickle
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import spclust
from spclust.auto import automatic_kernels
from spclust.stream import stream
from tests.fixed import SPC


def test_points_learnt_one_by_one_are_learnt_as_a_batch_is(X):
    params = {"n_structures": 7, "beta": 0.3, "w_min": 0.2}  # pruning now and then
    whole, single = SPC(**params).partial_fit(X), SPC(**params)
    for x in X:
        single.learn_one(x)
    assert whole._stream.pruned > 0
    assert single._stream.structures.memory.tobytes() == whole._stream.structures.memory.tobytes()
    assert single.n_samples_seen_ == len(X)
    assert np.array_equal(single.predict(X), whole.labels_)
    with pytest.raises(AttributeError, match="one by one"):
        _ = single.labels_
    assert len(single.partial_fit(X[:5]).labels_) == 5


FORMS = [
    list,
    tuple,
    np.float32,
    lambda x: np.repeat(x, 2)[::2],
    lambda x: x[::-1].copy()[::-1],
    lambda x: x.astype(object),
]


@pytest.mark.parametrize("form", FORMS)
def test_one_point_may_come_in_any_form(X, form):
    model, expected = SPC(5).fit(X), SPC(5).fit(X)
    for x in X[:3].astype(np.float32).astype(float):
        model.learn_one(form(x))
        expected.partial_fit(x[np.newaxis])
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()


@pytest.mark.parametrize("form", [np.asarray, list, lambda x: np.round(x).astype(int)])
def test_names_of_features_are_ignored(X, form):
    """Without a warning, which would be an error here."""
    model, expected = SPC(5).fit(pd.DataFrame(X, columns=["a", "b"])), SPC(5).fit(X)
    for x in X[:3]:
        model.learn_one(form(x))
        expected.learn_one(form(x))
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_a_strided_point_compiles_nothing_new(X):
    model, expected = spclust.SPC(5).fit(X), spclust.SPC(5).fit(X)
    model.learn_one(X[0])
    kernels = automatic_kernels.automatic_learner.cache_info().misses
    model.learn_one(np.repeat(X[1], 2)[::2])
    expected.partial_fit(X[:2])
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()
    assert automatic_kernels.automatic_learner.cache_info().misses == kernels


def test_a_single_feature_may_have_any_stride():
    column = np.random.default_rng(0).normal(size=(50, 1))
    model, expected = SPC(5).fit(column), SPC(5).fit(column)
    for x in np.repeat(column, 2, axis=1):
        model.learn_one(x[::2])
        expected.partial_fit(x[np.newaxis, ::2])
        expected.partial_fit(np.repeat(column[:1], 2, axis=1)[:, ::2])
        model.learn_one(column[0])
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ([1.0, np.nan], "X contains NaN at row 0, column 1"),
        (np.array([1.0, np.inf]), "infinity"),
        ([1.0, 2.0, 3.0, 4.0], "4 features"),
        ([[1.0, 2.0]], r"one point of shape \(d,\)"),
        (5.0, r"one point of shape \(d,\)"),
        ([1.0, "a"], "'a'"),
    ],
)
def test_a_bad_point_is_refused_and_nothing_is_lost(X, x, sentence):
    model = SPC(5).fit(X)
    model.learn_one(X[0])
    before = model._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match=sentence):
        model.learn_one(x)
    assert model._stream.structures.memory.tobytes() == before
    model.learn_one(X[1])
    assert model.n_samples_seen_ == len(X) + 2


@pytest.mark.parametrize(
    ("stamp", "scale"), [(None, 1.0), (None, "auto"), (9.0, 1.0), (9.0, "auto")]
)
@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (4,), (6,), (1, 2), (2, 1), (2, 2), ()])
def test_an_array_of_another_shape_is_refused_and_nothing_is_lost(X, stamp, scale, shape):
    model = spclust.SPC(5, scale=scale).fit(X, t=None if stamp is None else np.full(len(X), stamp))
    for x in X[:2]:
        model.learn_one(x, t=stamp)
    before = model._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match=r"shape|features"):
        model.learn_one(np.ones(shape), t=stamp)
    assert model._stream.structures.memory.tobytes() == before
    model.learn_one(X[2], t=stamp)
    assert model.n_samples_seen_ == len(X) + 3


def test_single_points_do_not_wait_for_a_busy_thread(X):
    model, points, turns = SPC(5).fit(X), list(X) * 20, [0]
    model.learn_one(X[0])
    done = threading.Event()

    def be_busy():
        while not done.is_set():
            turns[0] += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.02)  # much longer than to learn all points
    busy = threading.Thread(target=be_busy)
    busy.start()
    try:
        waited = 0
        for x in points:
            before = turns[0]
            model.learn_one(x)
            waited += turns[0] != before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        busy.join()
    assert turns[0] > 0
    assert waited <= len(points) / 100


@pytest.mark.parametrize("k", [1, 2, 12])
def test_a_model_of_single_points_can_be_copied_and_pickled(X, k):
    model = SPC(5)
    for x in X[:k]:
        model.learn_one(x)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        twin.learn_one(X[k])
        assert twin.n_samples_seen_ == k + 1
        with pytest.raises(AttributeError, match="one by one"):
            _ = twin.labels_
    assert model.n_samples_seen_ == k


def test_points_in_foreign_byte_order_or_with_masked_cells_are_read_as_they_are(X):
    model, expected = SPC(5).fit(X), SPC(5).fit(X)
    model.learn_one(X[0])
    for x in X[:4]:
        model.learn_one(np.frombuffer(x.astype(">f8").tobytes(), ">f8"))
        model.learn_one(x.astype(">f8"))
    expected.partial_fit(np.concatenate([X[:1], np.repeat(X[:4], 2, axis=0)]))
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match="NaN at row 0, column 1"):
        model.learn_one(np.ma.array([5.0, -999.0], mask=[False, True]))
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()


def test_parameters_that_are_not_numbers_are_checked_for_single_points_too(X):
    model = SPC(5).fit(X)
    model.learn_one(X[0])
    with pytest.raises(ValueError, match="covariance_type"):
        model.set_params(covariance_type="none").learn_one(X[1])


def test_a_changed_parameter_holds_for_the_next_single_point(X):
    model, expected = SPC(5).fit(X), SPC(5).fit(X)
    model.learn_one(X[0])
    model.set_params(beta=0.5, gamma=0.1).learn_one(X[1])
    expected.partial_fit(X[:1]).set_params(beta=0.5, gamma=0.1).partial_fit(X[1:2])
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match="m was changed"):
        model.set_params(m=2.0).learn_one(X[2])


def test_an_interrupt_before_a_single_point_is_finished_is_made_up_for(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 5.0, 9.0]
    params = {"n_structures": 15, "w_min": 0.0, "scale": 3.0}
    whole, broken, interrupts = SPC(**params).partial_fit(X), SPC(**params), []

    def interrupt(*_):
        interrupts.append(broken.n_samples_seen_)
        raise KeyboardInterrupt

    for x in X:
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(stream.Stream, "finish", interrupt)
            broken.learn_one(x)
    assert len(interrupts) > 10
    assert broken.n_samples_seen_ == whole.n_samples_seen_
    if interrupts[-1] == len(X):  # nothing was learnt after it
        broken._stream.finish()
    assert broken._stream.structures.memory.tobytes() == whole._stream.structures.memory.tobytes()
