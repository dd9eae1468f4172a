"""Labels, names and events of clusters, parameters and names of features come back."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spclust import SPC
from spclust.persistence import container
from tests.saving.common import state_of
from tests.saving.resuming.common import names_and_events_come_back


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


def test_names_of_clusters_and_events_come_back():
    names_and_events_come_back(scale=1.5, beta=0.02, gamma=0.1, track_every=25)


def test_outliers_among_the_last_rows_come_back(X):
    model = SPC(10, outlier_nlt=1.0, scale=1.0).fit(X)
    assert -1 in model.labels_
    assert np.array_equal(SPC.from_bytes(model.to_bytes()).labels_, model.labels_)


def test_what_tells_no_outliers_any_more_does_not_come_back(X):
    """By "auto" an NLT is that of the nearest structure, by a number that of the best one."""
    model = SPC(10).fit(X)
    model.outlier_nlt = 1.0
    for each in (model, SPC.from_bytes(model.to_bytes())):
        with pytest.raises(AttributeError, match="outlier_nlt was another one"):
            each.labels_  # noqa: B018


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
