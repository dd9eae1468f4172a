import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

from spclust import SPC
from spclust.core import read_stream
from spclust.core.threads import in_stretches


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_row_is_worked_on_once(rows, threads):
    visits = np.zeros(rows, dtype=int)

    def work(start, stop):
        visits[start:stop] += 1

    in_stretches(work, rows, threads)
    assert (visits == 1).all()


def test_threads_stay():
    names = set()
    for _ in range(5):
        in_stretches(lambda *_: names.add(threading.current_thread().name), 10, 2)
    assert len(names) == 2


@pytest.mark.parametrize("failing", [0, 5])  # in the calling thread, and in another
def test_a_failure_is_reported_when_all_has_ended(failing):
    ended = []

    def work(start, stop):
        if start == failing:
            raise MemoryError(f"from {start}")
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(MemoryError, match=f"from {failing}"):
        in_stretches(work, 10, 2)
    assert ended == [5 - failing]


def _predict_in_child(model, X, answers):
    answers.put(model.predict(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_are_started_anew_in_a_forked_child(X, monkeypatch):
    monkeypatch.setattr(read_stream, "_WORK_OF_A_THREAD", 1)
    model = SPC(10, n_jobs=2).fit(X)
    expected = model.predict(X)  # the parent has its threads now
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_predict_in_child, args=(model, X, answers))
    child.start()
    try:
        assert np.array_equal(answers.get(timeout=30), expected)
    finally:
        child.kill()


@pytest.mark.parametrize("rows", [3, 100])
@pytest.mark.parametrize("n_jobs", [3, -1])
def test_threads_change_no_answer(X, monkeypatch, rows, n_jobs):
    alone = SPC(10).fit(X)
    monkeypatch.setattr(read_stream, "_WORK_OF_A_THREAD", 1)
    shared = SPC(10, n_jobs=n_jobs).fit(X)
    assert np.array_equal(shared.predict(X[:rows]), alone.predict(X[:rows]))
    assert np.array_equal(shared.typicality(X[:rows]), alone.typicality(X[:rows]))
    assert np.array_equal(shared.score_samples(X[:rows]), alone.score_samples(X[:rows]))
    assert np.array_equal(shared.labels_, alone.labels_)
