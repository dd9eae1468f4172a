"""A half-life that is a duration, of Python, pandas or NumPy, which needs time stamps."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spclust import SPC, SPCOutlierDetector, merge_all
from spclust.durations import duration_seconds
from tests.auto.automatic_states import memory, two_clusters
from tests.saving.common import state_of


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        (np.timedelta64(15, "m"), 900.0),
        (np.timedelta64(2, "W"), 1_209_600.0),
        (np.timedelta64(3, "D"), 259_200.0),
        (np.timedelta64(12, "15m"), 10_800.0),
        (np.timedelta64(1500, "ms"), 1.5),
        (np.timedelta64(900 * 10**9 + 1, "ns"), 900.000000001),
        (pd.Timedelta("15min"), 900.0),
        (timedelta(minutes=15), 900.0),
    ],
    ids=str,
)
def test_durations_of_all_kinds_are_their_seconds(duration, seconds):
    assert duration_seconds(duration) == seconds
    X, t = two_clusters(300)[0], np.arange(300) * (seconds / 50.0)
    model, other = (SPC(20, half_life=each).fit(X, t=t) for each in (duration, seconds))
    assert memory(model) == memory(other)
    again = SPC.from_bytes(model.to_bytes())
    assert state_of(again) == state_of(model)
    assert again.half_life == timedelta(seconds=seconds)
    assert clone(model).fit(X, t=t).n_samples_seen_ == 300
    assert memory(merge_all([model, model])) == memory(merge_all([other, other]))
    model.set_params(half_life=None).partial_fit(X[:1], t=t[-1:])
    model.set_params(half_life=duration).partial_fit(X[:1], t=t[-1:])
    assert model._stream.params.half_life == seconds
    detector = SPCOutlierDetector(20, half_life=duration).fit(X, t=t).partial_fit(X, t=t[-1])
    assert detector.model_._stream.params.half_life == seconds


def test_a_duration_needs_time_stamps():
    X, _ = two_clusters(100)
    half_life = timedelta(days=30)
    sentence = r"^half_life=.*days=30\) is a time, but .*time stamps: pass t=, or [^.]*points\.$"
    for kind in (SPC, SPCOutlierDetector):
        model = kind(half_life=half_life)
        learners = [model.fit, model.partial_fit]
        learners += [lambda X, m=model: m.learn_one(X[0])] if kind is SPC else []
        for learn in learners:
            with pytest.raises(ValueError, match=sentence):
                learn(X)
            assert not hasattr(model, "n_features_in_")
        model.fit(X, t=np.arange(100))
        with pytest.raises(ValueError, match="t is missing"):
            model.partial_fit(X)
    with pytest.raises(ValueError, match=sentence):
        next(SPC(half_life=half_life).watch([X]))


def test_a_duration_that_is_set_later_needs_time_stamps_too():
    X, _ = two_clusters(100)
    sentence = r"^half_life=.*15.* is a time, but the points of this stream had no time stamps"
    for kind in (SPC, SPCOutlierDetector):
        model = kind(half_life=50).fit(X)
        model.set_params(half_life=np.timedelta64(15, "m"))
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(X)
        if kind is SPC:
            with pytest.raises(ValueError, match=sentence):
                model.learn_one(X[0])
        model.set_params(half_life=20).partial_fit(X)
        assert getattr(model, "model_", model).n_samples_seen_ == 200
