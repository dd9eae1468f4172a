"""Which parameters belong to the mode of the paper, and which to the automatic one."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import spclust.river
from spclust import SPC, SPCOutlierDetector
from spclust.parameters import validate_model

X = np.random.default_rng(0).normal(size=(20, 2))
OF_PAPER = {
    "beta": 0.1,
    "gamma": 0.1,
    "w_min": 0.2,
    "nlt_max": 2.0,
    "eps": 0.9,
    "min_samples": 2,
    "max_rank": 2,
    "covariance_type": "lowrank",
}


def refusal(model):
    """The sentence in which the model refuses to learn; it has learnt nothing then."""
    with pytest.raises(ValueError) as raised:  # noqa: PT011 # its text is looked at
        model.fit(X)
    assert not hasattr(model, "_fitted")
    sentence = str(raised.value)
    assert sentence.endswith(".")
    assert ". " not in sentence.replace("0. ", "")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("half_life", [None, 100.0, timedelta(minutes=1)])
@pytest.mark.parametrize("name", OF_PAPER)
def test_parameters_of_the_paper_need_a_scale(name, half_life):
    value = OF_PAPER[name]
    sentence = refusal(SPC(half_life=half_life, **{name: value}))
    assert sentence.startswith(f"{name}=")
    assert repr(value).strip("'") in sentence
    assert "scale" in sentence
    validate_model(SPC(scale=1.0, **{name: value}))


@pytest.mark.parametrize("half_life", [100, 0.5, timedelta(hours=1)])
def test_a_half_life_belongs_to_the_automatic_mode(half_life):
    sentence = refusal(SPC(half_life=half_life, scale=1.0))
    assert "half_life" in sentence
    assert "scale" in sentence
    t = np.arange(20) if isinstance(half_life, timedelta) else None
    assert SPC(half_life=half_life).fit(X, t=t).n_samples_seen_ == 20


NO_HALF_LIVES = [
    *[0, -1.0, np.nan, np.inf, "long", True, timedelta(0), pd.Timedelta(-1, "s"), pd.NaT],
    *[np.timedelta64(0, "s"), np.timedelta64(-5, "m"), np.timedelta64("NaT")],
    *[np.timedelta64("NaT", "s"), np.timedelta64(1, "M"), np.timedelta64(5)],
]


@pytest.mark.parametrize("half_life", NO_HALF_LIVES, ids=repr)
def test_a_half_life_that_is_none_is_refused(half_life):
    assert "half_life of SPC must be" in refusal(SPC(half_life=half_life))
    assert "half_life of SPCOutlier" in refusal(SPCOutlierDetector(half_life=half_life))
    with pytest.raises(ValueError, match="half_life of SPC must be"):
        spclust.river.SPC(half_life=half_life)


@pytest.mark.parametrize("name", ["n_structures", "m", "track_every", "outlier_nlt"])
def test_a_duration_is_no_other_parameter(name):
    assert f"{name} of SPC must be" in refusal(SPC(**{name: np.timedelta64(5, "ns")}))


def test_the_mode_cannot_change_in_the_middle_of_a_stream():
    model = SPC().fit(X)
    with pytest.raises(ValueError, match="scale was changed"):
        model.set_params(scale=1.0).partial_fit(X)
    model = SPC(scale=1.0).fit(X)
    with pytest.raises(ValueError, match="scale was changed"):
        model.set_params(scale="auto").partial_fit(X)


def test_the_outlier_detector_has_the_same_two_modes():
    assert "beta" in refusal(SPCOutlierDetector(scale="auto", beta=0.1))
    assert "half_life" in refusal(SPCOutlierDetector(scale=1.0, half_life=10.0))
