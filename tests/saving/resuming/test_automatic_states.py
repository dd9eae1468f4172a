"""Saved models of the automatic mode: what comes back learns on to the last bit."""

import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from tests.saving.common import same_models, state_of
from tests.saving.crafted_models import AUTOMATIC_KINDS, sealed, split
from tests.saving.resuming.common import learns_on, names_and_events_come_back
from tests.strategies import examples, streams

KINDS = ("auto", "full", "diag", "spherical")


@examples(60)
@given(streams(), st.sampled_from(KINDS), st.data())
def test_learning_goes_on_to_the_last_bit(X, covariance, data):
    cut = data.draw(st.integers(1, len(X)), label="cut")
    half_life = data.draw(st.sampled_from([None, 0.5, 20.0, 1e6]), label="half_life")
    timed = data.draw(st.booleans(), label="timed")
    structures = data.draw(st.sampled_from([1, 2, 7, 12, "auto"]), label="n_structures")
    whole = SPC(structures, half_life=half_life, covariance_type=covariance)
    again = learns_on(whole, X, cut, timed)
    assert np.array_equal(again.typicality(X), whole.typicality(X))


@pytest.mark.parametrize("kind", AUTOMATIC_KINDS)
def test_every_cut_of_a_stream_is_a_good_one(kind):
    params, d, timed = AUTOMATIC_KINDS[kind]
    X = np.random.default_rng(1).normal(scale=4.0, size=(70, d))
    whole, broken = SPC(5, **params), SPC(5, **params)
    for i, row in enumerate(X):
        t = [0.5 * i] if timed else None
        whole.partial_fit(row[np.newaxis], t=t)
        broken = SPC.from_bytes(broken.partial_fit(row[np.newaxis], t=t).to_bytes())
        assert state_of(broken) == state_of(whole)


def test_clusters_that_fade_come_back():
    """Clocks of clusters, and what structures missed, decide what is removed later."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 2)) + 9.0 * rng.integers(3, size=(6000, 1))
    X[3000:] += 40.0
    whole = SPC(20, half_life=200.0).fit(X[:2900])
    again = SPC.from_bytes(whole.to_bytes())
    assert whole._stream.structures.clusters > 1
    assert same_models(again.partial_fit(X[2900:]), whole.partial_fit(X[2900:]))
    assert whole._stream.pruned > 0


def test_a_half_life_that_is_a_timedelta_comes_back(X):
    t = [datetime(2024, 1, 1) + timedelta(minutes=i) for i in range(len(X))]
    half = len(X) // 2
    model = SPC(10, half_life=timedelta(minutes=30, microseconds=7)).fit(X[:half], t=t[:half])
    again = SPC.from_bytes(model.to_bytes())
    assert again.half_life == model.half_life
    assert same_models(again, model)
    assert same_models(
        again.partial_fit(X[half:], t=t[half:]), model.partial_fit(X[half:], t=t[half:])
    )


def test_a_timedelta_without_time_stamps_was_a_number_of_points_in_earlier_versions(X):
    model = SPC(10, half_life=1800.0).fit(X)
    header, body = split(model.to_bytes())
    header["parameters"]["half_life"] = {"seconds": 1800.0}
    again = SPC.from_bytes(sealed(header, body))
    assert again.half_life == 1800.0
    assert same_models(again.partial_fit(X), model.partial_fit(X))


@pytest.mark.parametrize("crafted", [[1, 2], 1, 1e300, {"float": "nan"}, "P1D", None, True])
def test_a_crafted_timedelta_is_refused(X, crafted):
    header, body = split(SPC(5, half_life=30.0).fit(X).to_bytes())
    header["parameters"]["half_life"] = {"seconds": crafted}
    with pytest.raises(ValueError, match="bytes: a value in its header is not"):
        SPC.from_bytes(sealed(header, body))


def test_another_half_life_counts_from_the_next_point_on(X):
    model = SPC(10).fit(X).set_params(half_life=20.0)
    again = SPC.from_bytes(model.to_bytes())
    assert again.half_life == 20.0
    assert same_models(again.partial_fit(X), model.partial_fit(X))


def test_names_of_clusters_and_events_come_back():
    names_and_events_come_back(half_life=300.0, track_every=25)


@pytest.mark.parametrize("when", ["concurrent", "later"])
@pytest.mark.parametrize("half_life", [None, 50.0])
def test_merged_models_come_back(X, when, half_life):
    model, other = (SPC(10, half_life=half_life).fit(part) for part in np.array_split(X, 2))
    model.merge(other, when=when)
    again = SPC.from_bytes(model.to_bytes())
    assert state_of(again) == state_of(model)
    assert state_of(again.partial_fit(X)) == state_of(model.partial_fit(X))
    pickled = pickle.loads(pickle.dumps(again))
    assert state_of(pickled.partial_fit(X)) == state_of(model.partial_fit(X))


def test_outliers_among_the_last_rows_come_back():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    model = SPC(10, outlier_nlt=0.3).fit(rows)
    assert -1 in model.labels_
    assert np.array_equal(SPC.from_bytes(model.to_bytes()).labels_, model.labels_)
