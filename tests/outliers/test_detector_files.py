"""Saved detectors: what comes back scores, and learns on, to the last bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from spclust import SPC, SPCOutlierDetector
from tests.outliers.common import with_outliers
from tests.saving.common import state_of
from tests.saving.crafted_models import sealed, split

PARAMETERS = [
    {},
    {"contamination": 0.1, "half_life": 200.0, "covariance_type": "diag"},
    {"scale": 1.5, "beta": 0.01},
    {"scale": 1.5, "contamination": 0.05},
    {"half_life": np.timedelta64(3, "m")},
]


class Renamed(SPCOutlierDetector):
    """A class of its own."""


def same(a, b, X):
    """Assert that two detectors are the same for all that may come."""
    assert a.offset_ == b.offset_
    assert np.array_equal(a.score_samples(X), b.score_samples(X))
    assert np.array_equal(a._recent, b._recent)
    assert state_of(a.model_) == state_of(b.model_)


@pytest.mark.parametrize("params", PARAMETERS, ids=str)
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_a_detector_goes_on_to_the_last_bit(params, way, tmp_path):
    X, _ = with_outliers(900)
    timed = isinstance(params.get("half_life"), np.timedelta64)
    t = np.arange(900.0) if timed else np.full(900, None)
    parts = [(X[part], t[part] if timed else None) for part in np.split(np.arange(900), 3)]
    whole = getattr(SPCOutlierDetector(8, **params), way)(parts[0][0], t=parts[0][1])
    whole.save(tmp_path / "model.spc")
    again = SPCOutlierDetector.load(tmp_path / "model.spc")
    assert type(again) is SPCOutlierDetector
    assert again.to_bytes() == whole.to_bytes()
    assert all(value == getattr(whole, name) for name, value in again.get_params().items())
    for rows, times in parts[1:]:
        same(again, whole, X)
        whole.partial_fit(rows, t=times)
        again = SPCOutlierDetector.from_bytes(again.partial_fit(rows, t=times).to_bytes())
    same(again, whole, X)
    assert (again.predict(X) == -1).any()


def test_features_and_classes_keep_their_names():
    X = pd.DataFrame(with_outliers()[0], columns=list("abcde"))
    model = SPCOutlierDetector().fit(X)
    again = SPCOutlierDetector.from_bytes(model.to_bytes())
    assert again.feature_names_in_.tolist() == list("abcde")
    assert not hasattr(again.model_, "feature_names_in_")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert type(Renamed.from_bytes(Renamed().fit(X).to_bytes())) is Renamed
    with pytest.raises(ValueError, match="it holds a SPCOutlierDetector, not a SPC: use the class"):
        SPC.from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match="it holds a SPC, not a SPCOutlierDetector: use the cl"):
        SPCOutlierDetector.from_bytes(SPC().fit(X).to_bytes())
    with pytest.raises(NotFittedError):
        SPCOutlierDetector().to_bytes()


def test_scores_of_an_interrupted_call_are_saved(monkeypatch):
    X, _ = with_outliers(600)
    whole, broken = (SPCOutlierDetector(8, scale=1.5, contamination=0.05) for _ in range(2))
    whole.partial_fit(X[:300]).partial_fit(X[300:])
    broken.partial_fit(X[:300])
    learn, calls = SPC.learn_one, []

    def interrupt(*args):
        calls.append(args)
        if len(calls) == 50:
            raise KeyboardInterrupt
        learn(*args)

    with monkeypatch.context() as patch:
        patch.setattr(SPC, "learn_one", interrupt)
        with pytest.raises(KeyboardInterrupt):
            broken.partial_fit(X[300:])
    again = SPCOutlierDetector.from_bytes(broken.to_bytes())
    assert again.model_.n_samples_seen_ == 349
    same(again.partial_fit(X[349:]), whole, X)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("detector", None, "it has no scores"),
        ("detector", {"offset": -1.0}, "it has no scores"),
        ("detector", {"offset": -1.0, "scores": 3}, "it has no scores"),
        ("detector", {"offset": "x", "scores": []}, "is no number"),
        ("detector", {"offset": -1.0, "scores": [None]}, "is no number"),
        ("detector", {"offset": -1.0, "scores": [{"float": "nan"}]}, "is no number"),
        ("detector", {"offset": [1.0], "scores": []}, "a value in its header"),
        ("parameters", {"eps": 0.5}, "SPCOutlierDetector has no parameter 'eps'"),
        ("parameters", {"contamination": 0.7}, "contamination of SPCOutlierDetector must be"),
        ("n_features_in", 4, "its features and its state"),
        ("feature_names_in", ["a"], "its features and their names"),
    ],
)
def test_crafted_detectors_are_refused_in_a_sentence(key, value, words):
    header, body = split(SPCOutlierDetector().fit(with_outliers()[0]).to_bytes())
    header[key] = value
    with pytest.raises(ValueError, match=rf"^Cannot load a model from these bytes: .*{words}.*\.$"):
        SPCOutlierDetector.from_bytes(sealed(header, body))
