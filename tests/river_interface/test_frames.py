"""Frames: what `learn_one` and `predict_one` do with each row, in one call."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import preprocessing

from spclust.river import SPC, SPCAnomalyDetector
from tests.river_interface.streams import NAMES, as_points, learnt, pool, two_blobs, what_was_learnt

LIBRARIES = [pd.DataFrame, pl.DataFrame]


def rows_of(frame):
    """Each row as a dictionary."""
    columns = [frame[name].to_list() for name in frame.columns]
    rows = zip(*columns, strict=True)
    return [dict(zip(frame.columns, row, strict=True)) for row in rows]


def patchy(n=240, d=4, seed=0):
    """Columns of a stream in which features appear, vanish and are missing now and then."""
    X, _ = two_blobs(n, d, seed)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:30, 2] = np.nan  # appears
    X[60:70] = np.nan  # nothing at all
    X[150:, 0] = np.nan  # vanishes
    return {name: X[:, j] for j, name in enumerate(NAMES[:d])}


@pytest.mark.parametrize("frame", LIBRARIES)
@pytest.mark.parametrize("model", [SPC(n_structures=8), SPCAnomalyDetector(n_structures=8)])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_rows_of_a_frame_are_learnt_as_one_by_one(frame, model, batch):
    one, many, columns = model.clone(), model.clone(), patchy()
    learnt(one, rows_of(frame(columns)))
    for start in range(0, 240, batch):
        many.learn_many(frame({name: c[start : start + batch] for name, c in columns.items()}))
    assert pool(one) == pool(many)
    assert one._known.names == many._known.names


@pytest.mark.parametrize("frame", LIBRARIES)
def test_rows_of_a_frame_are_predicted_as_one_by_one(frame):
    X = frame({**patchy(), "unknown": np.zeros(240)})
    model = learnt(SPC(scale=2.0), as_points(two_blobs(d=4)[0]))
    before = what_was_learnt(model)
    labels = model.predict_many(X)
    assert type(labels) is type(X["a"])
    assert labels.to_list() == [model.predict_one(x) for x in rows_of(X)]
    assert {-1, 0, 1} <= set(labels.to_list())
    assert what_was_learnt(model) == before
    assert SPC().predict_many(X).to_list() == [-1] * 240


def test_the_order_of_columns_does_not_matter():
    X = pd.DataFrame(patchy())
    there, back = SPC(), SPC()
    there.learn_many(X)
    back.learn_many(X[list("dbca")])
    assert pool(there) == pool(back)
    assert there.predict_many(X).equals(back.predict_many(X[list("cabd")]))


def test_series_have_the_index_of_the_frame():
    X = pd.DataFrame(patchy(), index=range(1000, 1240))
    model = SPC()
    model.learn_many(X)
    assert model.predict_many(X).index.equals(X.index)


def test_columns_may_have_any_names_and_types_of_numbers():
    X = pd.DataFrame({0: [1.5, 2.5], 1: pd.array([1, None], dtype="Int64"), "t": [True, False]})
    model = SPC()
    model.learn_many(X)
    same = learnt(SPC(), [{0: 1.5, 1: 1, "t": 1}, {0: 2.5, 1: None, "t": 0}])
    assert pool(model) == pool(same)
    assert model._known.names == (0, 1, "t")
    assert len(model.predict_many(X)) == 2


@pytest.mark.parametrize("frame", LIBRARIES)
def test_frames_go_through_a_pipeline(frame):
    X, _ = two_blobs()
    model = preprocessing.StandardScaler() | SPC(scale=0.3)
    model.learn_many(frame(dict(zip("ab", X.T, strict=True))))
    labels = model.predict_many(frame(dict(zip("ab", X.T, strict=True)))).to_list()
    assert labels == [labels[0], labels[1]] * 150
    assert labels[0] != labels[1]


@pytest.mark.parametrize(
    ("frame", "kind", "sentence"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}), ValueError, "Row 1 .*'b'.*infinite"),
        (pl.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}), TypeError, "Row 0 .*'b'.*'u'.*number"),
        (pd.DataFrame({"a": [1.0, "2"]}), TypeError, "Row 1 .*'a'.*'2'.*number"),
        (pl.DataFrame({"a": [datetime.datetime(2020, 1, 1)]}), TypeError, "'a'.*datetime.*number"),
        ([{"a": 1.0}], TypeError, "X must be a frame, .* but is a list"),
    ],
)
def test_a_bad_frame_is_refused_as_a_whole(frame, kind, sentence):
    model = learnt(SPC(), as_points(two_blobs()[0]))
    before = pickle.dumps(model)
    with pytest.raises(kind, match=sentence):
        model.learn_many(frame)
    with pytest.raises(kind, match=sentence):
        model.predict_many(frame)
    assert pickle.dumps(model) == before


def test_an_empty_frame_changes_nothing():
    model = learnt(SPC(), as_points(two_blobs()[0]))
    before = what_was_learnt(model)
    model.learn_many(pd.DataFrame({"a": [], "b": []}))
    assert len(model.predict_many(pd.DataFrame({"a": [], "b": []}))) == 0
    assert what_was_learnt(model) == before
