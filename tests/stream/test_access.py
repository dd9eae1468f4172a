"""One thread at a time learns into a model, and readers wait for it."""

import os
import pickle
from copy import deepcopy
from threading import Event, Thread

import joblib
import numpy as np
import pytest
from fuzz import threads
from sklearn.base import clone

from spclust import SPC, SPCOutlierDetector, merge_all, river
from spclust.stream.access import Access

X = np.random.default_rng(0).normal(size=(200, 2))
SENTENCE = "is learning in another thread: let one thread at a time learn"
MODELS = [SPC(scale=1.0), SPC(), SPCOutlierDetector()]


class SlowRows:
    """Rows that a model has to wait for."""

    def __init__(self):
        self.asked, self.given = Event(), Event()

    def __array__(self, dtype=None, copy=None):
        self.asked.set()
        assert self.given.wait(60)
        return X


class Learner(Thread):
    """A thread that is in the midst of `partial_fit` until it is told to end."""

    def __init__(self, model):
        self.rows = SlowRows()
        super().__init__(target=model.partial_fit, args=(self.rows,))

    def __enter__(self):
        self.start()
        assert self.rows.asked.wait(60)
        return self

    def __exit__(self, *_):
        self.rows.given.set()
        self.join()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_second_learner_is_refused_with_one_sentence(model):
    model = clone(model).fit(X)
    learns = [model.partial_fit, model.fit]
    if isinstance(model, SPC):
        learns += [lambda X: model.learn_one(X[0]), lambda X: model.merge(clone(model).fit(X))]
        learns += [lambda X: clone(model).fit(X).merge(model)]
        model.learn_one(X[0])
    with Learner(model):
        for learn in learns:
            with pytest.raises(RuntimeError, match=f"This {type(model).__name__} {SENTENCE}"):
                learn(X)
    for learn in learns:
        learn(X)


def test_a_model_is_merged_with_itself():
    model = SPC().fit(X)
    assert merge_all([model, model]).n_samples_seen_ == model.merge(model).n_samples_seen_ == 400


def test_the_first_rows_of_a_stream_are_learnt_by_one_thread():
    model = SPC()
    with Learner(model), pytest.raises(RuntimeError, match=SENTENCE):
        model.partial_fit(X)
    assert model.n_samples_seen_ == len(X)


@pytest.mark.parametrize(
    "read",
    [
        lambda model: model.predict(X),
        lambda model: model.structures_,
        lambda model: model.labels_,
        lambda model: model.to_bytes(),
        lambda model: model.describe(),
        lambda model: pickle.dumps(model),
        deepcopy,
    ],
)
def test_readers_wait_until_all_is_learnt(read):
    model, seen = SPC().fit(X), []
    reader = Thread(target=lambda: (read(model), seen.append(model.n_samples_seen_)))
    with Learner(model):
        reader.start()
        reader.join(0.01)
        assert seen == []
    reader.join()
    assert seen == [2 * len(X)]


@pytest.mark.parametrize("model", [*MODELS, river.SPC(), river.SPCAnomalyDetector()], ids=repr)
def test_copies_are_learnt_into_on_their_own(model, tmp_path):
    if isinstance(model, SPC | SPCOutlierDetector):
        model = clone(model).fit(X)
    else:
        model = model.clone()
        model.learn_one({"a": 1.0, "b": 2.0})
    joblib.dump(model, tmp_path / "model")
    copies = [deepcopy(model), pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")]
    model._access.learner = -1  # another thread
    for copy in copies:
        learn(copy)
    with pytest.raises(RuntimeError, match=SENTENCE):
        learn(model)


def learn(model):
    if hasattr(model, "partial_fit"):
        model.partial_fit(X)
    else:
        model.learn_one({"a": 2.0, "b": 1.0})
        model.learn_one({"a": 2.0})


def test_what_a_signal_handler_raised_is_raised_again():
    def compiled_code():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    access = Access("SPC")
    for call in (access.learn, access.read):
        with pytest.raises(KeyboardInterrupt):
            call(compiled_code)
    assert access.learner is None
    assert not access.readers


def test_a_forked_process_does_not_wait_for_threads_of_its_parent():
    model = SPC().fit(X)
    model._access.readers.add(-1)  # a thread that is not there any more
    pid = os.fork()
    if pid == 0:
        model.partial_fit(X)
        os._exit(0 if model.n_samples_seen_ == 2 * len(X) else 1)
    assert os.waitpid(pid, 0)[1] == 0


def in_forked_process(check):
    """Call a function in a forked process; it fails if the function returns False or raises."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


def test_readers_of_a_forked_process_wait_for_its_learner():
    model, seen = SPC().fit(X), []
    reader = Thread(target=lambda: (model.predict(X), seen.append(model.n_samples_seen_)))

    def check():
        with Learner(model):
            reader.start()
            reader.join(0.01)
            assert seen == []
        reader.join()
        return seen == [2 * len(X)]

    in_forked_process(check)


def test_the_learner_of_a_forked_process_waits_for_its_readers():
    model, entered, left = SPC().fit(X), Event(), Event()
    model._access.readers.add(-1)  # a thread that is not there any more
    reader = Thread(
        target=model._access.read, args=(lambda: (entered.set(), left.wait(60)),), daemon=True
    )
    learner = Thread(target=model.partial_fit, args=(X,), daemon=True)

    def check():
        reader.start()
        assert entered.wait(60)
        learner.start()
        learner.join(0.05)
        assert model.n_samples_seen_ == len(X)
        left.set()
        learner.join(60)
        return model.n_samples_seen_ == 2 * len(X)

    in_forked_process(check)


def test_a_forked_process_does_not_use_a_model_that_its_parent_learns_into():
    model = SPC().fit(X)

    def check():
        for use in (model.partial_fit, model.predict, model.learn_one):
            with pytest.raises(RuntimeError, match=SENTENCE):
                use(X[0] if use == model.learn_one else X)
        return True

    with Learner(model):
        in_forked_process(check)


@pytest.mark.parametrize("seed", [1, 5, 7, 8, 14])  # each of these lost points once, or more
def test_threads_learn_each_row_once_and_read_whole_models(seed):
    assert threads.trial(seed) == ""
