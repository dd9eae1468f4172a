"""Bad input: one sentence that says what, where and what to do; the model stays as it was."""

import datetime as dt
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from spclust import SPC, covariance_union, plot, typicality
from spclust.parameters import TABLE

GOOD = np.random.default_rng(0).normal(size=(50, 3))


def with_value(value):
    X = GOOD.copy()
    X[17, 1] = value
    return X


FRAME = pd.DataFrame(GOOD, columns=["speed", "load", "heat"])
TEXT = FRAME.assign(load=["Paris", *["2.5"] * 49])

BAD_ROWS = {
    "NaN": (with_value(np.nan), "X contains NaN at row 17, column 1, and 1 of its 50 rows"),
    "inf": (with_value(np.inf), r"X contains infinity \(inf\) at row 17, column 1"),
    "-inf": (with_value(-np.inf), r"X contains infinity \(inf\) at row 17, column 1"),
    "strings": ([["a", "1", "2"]], "X holds 'a' at row 0, column 0, where a number is needed"),
    "too wide": (np.ones((5, 4)), "X has 4 features, but SPC is expecting 3 features"),
    "too narrow": (np.ones((5, 2)), "X has 2 features, but SPC is expecting 3 features"),
    "no rows": (np.empty((0, 3)), r"Found array with 0 sample\(s\)"),
    "1-D": (np.ones(3), "X must be 2-D, rows by features, but is 1-D of length 3. Reshape"),
    "3-D": (np.ones((2, 2, 3)), "dim 3"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], "its rows are of different lengths"),
    "a word": ("abc", "X must be a 2-D array or frame, rows by features, but is 'abc'"),
    "a dict": ({"a": [1.0]}, "X must be a 2-D array or frame, rows by features, but is {'a'"),
    "a generator": ((x for x in GOOD), "X must be a 2-D array or frame, .* but is <generator"),
    "a series": (pd.Series([1.0, 2.0]), "Expected a 2-dimensional container"),
    "a huge integer": ([[1.0, 10**400, 2.0]], "X holds 1000.* at row 0, column 1"),
    "masked integers": (np.ma.masked_greater(np.ones((2, 3), int), 0), "X contains NaN at row 0"),
    "dates in a list": ([[np.datetime64("2020-01-01")] * 3], "holds times"),
    "dates among numbers": (
        np.array([[np.datetime64("2020-01-01"), 1.0, 2.0]], dtype=object),
        "Column 0 of X holds times",
    ),
    "an empty list": ([], "X must be 2-D, rows by features, but is 1-D of length 0"),
    "masked": (np.ma.masked_greater(GOOD, 2.0), "X contains NaN at row"),
    "dates": (np.ones((5, 3), "M8[s]"), r"holds times \(datetime64\[s\]\), not numbers"),
    "a cell that is a list": ([[1.0, [2.0], 3.0]], "different lengths|where a number is needed"),
    "missing, as an object": (
        np.array([[1.0, 2.0, pd.NA]], dtype=object),
        "X holds <NA> at row 0, column 2, where a number is needed",
    ),
}
BAD_FRAMES = {
    "NaN in a frame": (FRAME.mask(FRAME.iloc[3, 2] == FRAME), "NaN at row 3, column 'heat'"),
    "text in a frame": (TEXT, "X holds 'Paris' at row 0, column 'load', where a number is needed"),
    "reordered": (
        FRAME[["load", "speed", "heat"]],
        "must be in the same order as they were in fit",
    ),
    "text in a Polars frame": (
        pl.DataFrame(TEXT.to_dict("list")),
        "X holds 'Paris' at row 0, column 'load', where a number is needed",
    ),
    "text in an Arrow table": (
        pa.table(TEXT.to_dict("list")),
        "X holds 'Paris' at row 0, column 'load', where a number is needed",
    ),
    "times in a frame": (
        FRAME.assign(load=pd.Timestamp("2026-01-01")),
        "Column 'load' of X holds times",
    ),
    "times in a Polars frame": (
        pl.DataFrame({"speed": [1.0], "load": [dt.datetime(2026, 1, 1)], "heat": [1.0]}),
        "Column 'load' of X holds times",
    ),
    "times in an Arrow table": (
        pa.table({"speed": [1.0], "load": [dt.datetime(2026, 1, 1)], "heat": [1.0]}),
        "Column 'load' of X holds times",
    ),
    "renamed": (FRAME.rename(columns={"heat": "cold"}), "Feature names unseen at fit time"),
}


