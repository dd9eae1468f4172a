"""Saved models: what comes back is the same to the last bit."""

import contextlib
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from spclust import SPC
from spclust.algorithm import kernels
from spclust.datasets import make_drifting
from spclust.persistence import container
from spclust.persistence.logical_state import content_of
from spclust.state.creation import empty
from spclust.state.kinds import Room
from spclust.stream.stream import Stream
from tests.saving.common import COVARIANCES, ROOT, slots_behind, state_of
from tests.saving.crafted_models import KINDS
from tests.strategies import examples, online_params, seeds, streams

# What comes back


def same_models(again, whole):
    """True if two models are the same, to the last bit, in all that is known of them."""
    ours, theirs = again.structures_, whole.structures_
    names = ("mean", "covariance", "weight", "count", "age", "id", "label")
    return (
        all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in names)
        and state_of(again) == state_of(whole)
        and again._stream.params == whole._stream.params
        and again.to_bytes() == whole.to_bytes()
    )


@examples(60)
@given(streams(), online_params(most_structures=12), st.sampled_from(COVARIANCES), st.data())
def test_learning_goes_on_to_the_last_bit(X, params, covariance, data):
    cut = data.draw(st.integers(1, len(X)), label="cut")
    rank = data.draw(st.sampled_from([None, 1, 3]), label="max_rank")
    timed = data.draw(st.booleans(), label="timed")
    t = np.cumsum(np.round(np.random.default_rng(0).exponential(size=2 * len(X)), 1))
    whole = SPC(**params, covariance_type=covariance, max_rank=rank)
    whole.partial_fit(X[:cut], t=t[:cut] if timed else None)
    saved = whole.to_bytes()
    again = SPC.from_bytes(saved)
    assert again.to_bytes() == saved
    assert same_models(again, whole)
    assert again._stream.structures.memory.ctypes.data % 64 == 0
    assert np.array_equal(again.labels_, whole.labels_)
    for rows, times in ((X[cut:], t[cut : len(X)]), (X, t[len(X) :])):
        if len(rows):
            again.partial_fit(rows, t=times if timed else None)
            whole.partial_fit(rows, t=times if timed else None)
        assert same_models(again, whole)
    assert np.array_equal(again.labels_, whole.labels_)
    for model in (again, whole):
        model.learn_one(X[0], t[-1] + 1.0 if timed else None)
    assert same_models(again, whole)


@pytest.mark.parametrize("kind", KINDS)
def test_free_slots_are_those_of_an_empty_state(kind):
    covariance, d = KINDS[kind]
    X = np.random.default_rng(3).normal(scale=4.0, size=(90, d))
    model = SPC(20, beta=0.3, w_min=0.2, covariance_type=covariance, scale=0.7).fit(X)
    saved, s = (m._stream.structures for m in (model, SPC.from_bytes(model.to_bytes())))
    fresh = empty(model._stream.params, d, Room(s.rank_room, s.directions))
    fresh.live, fresh.grown = s.live, s.grown
    expected = {name: rows.tobytes() for name, rows in slots_behind(fresh)}
    assert {name: rows.tobytes() for name, rows in slots_behind(s)} == expected
    # There is something to forget: structures were in those slots.
    assert {name: rows.tobytes() for name, rows in slots_behind(saved)} != expected


def test_relations_are_those_of_one_connection(X):
    model = SPC(10, scale=1.0).fit(X)
    s = SPC.from_bytes(model.to_bytes())._stream.structures
    k = s.live
    assert set(s.connection[:k]) == {s.connections} == {1}
    assert np.array_equal(s.odds_back[:k, :k], s.odds[:k, :k].T)
    assert np.all(s.odds[:k, :k].diagonal() == np.inf)


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_of_a_stream_is_a_good_one(kind):
    covariance, d = KINDS[kind]
    X = np.random.default_rng(1).normal(scale=4.0, size=(70, d))
    params = {"beta": 0.1, "w_min": 0.1, "gamma": 0.02, "scale": 1.0, "covariance_type": covariance}
    whole, broken = SPC(5, **params), SPC(5, **params)
    for row in X:
        whole.partial_fit(row[np.newaxis])
        broken = SPC.from_bytes(broken.partial_fit(row[np.newaxis]).to_bytes())
        assert state_of(broken) == state_of(whole)


def test_memory_that_grew_and_directions_that_were_given_up_come_back():
    X = np.random.default_rng(0).normal(scale=3.0, size=(150, 30))
    for rank in (None, 12):
        model = SPC(4, covariance_type="lowrank", max_rank=rank, scale=1.0).fit(X)
        first = Stream(model._stream.params, 30).structures.memory.size
        assert model._stream.structures.memory.size > first
        again = SPC.from_bytes(model.to_bytes())
        assert state_of(again.partial_fit(3.0 * X)) == state_of(model.partial_fit(3.0 * X))


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


@pytest.mark.parametrize("learn", ["fit", "partial_fit", "learn_one"])
@pytest.mark.parametrize("params", [{}, {"eps": 0.5, "scale": 1.0}], ids=["automatic", "paper"])
def test_labels_survive_as_they_do_in_a_pickle(X, learn, params):
    model = SPC(10, **params).fit(X)
    if learn == "partial_fit":
        model.partial_fit(X[:70])
    if learn == "learn_one":
        for x in X[:70]:
            model.learn_one(x)
    again, pickled = SPC.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.structures_.label, pickled.structures_.label)
    assert np.array_equal(again._fitted.numbered_first, pickled._fitted.numbered_first)
    assert (again._fitted.numbered_first.size > 0) == (learn == "fit")
    if learn == "learn_one":
        for one in (again, pickled):
            with pytest.raises(AttributeError, match="one by one"):
                one.labels_  # noqa: B018
    else:
        assert again.labels_.dtype == pickled.labels_.dtype
        assert np.array_equal(again.labels_, pickled.labels_)


