import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

from spclust import SPC
from spclust.stream import threads as threads_module
from spclust.stream.threads import in_stretches, shrinking_stretches


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 100])
@pytest.mark.parametrize(("threads", "least"), [(1, 1), (1, 5), (2, 1), (2, 30), (3, 7), (8, 200)])
def test_every_row_is_worked_on_once(rows, threads, least):
    visits = np.zeros(rows, dtype=int)

    def work(start, stop):
        visits[start:stop] += 1

    in_stretches(work, shrinking_stretches(rows, threads, least), threads)
    assert (visits == 1).all()


def test_stretches_become_shorter_and_none_too_short():
    ends = shrinking_stretches(100_000, 2, 1000)
    lengths = np.diff(ends)
    assert (ends[0], ends[-1]) == (0, 100_000)
    assert lengths[0] == 33_333
    assert (np.diff(lengths) <= 0).all()
    assert set(lengths[-3:-1]) == {1000}
    assert len(lengths) < 25
    assert shrinking_stretches(100_000, 1, 1000) == [0, 100_000]


def meet(names):
    """Work that two threads have to share: none goes on before both are at it."""
    both = threading.Barrier(2, timeout=30)

    def work(start, stop):
        names.add(threading.current_thread().name)
        both.wait()

    return work


def test_threads_stay():
    names = set()
    for _ in range(5):
        in_stretches(meet(names), [0, 5, 10], 2)
    assert len(names) == 2


def test_a_thread_that_is_kept_waiting_gets_less_to_do():
    slow, done = threading.Event(), []

    def work(start, stop):
        if start == 0:  # whoever has it waits until all the rest is done
            assert slow.wait(timeout=30)
        done.append(start)
        if len(done) == 7:
            slow.set()

    in_stretches(work, list(range(9)), 2)
    assert done == [1, 2, 3, 4, 5, 6, 7, 0]


@pytest.mark.parametrize("here", [True, False])  # in the calling thread, or in another
def test_a_failure_is_reported_when_all_has_ended(here):
    caller, ended = threading.current_thread(), []
    both = threading.Barrier(2, timeout=30)

    def work(start, stop):
        both.wait()
        if (threading.current_thread() is caller) == here:
            raise MemoryError("no room")
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(MemoryError, match="no room"):
        in_stretches(work, [0, 5, 10], 2)
    assert len(ended) == 1


@pytest.mark.parametrize("here", [True, False])
def test_after_a_failure_nothing_else_is_begun(here):
    """But what the other thread takes before it hears of it."""
    caller, begun = threading.current_thread(), []
    both = threading.Barrier(2, timeout=30)

    def work(start, stop):
        begun.append(start)
        if len(begun) <= 2:
            both.wait()
        if (threading.current_thread() is caller) == here:
            raise KeyboardInterrupt
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        in_stretches(work, list(range(101)), 2)
    assert 2 <= len(begun) <= 5


def test_an_interrupt_leaves_no_thread_behind():
    """Not even one that comes when this thread has nothing left to do but to wait for others."""
    caller, begun, ended = threading.current_thread(), threading.Event(), []

    def work(start, stop):
        if threading.current_thread() is caller:
            assert begun.wait(timeout=30)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
        else:
            begun.set()
            time.sleep(0.3)
            ended.append(start)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_stretches(work, [0, 5, 10], 2)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(ended) == 1


def test_nobody_waits_for_what_has_nothing_left_to_do():
    """One caller keeps the other thread busy; a second one does all of its work itself."""
    begun, end, done, waited = threading.Event(), threading.Event(), [], []
    first = threading.current_thread()

    def occupy(start, stop):
        if threading.current_thread() is not first:
            begun.set()
            assert end.wait(timeout=30)
            return
        assert begun.wait(timeout=30)
        second.start()
        second.join(timeout=10)
        waited.append(second.is_alive())
        end.set()

    second = threading.Thread(
        target=lambda: in_stretches(lambda *_: done.append(end.is_set()), [0, 1, 2, 3, 4], 2)
    )
    in_stretches(occupy, [0, 1, 2], 2)
    assert done == [False] * 4
    assert waited == [False]


def _predict_in_child(model, X, answers):
    answers.put(model.predict(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_are_started_anew_in_a_forked_child(X, monkeypatch):
    monkeypatch.setattr(threads_module, "_WORK_OF_A_THREAD", 1)
    monkeypatch.setattr(threads_module, "_WORK_OF_A_STRETCH", 1)
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
    monkeypatch.setattr(threads_module, "_WORK_OF_A_THREAD", 1)
    monkeypatch.setattr(threads_module, "_WORK_OF_A_STRETCH", 1)
    shared = SPC(10, n_jobs=n_jobs).fit(X)
    assert np.array_equal(shared.predict(X[:rows]), alone.predict(X[:rows]))
    assert np.array_equal(shared.typicality(X[:rows]), alone.typicality(X[:rows]))
    assert np.array_equal(shared.score_samples(X[:rows]), alone.score_samples(X[:rows]))
    assert np.array_equal(shared.labels_, alone.labels_)