def everything(model):
    state = {name: value for name, value in vars(model).items() if name != "_stream"}
    return (
        repr(sorted(state.items(), key=str)),
        model._stream.structures.memory.tobytes(),
        model.labels_.tolist(),
    )


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "typicality", "score_samples"])
@pytest.mark.parametrize("name", [*BAD_ROWS, *BAD_FRAMES])
def test_bad_rows_are_refused_and_change_nothing(name, method):
    rows, sentence = {**BAD_ROWS, **BAD_FRAMES}[name]
    if method == "fit" and name in ("too wide", "too narrow", "reordered", "renamed"):
        return  # to fit these are a new stream
    model = SPC(10).fit(FRAME if name in BAD_FRAMES else GOOD)
    before = everything(model)
    with pytest.raises((ValueError, TypeError), match=sentence):
        getattr(model, method)(rows)
    assert everything(model) == before
    model.partial_fit(FRAME if name in BAD_FRAMES else GOOD)


@pytest.mark.parametrize("name", [name for name in BAD_ROWS if not name.startswith("too")])
def test_a_failed_first_fit_leaves_an_unfitted_model(name):
    model = SPC(10)
    with pytest.raises((ValueError, TypeError), match=BAD_ROWS[name][1]):
        model.partial_fit(BAD_ROWS[name][0])
    assert vars(model) == vars(SPC(10))


@pytest.mark.parametrize("method", ["predict", "typicality", "score_samples", "clustering"])
def test_an_unfitted_model_says_so(method):
    arguments = () if method == "clustering" else (GOOD,)
    with pytest.raises(NotFittedError, match="SPC instance is not fitted yet"):
        getattr(SPC(), method)(*arguments)


@pytest.mark.parametrize("name", ["structures_", "n_clusters_", "n_samples_seen_", "labels_"])
def test_an_unfitted_model_has_no_fitted_attributes(name):
    assert not hasattr(SPC(), name)


BAD_PARAMETERS = [
    ("n_structures", 0), ("n_structures", 2.5), ("n_structures", "many"),
    ("m", 1.0), ("m", 0.5), ("m", np.nan), ("m", None),
    ("n_structures", 10**400), ("gamma", -0.1), ("gamma", np.inf),
    ("beta", -1e-9), ("beta", np.nan),
    ("w_min", 1.0), ("w_min", -0.1), ("nlt_max", -1), ("eps", 1.1), ("eps", -0.1),
    ("min_samples", 0), ("min_samples", 1.5), ("min_samples", 10**30),
    ("scale", 0.0), ("scale", -1.0), ("scale", 1e-200),
    ("outlier_nlt", -0.1), ("outlier_nlt", "3"),
    ("covariance_type", "tied"), ("max_rank", 0), ("max_rank", 2.5), ("max_rank", "all"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_parameters_are_checked_in_fit_by_name_range_and_value(name, value):
    model = SPC(**{name: value})
    sentence = rf"^{name} of SPC must be .*, but is {re.escape(repr(value))}\.$"
    with pytest.raises(ValueError, match=sentence):
        model.fit(GOOD)
    assert not hasattr(model, "n_features_in_")
    fitted = SPC(10).fit(GOOD)
    before = fitted._stream.structures.memory.tobytes()
    with pytest.raises(ValueError, match=sentence):
        fitted.set_params(**{name: value}).partial_fit(GOOD)
    assert fitted._stream.structures.memory.tobytes() == before
    if name in TABLE:
        assert not TABLE[name].admits(value)


@pytest.mark.parametrize("name", TABLE)
def test_truth_values_are_no_numbers(name):
    model = SPC(4).fit(GOOD)
    with pytest.raises(ValueError, match=rf"{name}.* of SPC must be .* True"):
        model.set_params(**{name: True}).partial_fit(GOOD)
    assert model.n_samples_seen_ == len(GOOD)


def test_too_many_structures_for_the_memory_are_refused_in_a_sentence():
    with pytest.raises(MemoryError, match=r"1000000 structures of 3 .* GB: lower n_s"):
        SPC(1_000_000, scale=1.0).fit(GOOD)
    with pytest.raises(MemoryError, match=r"1000000 structures of 1000 features .* lower n_s"):
        SPC(1_000_000, covariance_type="full").fit(np.ones((2, 1000)))


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.kind is not str])
def test_the_ends_of_each_range_are_as_the_table_says(name):
    row = TABLE[name]
    closed_left, closed_right = row.closed in ("left", "both"), row.closed in ("right", "both")
    assert row.admits(row.low) == closed_left
    if row.high is not None:
        assert row.admits(row.high) == closed_right
    assert not row.admits(True)
    if closed_left:
        mode = {"scale": 1.0} if row.mode == "paper" else {}
        SPC(**{name: row.low} | mode).fit(GOOD)


