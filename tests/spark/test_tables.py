"""A model of a table: what each partition knows, merged; and clusters of a table's rows."""

import numpy as np
import pytest
from pyspark.sql import functions as sql
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC, datasets, merge_all
from spclust.spark import fit, predict
from spclust.spark.merge_tree import MODEL_SCHEMA, merge_tree
from tests.spark.common import framed, gaussians, names_of, same_grouping, table_of, write_parquet


def in_partitions(spark, X, partitions):
    """A table whose partition k is the k-th part of X, in order."""
    parts = np.array_split(np.arange(len(X)), partitions)
    part_of = {int(row): k for k, part in enumerate(parts) for row in part}

    rows = [(part_of[i], i, *map(float, x)) for i, x in enumerate(X)]
    names = ["part", "number", *names_of(X)]
    table = spark.createDataFrame(rows, names)
    return table.repartitionByRange(partitions, "part").sortWithinPartitions("number")


@pytest.mark.parametrize("params", [{}, {"half_life": 100.0}, {"scale": 1.0}], ids=str)
def test_is_what_merging_models_of_the_partitions_gives(spark, params):
    X, _ = gaussians(600)
    model = fit(in_partitions(spark, X, 3), ["x0", "x1"], SPC(20, **params))
    expected = merge_all([SPC(20, **params).fit(part) for part in np.array_split(X, 3)])
    assert model.get_params() == expected.get_params()
    np.testing.assert_array_equal(model.structures_.weight, expected.structures_.weight)
    np.testing.assert_array_equal(model.structures_.mean, expected.structures_.mean)
    np.testing.assert_array_equal(model.structures_.count, expected.structures_.count)
    assert model.n_samples_seen_ == 600
    assert list(model.feature_names_in_) == ["x0", "x1"]


def test_one_partition_is_one_stream_to_the_last_bit(spark):
    X, _ = gaussians(500)
    model = fit(in_partitions(spark, X, 1), ["x0", "x1"], SPC(20))
    np.testing.assert_array_equal(model.structures_.mean, SPC(20).fit(X).structures_.mean)


def test_an_ordinary_model_comes_out(spark, tmp_path):
    X, _ = gaussians(400)
    model = fit(in_partitions(spark, X, 2), ["x0", "x1"], SPC(20))
    model.save(tmp_path / "model.spc")
    again = SPC.load(tmp_path / "model.spc")
    again.partial_fit(framed(X[:10]))
    assert again.n_samples_seen_ == 410


def test_the_given_model_is_left_alone(spark):
    X, _ = gaussians(100)
    given = SPC(20).fit(X[:50])
    fit(in_partitions(spark, X, 2), ["x0", "x1"], given)
    assert given.n_samples_seen_ == 50


