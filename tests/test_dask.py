"""SPC on Dask: one model of all partitions, every point counted once."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'spclust[dask]'")

import dask
import dask.array as da
import dask.dataframe as dd

from spclust import SPC, merge_all
from spclust.dask import fit, predict

CENTRES = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return CENTRES[rng.integers(3, size=2000)] + rng.normal(size=(2000, 2))


def table(rows, partitions):
    return dd.from_pandas(pd.DataFrame(rows, columns=["x", "y"]), npartitions=partitions)


def same(a, b):
    return a.to_bytes() == b.to_bytes()


def test_a_model_of_a_table_is_that_of_its_partitions_merged(rows):
    data = table(rows, 5)
    model = fit(data, SPC(20))

    parts = [part.to_numpy() for part in dask.compute(*data.to_delayed())]
    expected = merge_all([SPC(20).partial_fit(part) for part in parts])
    expected.feature_names_in_ = np.array(["x", "y"], dtype=object)
    assert same(model, expected)
    assert len(parts) == 5
    assert model.n_samples_seen_ == 2000
    assert model.n_clusters_ == 3
    assert model.n_rows_skipped_ == 0


def test_a_half_life_that_is_a_time_is_refused(rows):
    with pytest.raises(ValueError, match=r"is a time, but rows of partitions have no time stamps"):
        fit(table(rows, 2), SPC(half_life=pd.Timedelta(1, "h")))


def test_many_partitions_are_merged_32_at_a_time_in_order(rows):
    data = table(rows, 70)
    parts = [SPC(20).partial_fit(part.to_numpy()) for part in dask.compute(*data.to_delayed())]
    assert len(parts) == 70

    groups = [merge_all(parts[k : k + 32]) for k in (0, 32, 64)]
    model = fit(data, SPC(20))
    del model.feature_names_in_
    assert same(model, merge_all(groups))
    assert model.n_samples_seen_ == model.structures_.count.sum() == 2000


def test_the_scheduler_has_no_part_in_the_result(rows):
    with dask.config.set(scheduler="synchronous"):
        alone = fit(table(rows, 9), SPC(20))
    assert same(alone, fit(table(rows, 9), SPC(20)))


def test_columns_are_taken_in_the_order_in_which_they_are_named(rows):
    data = table(rows, 3).assign(name="a")
    model = fit(data, SPC(20), columns=["y", "x"])

    assert model.feature_names_in_.tolist() == ["y", "x"]
    labels = predict(data, model)
    assert labels.name == "cluster"
    expected = model.predict(pd.DataFrame(rows[:, ::-1], columns=["y", "x"]))
    assert labels.compute().tolist() == expected.tolist()
    assert set(expected) == {0, 1, 2}


@pytest.mark.parametrize("chunks", [(300, 2), (300, 1)])
def test_an_array_is_learnt_whatever_its_chunks(rows, chunks):
    data = da.from_array(rows, chunks=chunks)
    model = fit(data, SPC(20))

    assert same(
        model, merge_all([SPC(20).partial_fit(rows[k : k + 300]) for k in range(0, 2000, 300)])
    )
    assert not hasattr(model, "feature_names_in_")
    labels = predict(data, model)
    assert isinstance(labels, da.Array)
    assert labels.compute().tolist() == model.predict(rows).tolist()


def test_an_array_of_unknown_length_is_learnt(rows):
    data = da.from_array(rows, chunks=(300, 2))
    few = data[data[:, 0] > 15.0]

    model = fit(few, SPC(20))
    assert model.n_samples_seen_ == np.count_nonzero(rows[:, 0] > 15.0)
    assert len(predict(few, model).compute()) == model.n_samples_seen_


def test_empty_partitions_are_no_trouble(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(number=range(2000))
    data = dd.from_pandas(frame, npartitions=5)
    data = data[data["number"] >= 1000]

    model = fit(data, SPC(20), columns=["x", "y"])
    assert model.n_samples_seen_ == 1000
    assert len(predict(data, model).compute()) == 1000


def test_bad_rows_are_refused_with_column_row_and_partition(rows):
    rows[1203, 1] = np.inf
    data = table(rows, 4)
    sentence = "Column 'y' has inf in row 203 of partition 2: drop such rows"
    with pytest.raises(ValueError, match=sentence):
        fit(data, SPC(20), columns=["x", "y"])
    with pytest.raises(ValueError, match=sentence):
        predict(data, SPC(20).fit(rows[:1000]), columns=["x", "y"]).compute()


def test_bad_rows_of_an_array_are_refused_by_number_of_column(rows):
    rows[301, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 has nan in row 1 of partition 1:"):
        fit(da.from_array(rows, chunks=(300, 2)), SPC(20))


def test_skipped_rows_are_counted_and_told(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"]).astype("Float64")
    frame.loc[[5, 1203], "x"] = pd.NA
    frame.loc[1999, "y"] = np.inf
    with pytest.warns(UserWarning, match="3 of 2000 rows were skipped"):
        model = fit(dd.from_pandas(frame, npartitions=4), SPC(20), bad_rows="skip")
    assert model.n_rows_skipped_ == 3
    assert model.n_samples_seen_ == 1997


def test_the_given_model_stays_as_it_is(rows):
    given = SPC(20).fit(rows[:100])
    before = given.to_bytes()

    model = fit(table(rows, 2), given)
    assert model.n_samples_seen_ == 2000
    assert given.to_bytes() == before


@pytest.mark.parametrize(
    ("data", "options", "error", "sentence"),
    [
        (np.zeros((3, 2)), {}, TypeError, "must be a Dask table"),
        (da.zeros(3), {}, TypeError, "2-D array"),
        (da.zeros((3, 2)), {"columns": ["x"]}, TypeError, "without columns"),
        (table(np.zeros((3, 2)), 1), {"columns": ["z"]}, ValueError, "no column 'z' of numbers"),
        (table(np.zeros((3, 2)), 1).assign(s="a"), {}, ValueError, "no column 's' of numbers"),
        (table(np.zeros((3, 2)), 1), {"bad_rows": "drop"}, ValueError, "bad_rows must be"),
        (table(np.full((3, 2), np.nan), 1), {"bad_rows": "skip"}, ValueError, "all 3 rows were"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_a_sentence(data, options, error, sentence):
    with pytest.raises(error, match=sentence):
        fit(data, SPC(20), **options)


def test_only_an_spc_is_a_model():
    with pytest.raises(TypeError, match="model must be an SPC"):
        fit(da.zeros((3, 2)), "SPC")


def test_without_dask_one_sentence_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None\nimport spclust.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        "ImportError: spclust.dask needs Dask: install it with pip install 'spclust[dask]'."
    )


@pytest.mark.parametrize("params", [{}, {"half_life": 300.0}, {"scale": 1.0}], ids=str)
def test_shards_of_either_mode_are_merged(rows, params):
    data = table(rows, 6)
    model = fit(data, SPC(**params))
    parts = [part.to_numpy() for part in dask.compute(*data.to_delayed())]
    expected = merge_all([SPC(**params).partial_fit(part) for part in parts])
    expected.feature_names_in_ = np.array(["x", "y"], dtype=object)
    assert same(model, expected)
    assert model.get_params() == SPC(**params).get_params()
    assert model.n_samples_seen_ == 2000
    if "scale" not in params:
        assert model.n_clusters_ == 3
        assert predict(table(CENTRES, 1), model).compute().nunique() == 3
        assert predict(table(CENTRES + 1e4, 1), model).compute().tolist() == [-1, -1, -1]