def test_a_little_of_a_large_model_is_a_small_file():
    X = np.random.default_rng(0).normal(size=(5, 40))
    model = SPC(500, covariance_type="full").fit(X)
    assert len(model.to_bytes()) < model._stream.structures.memory.nbytes / 50


@pytest.mark.parametrize("params", [{}, {"half_life": 30.0}, {"gamma": 0.1, "scale": 1.0}], ids=str)
def test_joblib_and_pickle_still_know_everything(X, tmp_path, params):
    model = SPC(10, **params).fit(X)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    from_bytes = pickle.loads(pickle.dumps(SPC.from_bytes(model.to_bytes())))
    assert state_of(again.partial_fit(X)) == state_of(model.partial_fit(X))
    assert state_of(from_bytes.partial_fit(X)) == state_of(model)


# Parameters and features


def test_parameters_come_back_as_plain_numbers(X):
    params = {
        "n_structures": np.int32(10),
        "m": np.float32(1.7),
        "beta": np.float64(0.1),
        "min_samples": np.uint8(2),
        "scale": 3,
        "covariance_type": np.str_("diag"),
        "n_jobs": np.int64(1),
    }
    model = SPC(**params).fit(X)
    again = SPC.from_bytes(model.to_bytes())
    for name, value in again.get_params().items():
        assert value == model.get_params()[name]
        assert type(value) in (int, float, str, type(None))
    assert state_of(again.partial_fit(X)) == state_of(model.partial_fit(X))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 5e-324, 0.1, -0.0, 1.7e308])
def test_every_float_has_its_way_through_the_header(number):
    header = {"number": container.plain(np.float64(number), "it")}
    back = container.unplain(container.decode(container.encode(header, {})).header["number"])
    assert type(back) is float
    assert np.array([back]).tobytes() == np.array([number]).tobytes()


def test_a_change_that_is_not_allowed_is_not_allowed_after_loading(X):
    model = SPC(10, scale=1.0).fit(X).set_params(scale=2.0, beta=0.5)
    again = SPC.from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"scale was changed from 1.0 to 2.0"):
        again.partial_fit(X)
    assert state_of(again.set_params(scale=1.0).partial_fit(X)) == state_of(
        model.set_params(scale=1.0).partial_fit(X)
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "Polars"])
def test_names_of_features_come_back(frame, X):
    table = frame({"скорость": X[:, 0], 'a "b"\n\U0001f40b\x00': X[:, 1]})
    model = SPC(10).fit(table)
    again = SPC.from_bytes(model.to_bytes())
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert again.feature_names_in_.dtype == object
    assert np.array_equal(again.predict(table), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        again.partial_fit(frame({"a": X[:, 0], "b": X[:, 1]}))
    assert not hasattr(SPC.from_bytes(SPC(10).fit(X).to_bytes()), "feature_names_in_")


def test_what_is_no_number_cannot_be_saved(X):
    class Extended(SPC):
        def __init__(self, n_structures=5, *, extra=None):
            super().__init__(n_structures)
            self.extra = extra

    model = Extended(extra=(1, 2)).fit(X)
    with pytest.raises(TypeError, match=r"extra of Extended is \(1, 2\), which cannot be saved"):
        model.to_bytes()
    again = Extended.from_bytes(model.set_params(extra=2.5).to_bytes())
    assert (again.n_structures, again.extra) == (5, 2.5)


# For ever


def test_a_model_of_format_1_can_be_read_for_ever():
    """The file was written when there was no other format; every version reads the same."""
    model = SPC.load(ROOT / "tests" / "data" / "model_v1.spc")
    assert model.get_params()["n_structures"] == 5
    assert model.get_params()["beta"] == 0.01
    assert model.feature_names_in_.tolist() == ["length", "größe"]
    assert model.n_samples_seen_ == 60
    assert model.structures_.count.tolist() == COUNTS
    assert model.predict(pd.DataFrame(POINTS, columns=["length", "größe"])).tolist() == CLUSTERS
    assert model.labels_.tolist() == [0] * 30 + [1] * 30
    assert model.partial_fit(
        pd.DataFrame(POINTS, columns=["length", "größe"])
    ).n_samples_seen_ == 60 + len(POINTS)


POINTS = [[0.0, 0.0], [10.0, 10.0], [1.0, -1.0], [9.0, 12.0]]
CLUSTERS, COUNTS = [0, 1, 0, 1], [29, 1, 28, 1, 1]


def test_names_of_clusters_and_events_come_back():
    X, _, _ = make_drifting(6000, n_events=3, seed=1)
    params = {"scale": 1.5, "beta": 0.02, "gamma": 0.1, "track_every": 25}
    whole = SPC(40, **params).fit(X)
    part = SPC(40, **params).fit(X[:3010])
    again = SPC.from_bytes(part.to_bytes())
    assert again.events_ == part.events_
    assert np.array_equal(again.cluster_ids_, part.cluster_ids_)
    again.partial_fit(X[3010:])
    assert again.events_ == whole.events_
    assert np.array_equal(again.cluster_ids_, whole.cluster_ids_)


def test_outliers_among_the_last_rows_come_back(X):
    model = SPC(10, outlier_nlt=1.0, scale=1.0).fit(X)
    assert -1 in model.labels_
    assert np.array_equal(SPC.from_bytes(model.to_bytes()).labels_, model.labels_)
