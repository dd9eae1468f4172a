"""Models that were interrupted go on to the last bit, and come back with what is left to do."""

import contextlib

import numpy as np
import pytest
from fuzz import interrupts
from hypothesis import given
from sklearn.base import clone

from spclust import SPC
from spclust.algorithm import kernels
from spclust.persistence.paper_state import content_of
from spclust.stream.stream import Stream
from tests.saving.common import state_of
from tests.strategies import examples, seeds


@pytest.mark.parametrize("covariance", ["full", "lowrank"])
@pytest.mark.parametrize("moment", ["before", "after"])
@given(seed=seeds)
@examples(10)
def test_a_model_that_was_interrupted_while_it_pruned_comes_back(covariance, moment, seed):
    interrupted_while_pruning(covariance, moment, seed)


@pytest.mark.parametrize("d", [2, 3])
@given(seed=seeds)
@examples(5)
def test_a_model_that_was_interrupted_before_a_rare_union_comes_back(d, seed):
    interrupted_before_rare_unions(d, seed)


def test_interrupts_leave_all_that_can_be_left_to_do():
    """The two tests above are worth something: there is more to prune, to merge, to measure."""
    states = [s for seed in range(8) for s in interrupted_while_pruning("full", "before", seed)]
    states += [s for seed in range(8) for s in interrupted_before_rare_unions(2, seed)]
    assert any(s["prune_from"] > 0 for s in states)
    assert any(s["live"] > s["n_structures"] for s in states)
    assert any(s["stale"] > 0 for s in states)


def interrupted_while_pruning(covariance, moment, seed):
    X = np.random.default_rng(seed).normal(scale=4.0, size=(150, 3))
    params = {"beta": 0.3, "w_min": 0.3, "nlt_max": 9.0, "scale": 1.0}
    return learn_with_interrupts(SPC(7, **params, covariance_type=covariance), X, moment)


def interrupted_before_rare_unions(d, seed):
    """Where the formulas for two features lose digits; the structure may have a new slot then."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, d)) * 10.0 ** rng.uniform(0.0, 10.0, size=(70, 1))
    model = SPC(7, w_min=0.0, covariance_type="full", scale=1.0)
    return learn_with_interrupts(model, X, "before")


def learn_with_interrupts(model, X, moment):
    """Interrupt a model before or after each general union, and save it: it learns the same.

    Returns the scalars that were saved at each interrupt.
    """
    whole, kept, states = clone(model).fit(X), model.fit(X[:5]), []
    # What was interrupted is searched for, and measured, once more where it was not kept.
    work = dict.fromkeys(("rescans", "evaluations"), b"")
    saved = SPC.from_bytes(kept.to_bytes())
    while kept.n_samples_seen_ < len(X):
        for each in (kept, saved):
            with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
                patch.setattr(kernels, "union_kernel", interrupted(kernels.union_kernel, moment))
                each.partial_fit(X[each.n_samples_seen_ :])
        if kept._fitted.last_batch.seen is None:  # interrupted
            states.append(content_of(saved._stream)[0])
            assert saved.clustering(eps=0.5).size == len(saved.structures_.mean)
            saved = SPC.from_bytes(saved.to_bytes())
            assert len(saved.labels_) == 0
        assert state_of(saved) | work == state_of(kept) | work
        if kept.n_samples_seen_ < len(X):
            for each in (kept, saved):
                each.partial_fit(X[each.n_samples_seen_ :][:1])
    for each in (kept, saved, whole):
        each.partial_fit(X[:1])
    for other in (kept, whole):
        assert state_of(saved) | work == state_of(other) | work
        assert np.array_equal(saved.structures_.covariance, other.structures_.covariance)
        assert np.array_equal(saved.predict(X), other.predict(X))
    return states


@pytest.mark.parametrize("scale", ["auto", 1.0])
def test_rows_that_were_not_learnt_in_full_have_no_labels(scale, X, monkeypatch):
    model = SPC(10, scale=scale, outlier_nlt=3.0).fit(X)
    with monkeypatch.context() as patch:
        patch.setattr(type(model._stream), "_learn_flat", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X)
    for each in (model, SPC.from_bytes(model.to_bytes())):
        assert each.labels_.size == 0


def interrupted(union_kernel, moment):
    """A general union that is interrupted before or after its work."""

    def kernel_of(kind):
        def unite(*memory):
            if moment == "after":
                union_kernel(kind)(*memory)
            raise KeyboardInterrupt

        return unite

    return kernel_of


def test_a_model_that_was_interrupted_before_its_memory_grew_comes_back(monkeypatch):
    X = np.random.default_rng(0).normal(scale=3.0, size=(100, 40))
    whole = SPC(3, covariance_type="lowrank", scale=1.0).fit(X)
    broken = SPC(3, covariance_type="lowrank", scale=1.0).fit(X[:1])
    monkeypatch.setattr(Stream, "_use", interrupt)
    with pytest.raises(KeyboardInterrupt):
        broken.partial_fit(X[1:])
    monkeypatch.undo()
    assert broken._stream.structures.needed_rank > 0
    broken = SPC.from_bytes(broken.to_bytes())
    assert broken._stream.structures.needed_rank > 0
    broken.partial_fit(X[broken.n_samples_seen_ :])
    assert state_of(broken.partial_fit(X)) == state_of(whole.partial_fit(X))


def interrupt(*_):
    raise KeyboardInterrupt


# All modes and several interfaces; most of these seeds crashed or lost something once.
@pytest.mark.parametrize("seed", [1, 4, 6, 9, 15, 18, 23, 26], ids=interrupts.described)
def test_a_model_that_is_interrupted_at_any_moment_has_learnt_whole_rows(seed):
    assert interrupts.trial(seed, rows=250) == ""
