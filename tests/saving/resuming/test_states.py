"""States of the paper's mode that come back learn on to the last bit."""

import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.state.creation import empty
from spclust.state.kinds import Room
from spclust.stream.stream import Stream
from tests.saving.common import COVARIANCES, slots_behind, state_of
from tests.saving.crafted_models import KINDS
from tests.saving.resuming.common import learns_on
from tests.strategies import examples, online_params, streams


@examples(60)
@given(streams(), online_params(most_structures=12), st.sampled_from(COVARIANCES), st.data())
def test_learning_goes_on_to_the_last_bit(X, params, covariance, data):
    cut = data.draw(st.integers(1, len(X)), label="cut")
    rank = data.draw(st.sampled_from([None, 1, 3]), label="max_rank")
    timed = data.draw(st.booleans(), label="timed")
    learns_on(SPC(**params, covariance_type=covariance, max_rank=rank), X, cut, timed)


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
