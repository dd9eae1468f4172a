"""What is no number: which column, which partition, and a way to go on."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as sql

from spclust import SPC
from spclust.spark import BadRowsError, fit, predict
from spclust.spark.row_reader import RowFormat, RowReader
from tests.spark.common import gaussians, table_of, write_parquet


@pytest.fixture(scope="module")
def table(spark, tmp_path_factory):
    """Two partitions of 50 rows: x0, x1, number; a text and an array of the first two."""
    folder = tmp_path_factory.mktemp("bad") / "X"
    X, _ = gaussians(100)
    write_parquet(folder, X, 1, number=np.arange(100))
    rows = table_of(spark, folder).withColumn("text", sql.lit("1.5"))
    rows = rows.withColumn("both", sql.array("x0", "x1"))
    return rows.repartitionByRange(2, "number").sortWithinPartitions("number")


def with_cell(table, column, value, number=80):
    here = sql.when(sql.col("number") == number, value).otherwise(sql.col(column))
    return table.withColumn(column, here)


def test_a_cell_that_is_no_number(table):
    bad = with_cell(table, "x1", sql.lit(float("-inf")))
    with pytest.raises(BadRowsError) as error:
        fit(bad, ["x0", "x1"], SPC())
    assert str(error.value) == (
        "Column 'x1' has an infinity in row 30 of partition 1: drop such rows or fill them in "
        'first, or pass bad_rows="skip".'
    )
    with pytest.warns(UserWarning, match="1 of 100 rows were skipped"):
        model = fit(bad, ["x0", "x1"], SPC(), bad_rows="skip")
    assert (model.n_samples_seen_, model.n_rows_skipped_) == (99, 1)


def test_a_cell_that_is_no_number_in_scoring(table):
    model = fit(table, ["x0", "x1"], SPC())
    assert model.n_rows_skipped_ == 0
    bad = with_cell(table, "x0", sql.lit(None))
    with pytest.raises(Exception, match="'x0' has null or NaN in row 30 of partition 1"):
        predict(bad, model).collect()
    rows = predict(bad, model, bad_rows="skip").collect()
    assert [row["number"] for row in rows if row["cluster"] is None] == [80]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), float("-inf")])
def test_the_row_is_counted_from_the_start_of_the_partition(value):
    reader = RowReader(RowFormat(["a", "b"], vector=False, bad_rows="raise"))
    sound, numbers = pa.array([1.0, 2.0, 3.0]), pa.array([1.0, value, 3.0], pa.float64())
    np.testing.assert_array_equal(reader.rows([sound, sound]), [[1, 1], [2, 2], [3, 3]])
    what = "an infinity" if value in (float("inf"), float("-inf")) else "null or NaN"
    with pytest.raises(BadRowsError, match=f"Column 'b' has {what} in row 4 of partition"):
        reader.rows([sound, numbers])
    lenient = RowReader(RowFormat(["a", "b"], vector=False, bad_rows="skip"))
    np.testing.assert_array_equal(lenient.rows([sound, numbers]), [[1, 1], [3, 3]])
    assert lenient.skipped == 1


def test_large_numbers_are_sound_though_their_sum_is_not():
    reader = RowReader(RowFormat(["a"], vector=False, bad_rows="raise"))
    assert len(reader.rows([pa.array([1e308, 1e308])])) == 2


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ([1.0], "Column 'both' has 1 numbers in row 1 of partition .*, where other rows have 2"),
        ([1.0, None], "Column 'both', element 1, has null or NaN in row 1 of partition"),
        (None, "Column 'both', element 0, has null or NaN in row 1 of partition"),
    ],
)
def test_an_array_that_is_no_row(cell, sentence):
    lists = pa.array([[1.0, 2.0], cell, [5.0, 6.0]], pa.list_(pa.float64()))
    with pytest.raises(BadRowsError, match=sentence):
        RowReader(RowFormat(["both"], vector=True, bad_rows="raise")).rows([lists])
    lenient = RowReader(RowFormat(["both"], vector=True, bad_rows="skip"))
    if cell is None or None in cell:  # a row of another length is never passed over
        np.testing.assert_array_equal(lenient.rows([lists]), [[1, 2], [5, 6]])
    else:
        with pytest.raises(BadRowsError, match=sentence):
            lenient.rows([lists])


@pytest.mark.parametrize(
    ("columns", "error", "sentence"),
    [
        (["x0", "x9"], ValueError, "There is no column 'x9'; there are x0, x1, number, text, both"),
        (["x0", "text"], TypeError, "Column 'text' holds string, not numbers: leave it out"),
        ("text", TypeError, "Column 'text' holds string, not numbers"),
        (["x0", "both"], TypeError, "Column 'both' holds array<double>, not numbers"),
        (["x0", "x0"], ValueError, "Column 'x0' is named twice"),
        ([], ValueError, "There is no column to learn"),
        ([1], TypeError, "columns must be names, but one is 1"),
    ],
)
def test_columns_that_cannot_be_learnt(table, columns, error, sentence):
    with pytest.raises(error, match=sentence):
        fit(table, columns, SPC())


def test_nothing_to_learn(table):
    with pytest.raises(ValueError, match="nothing to learn: the table has no rows"):
        fit(table.filter("false"), ["x0"], SPC())
    nothing = table.withColumn("x0", sql.lit(None).cast("double"))
    with pytest.raises(ValueError, match="nothing to learn: all 100 rows were skipped"):
        fit(nothing, ["x0"], SPC(), bad_rows="skip")


def test_models_that_cannot_be_used(table):
    with pytest.raises(TypeError, match="model must be an SPC, but is 30"):
        fit(table, ["x0"], 30)
    with pytest.raises(ValueError, match=r'n_structures of SPC must be "auto" or an integer'):
        fit(table, ["x0"], SPC(0))
    with pytest.raises(ValueError, match=r"bad_rows must be .* but is 'ignore'"):
        fit(table, ["x0"], SPC(), bad_rows="ignore")


def test_a_model_of_other_features(table):
    model = SPC().fit(np.eye(3))
    with pytest.raises(ValueError, match="has no names of features: say which columns"):
        predict(table, model)
    with pytest.raises(ValueError, match="The model has 3 features, but 2 columns are named"):
        predict(table, model, ["x0", "x1"])
    model = fit(table, ["x0", "x1"], SPC())
    with pytest.raises(ValueError, match="learnt the columns x0, x1, in this order, but x1, x0"):
        predict(table, model, ["x1", "x0"])