@pytest.mark.parametrize("partitions", [1, 1100])
def test_all_models_are_merged_however_many_there_are(spark, partitions):
    X = np.arange(2.0 * partitions).reshape(-1, 2) % 97
    known = [SPC(5, scale=3.0).fit(x[np.newaxis]).to_bytes() for x in X]
    rows = [(place, bytearray(model), 1) for place, model in enumerate(known)]
    models = spark.createDataFrame(rows, MODEL_SCHEMA)
    last = merge_tree(models.repartition(3)).collect()
    whole = merge_all([SPC.from_bytes(bytes(row["model"])) for row in last])
    assert len(last) == -(-partitions // 1024)
    assert whole.n_samples_seen_ == sum(row["skipped"] for row in last) == partitions


def test_empty_partitions_have_no_part(spark):
    X, _ = gaussians(100)
    table = in_partitions(spark, X, 4)
    half = table.filter("part % 2 = 0")
    assert fit(half, ["x0", "x1"], SPC(10)).n_samples_seen_ == 50


def test_columns_of_all_kinds_of_numbers(spark):
    table = spark.range(40).select(
        sql.col("id").cast("int").alias("whole number"),
        (sql.col("id") % 2 == 0).alias("yes.or.no"),
        sql.col("id").cast("decimal(10,2)").alias("decimal"),
        sql.col("id").cast("float").alias("float"),
    )
    model = fit(table.coalesce(1), table.columns, SPC(5))
    rows = np.array([[i, i % 2 == 0, i, i] for i in range(40)], dtype=float)
    np.testing.assert_array_equal(model.structures_.mean, SPC(5).fit(rows).structures_.mean)


@pytest.mark.parametrize("kind", ["array", "vector"])
def test_one_column_may_hold_all_features(spark, kind):
    from pyspark.ml.functions import array_to_vector

    X, _ = gaussians(300)
    features = sql.array("x0", "x1")
    if kind == "vector":
        features = array_to_vector(features)
    table = in_partitions(spark, X, 1).select(features.alias("f"))
    model = fit(table, "f", SPC(20))
    np.testing.assert_array_equal(model.structures_.mean, SPC(20).fit(X).structures_.mean)
    labels = [row["cluster"] for row in predict(table, model, "f").collect()]
    np.testing.assert_array_equal(labels, model.predict(X))


def test_clusters_are_those_of_the_model_and_rows_stay_as_they_are(spark):
    X, truth = gaussians(400)
    table = in_partitions(spark, X, 3)
    model = fit(table, ["x0", "x1"], SPC(20))
    scored = predict(table, model, output="group")
    assert scored.columns == [*table.columns, "group"]
    rows = sorted(scored.collect(), key=lambda row: row["number"])
    np.testing.assert_array_equal([[row["x0"], row["x1"]] for row in rows], X)
    np.testing.assert_array_equal([row["group"] for row in rows], model.predict(framed(X)))
    assert same_grouping([row["group"] for row in rows], truth)


def test_outliers_are_told_as_the_model_tells_them(spark):
    X, _ = gaussians(400)
    model = SPC(20, scale=2.0, outlier_nlt=3.0).fit(X)
    far = np.array([[1e4, 1e4], X[0]])
    rows = predict(in_partitions(spark, far, 1), model, ["x0", "x1"]).collect()
    assert [row["cluster"] for row in rows] == [-1, model.predict(X[:1])[0]]


# Quality: eight partitions against one stream, of sets whose clusters do not touch. Where they do,
# another order of the points changes what one stream finds by more than partitions do.

SETS = {
    "six Gaussians in 2-D": lambda: gaussians(6000, d=2, clusters=6),
    "twenty Gaussians in 3-D": lambda: gaussians(6000, d=3, clusters=20),
    "ten Gaussians in 6-D": lambda: ten_in_six(),
    "sine": lambda: datasets.make_sine(),
    "sixteen clusters in 64-D": lambda: datasets.make_highdim(1600, n_features=64),
}


def ten_in_six():
    rng = np.random.default_rng(0)
    centres, labels = rng.uniform(-20, 20, (10, 6)), rng.integers(10, size=6000)
    return centres[labels] + rng.normal(size=(6000, 6)), labels


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("order", ["shuffled", "sorted by cluster"])
def test_eight_partitions_find_what_one_stream_finds(spark, tmp_path, name, order):
    X, truth = SETS[name]()
    rows = np.random.default_rng(1).permutation(len(X))
    if order != "shuffled":
        rows = rows[np.argsort(truth[rows], kind="stable")]
    X, truth = X[rows], truth[rows]
    write_parquet(tmp_path / "X", X, 8)
    spark.conf.set("spark.sql.files.openCostInBytes", 1 << 27)  # one partition a file
    try:
        model = fit(table_of(spark, tmp_path / "X"), names_of(X), SPC(100))
    finally:
        spark.conf.unset("spark.sql.files.openCostInBytes")
    alone = nmi(truth, SPC(100).fit(X).predict(X))
    assert nmi(truth, model.predict(framed(X))) >= alone - (0.02 if order == "shuffled" else 0.05)