def test_clustering_checks_its_parameters():
    model = SPC(10).fit(GOOD)
    with pytest.raises(ValueError, match=r"eps of clustering must be .* a number .* but is 2"):
        model.clustering(eps=2)
    with pytest.raises(ValueError, match=r"min_samples of clustering must be an integer .* is 0"):
        model.clustering(min_samples=0)


@pytest.mark.parametrize("cut", [{}, {"eps": "auto"}, {"n_clusters": 2}])
def test_neighbours_are_counted_within_a_distance_only(cut):
    model = SPC(10).fit(GOOD)
    with pytest.raises(ValueError, match=r"clustering\(min_samples=2\) needs eps or nlt: the clus"):
        model.clustering(min_samples=2, **cut)
    model.clustering(eps=0.9, min_samples=2)
    model.clustering(nlt=1.0, min_samples=2)
    SPC(10, scale=1.0).fit(GOOD).clustering(min_samples=2, **cut)


EYE = np.eye(2)
BAD_FORMULAS = {
    "m": (typicality, ([0, 0], [0, 0], EYE, 1.0), r"m of typicality must be .* but is 1.0"),
    "x shape": (typicality, ([0, 0, 0], [0, 0], EYE), r"x must have shape \(2,\) or \(n, 2\)"),
    "x NaN": (typicality, ([0, np.nan], [0, 0], EYE), "x must hold finite numbers"),
    "mu shape": (typicality, ([0, 0], [[0, 0]], EYE), r"mu must have shape \(d,\)"),
    "Sigma shape": (typicality, ([0, 0], [0, 0], np.eye(3)), r"Sigma must have shape \(2, 2\)"),
    "asymmetric": (typicality, ([0, 0], [0, 0], [[1, 2], [0, 1]]), "Sigma must be symmetric"),
    "indefinite": (typicality, ([0, 0], [0, 0], -EYE), "Sigma must be positive definite"),
    "Sigma1": (covariance_union, (-EYE, [0, 0], EYE, [0, 0], [0, 0]), "Sigma1 must be positive"),
    "Sigma2": (
        covariance_union,
        (EYE, [0, 0], np.full((2, 2), np.inf), [0, 0], [0, 0]),
        "Sigma2 must hold",
    ),
    "too far": (
        covariance_union,
        (EYE, [0, 0], EYE, [1e200, 0], [0, 0]),
        "mu2 is too far from mu",
    ),
    "mu2": (covariance_union, (EYE, [0, 0], EYE, [0], [0, 0]), r"mu2 must have shape \(2,\)"),
}


@pytest.mark.parametrize("name", BAD_FORMULAS)
def test_formulas_say_which_argument_is_wrong(name):
    function, arguments, sentence = BAD_FORMULAS[name]
    with pytest.raises(ValueError, match=sentence):
        function(*arguments)


def test_regions_say_that_they_need_two_features():
    with pytest.raises(ValueError, match="draws models of 2 features, but this one has 3"):
        plot.decision_regions(SPC(5).fit(GOOD))


def test_a_truth_value_is_no_rank():
    with pytest.raises(ValueError, match=r"max_rank of SPC must be None or an integer .* True"):
        SPC(max_rank=True).fit(GOOD)


@pytest.mark.parametrize(
    ("cut", "sentence"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, but is 0"),
        ({"n_clusters": 2.0}, "n_clusters must be an integer"),
        ({"n_clusters": True}, "n_clusters must be an integer"),
        ({"n_clusters": 99}, r"There are \d+ structures: they cannot make up 99 clusters"),
        ({"nlt": -1.0}, "nlt must be a number of at least 0"),
        ({"nlt": np.nan}, "nlt must be a number of at least 0"),
        ({"nlt": "3"}, "nlt must be a number of at least 0"),
        ({"nlt": True}, "nlt must be a number of at least 0"),
        ({"nlt": 3.0, "eps": 0.5}, "one of eps, nlt and n_clusters"),
        ({"n_clusters": 2, "eps": 0.5}, "one of eps, nlt and n_clusters"),
    ],
)
def test_a_cut_that_makes_no_sense_gets_a_sentence(cut, sentence):
    with pytest.raises(ValueError, match=sentence):
        SPC(10).fit(GOOD).clustering(**cut)
