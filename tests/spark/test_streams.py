"""An endless stream: shards that go on learning, and a folder of models of the whole."""

import json
from datetime import timedelta

import numpy as np
import pytest

from spclust import SPC
from spclust.spark import fit_stream, predict
from spclust.spark.model_folder import ModelFolder
from spclust.spark.row_reader import RowFormat
from spclust.spark.shards import ShardLearner, packed, shard_keys
from tests.spark.common import framed, gaussians, same_grouping, stream_of, wait_for, write_parquet

NOW = {"availableNow": True}


def learn(spark, folder, checkpoint, model=None, **more):
    query = fit_stream(
        stream_of(spark, folder),
        ["x0", "x1"],
        SPC(20) if model is None else model,
        checkpoint,
        **{"shards": 2, "trigger": NOW, **more},
    )
    query.awaitTermination()
    return query


@pytest.fixture(scope="module")
def learnt(spark, tmp_path_factory):
    """Four triggers of a stream, learnt: folder of the checkpoint, points and truth."""
    folder = tmp_path_factory.mktemp("stream")
    X, truth = gaussians(80_000)
    write_parquet(folder / "X", X, 4)  # each of two packs, one for each shard
    learn(spark, folder / "X", folder / "checkpoint", keep=3)
    return folder, X, truth


def test_every_point_counts_once(learnt):
    folder, X, truth = learnt
    model = SPC.load(folder / "checkpoint" / "models" / "newest.spc")
    assert model.n_samples_seen_ == len(X)
    structures = model.structures_
    total = (structures.count[:, np.newaxis] * structures.mean).sum(axis=0)
    np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-9)
    assert list(model.feature_names_in_) == ["x0", "x1"]
    # Of 80,000 rows around 20 structures a few are farther away than usual ones: they count, too.
    assert same_grouping(model.set_params(outlier_nlt=None).predict(framed(X)), truth)


def test_the_folder_tells_what_was_learnt(learnt):
    models = learnt[0] / "checkpoint" / "models"
    status = json.loads((models / "newest.json").read_text())
    assert status == {"trigger": 3, "points": 80_000, "skipped": 0, "shards": 2}
    versions = sorted(file.name for file in (models / "versions").iterdir())
    assert versions == [f"{trigger:012}.spc" for trigger in (1, 2, 3)]
    assert SPC.load(models / "versions" / versions[0]).n_samples_seen_ == 40_000


def test_a_shard_is_one_stream_that_never_starts_anew(learnt):
    folder, X, _ = learnt
    shards = (folder / "checkpoint" / "models" / "shards").glob("*.spc")
    found = {SPC.load(shard).structures_.mean.tobytes() for shard in shards}
    packs = X.reshape(4, 2, 10_000, 2)
    alone = [SPC(20).fit(packs[:, shard].reshape(-1, 2)) for shard in range(2)]
    assert found == {model.structures_.mean.tobytes() for model in alone}


def test_a_trigger_writes_what_has_changed_and_no_history(learnt):
    state = learnt[0] / "checkpoint" / "state"
    assert len(list(state.rglob("*.changelog"))) == 8  # of two shards in four triggers


def learn_the_first(spark, tmp_path, X, rows):
    """Learn so many rows of X, and put the others where the stream will find them."""
    write_parquet(tmp_path / "X", X[:rows], 1)
    learn(spark, tmp_path / "X", tmp_path / "checkpoint")
    write_parquet(tmp_path / "later", X[rows:], 1)
    (tmp_path / "later" / "000.parquet").rename(tmp_path / "X" / "001.parquet")


def test_goes_on_from_the_checkpoint(spark, tmp_path):
    learn_the_first(spark, tmp_path, gaussians(3000)[0], 1000)
    learn(spark, tmp_path / "X", tmp_path / "checkpoint", SPC(20, outlier_nlt=5.0), shards=3)
    model = SPC.load(tmp_path / "checkpoint" / "models" / "newest.spc")
    assert model.n_samples_seen_ == 3000
    assert model.outlier_nlt == 5.0  # which may change at any time


def test_a_parameter_that_cannot_change_is_refused(spark, tmp_path):
    learn_the_first(spark, tmp_path, gaussians(200)[0], 100)
    with pytest.raises(Exception, match="n_structures was changed from 20 to 30 in the middle"):
        learn(spark, tmp_path / "X", tmp_path / "checkpoint", SPC(30))
    assert SPC.load(tmp_path / "checkpoint" / "models" / "newest.spc").n_samples_seen_ == 100


def test_scoring_follows_the_newest_model(spark, learnt, tmp_path):
    folder, X, _ = learnt
    models = tmp_path / "models"
    models.mkdir()
    SPC(5).fit(X[:200]).save(models / "newest.spc")  # one of another stream, soon to be replaced
    write_parquet(tmp_path / "X", X[:600], 2, number=np.arange(600))
    scored = predict(stream_of(spark, tmp_path / "X"), models, ["x0", "x1"])
    seen = []

    def note(batch, trigger):
        seen.append(np.array([(row["number"], row["cluster"]) for row in batch.collect()]).T)
        newest = SPC.load(folder / "checkpoint" / "models" / "newest.spc")
        newest.save(models / "newest.spc")

    query = scored.writeStream.foreachBatch(note).trigger(**NOW)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    (first, by_old), (second, by_new) = seen
    np.testing.assert_array_equal(by_old, SPC(5).fit(X[:200]).predict(X[first]))
    newest = SPC.load(models / "newest.spc")
    np.testing.assert_array_equal(by_new, newest.predict(framed(X[second])))


def test_a_folder_without_a_model_is_refused(spark, learnt, tmp_path):
    stream = stream_of(spark, learnt[0] / "X")
    with pytest.raises(ValueError, match=r"no model in .* after the first trigger of fit_stream"):
        predict(stream, tmp_path)


def test_a_source_of_rates_is_learnt(spark, tmp_path):
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 500).load()
    stream = rate.selectExpr("value % 7 as a", "value % 3 as b")
    query = fit_stream(stream, ["a", "b"], SPC(30), tmp_path / "checkpoint", shards=2)
    wait_for(query, lambda progress: progress and progress[-1].batchId >= 2)
    status = json.loads((tmp_path / "checkpoint" / "models" / "newest.json").read_text())
    assert status["points"] == 500 * (status["trigger"] + 1) >= 1500


def test_skipped_rows_are_counted_for_ever(spark, tmp_path):
    X, _ = gaussians(600)
    X[[3, 250, 599], 1] = np.nan, np.inf, np.nan
    write_parquet(tmp_path / "X", X, 3)
    learn(spark, tmp_path / "X", tmp_path / "checkpoint", bad_rows="skip")
    status = json.loads((tmp_path / "checkpoint" / "models" / "newest.json").read_text())
    assert (status["points"], status["skipped"]) == (597, 3)


def test_a_bad_row_stops_the_stream_and_what_was_learnt_stays(spark, tmp_path):
    X, _ = gaussians(600)
    X[450, 1] = np.nan
    write_parquet(tmp_path / "X", X, 3)
    with pytest.raises(Exception, match="'x1' has null or NaN in row 50 of partition 0"):
        learn(spark, tmp_path / "X", tmp_path / "checkpoint")
    assert SPC.load(tmp_path / "checkpoint" / "models" / "newest.spc").n_samples_seen_ == 400


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"shards": 0}, "shards must be an integer of at least 1, but is 0"),
        ({"keep": 1.5}, "keep must be an integer of at least 1, but is 1.5"),
        ({"time_to_live": timedelta(days=1)}, "time_to_live needs a key"),
        ({"models": "hdfs://host/models"}, "not in 'hdfs://host/models'"),
        ({"bad_rows": "drop"}, "bad_rows must be"),
    ],
)
def test_arguments_are_checked(spark, learnt, tmp_path, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        learn(spark, learnt[0] / "X", tmp_path / "checkpoint", **given)
    assert not (tmp_path / "checkpoint").exists()


def test_a_table_is_no_stream(spark, tmp_path):
    with pytest.raises(ValueError, match="df is a table, not a stream"):
        fit_stream(spark.range(3), "id", SPC(), tmp_path)


def test_settings_of_the_session_are_as_they_were(spark, learnt):
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"


# The parts, without an engine.


def test_a_trigger_that_is_repeated_writes_the_same_once_more(tmp_path):
    X, _ = gaussians(300)
    folder = ModelFolder(tmp_path, SPC(10), ["x0", "x1"], vector=False, keep=5)
    first, second = (SPC(10).fit(part).to_bytes() for part in (X[:100], X[100:]))
    folder.publish(0, {7: (first, 1)})
    folder.publish(1, {9: (second, 2)})
    once = (tmp_path / "newest.spc").read_bytes()
    folder.publish(1, {9: (second, 2)})
    assert (tmp_path / "newest.spc").read_bytes() == once
    status = json.loads((tmp_path / "newest.json").read_text())
    assert status == {"trigger": 1, "points": 300, "skipped": 3, "shards": 2}


def test_a_stream_that_goes_on_with_other_columns_is_stopped(tmp_path):
    X, _ = gaussians(100)
    model = SPC(10).fit(X).to_bytes()
    ModelFolder(tmp_path, SPC(10), ["x0", "x1"], vector=False, keep=5).publish(0, {1: (model, 0)})
    other = ModelFolder(tmp_path, SPC(10), ["x1", "x0"], vector=False, keep=5)
    with pytest.raises(ValueError, match="has learnt the columns x0, x1, and cannot go on with x1"):
        other.publish(1, {1: (model, 0)})
    other.publish(0, {1: (model, 0)})  # a stream that has just begun may have any


def test_a_new_stream_forgets_what_another_one_has_published(tmp_path):
    X, _ = gaussians(300)
    folder = ModelFolder(tmp_path, SPC(10), ["x0", "x1"], vector=False, keep=5)
    model = SPC(10).fit(X).to_bytes()
    for trigger in range(3):
        folder.publish(trigger, {trigger: (model, 0)})
    folder.publish(0, {5: (model, 0)})
    assert SPC.load(tmp_path / "newest.spc").n_samples_seen_ == 300
    assert [file.name for file in (tmp_path / "versions").iterdir()] == ["000000000000.spc"]


def test_rows_are_dealt_in_packs_that_can_be_put_in_order():
    import pyarrow as pa

    X, _ = gaussians(70_000)
    batch = pa.RecordBatch.from_arrays([pa.array(column) for column in X.T], ["x0", "x1"])
    row_format = RowFormat(["x0", "x1"], vector=False, bad_rows="raise")
    packs = list(packed(iter([batch, batch]), [3, 5], row_format))
    rows = [pack.to_pylist()[0] for pack in packs]
    assert [row["number"] for row in rows] == list(range(len(rows)))
    assert {row["shard"] for row in rows} == {3, 5}
    assert all(len(row["rows"]) <= 1 << 20 for row in rows)
    data = np.concatenate([np.frombuffer(row["rows"]).reshape(-1, 2) for row in rows])
    np.testing.assert_array_equal(data, np.concatenate([X, X]))


class State:
    """A state store with one value, as Spark's handle opens it."""

    value = None

    def getValueState(self, *_):  # noqa: N802 - Spark's name
        return self

    def get(self):
        return self.value

    def update(self, value):
        self.value = value


def test_a_pack_without_rows_counts_skipped_rows_and_leaves_the_model_as_it_is():
    import pyarrow as pa

    X, _ = gaussians(50)
    row_format = RowFormat(["x0", "x1"], vector=False, bad_rows="skip")
    sound = pa.RecordBatch.from_arrays([pa.array(column) for column in X.T], ["x0", "x1"])
    bad = pa.RecordBatch.from_arrays([pa.array([np.nan] * 4)] * 2, ["x0", "x1"])
    learner, state = ShardLearner(SPC(10)), State()
    learner.init(state)

    def learn_trigger(batches):
        packs = [pack.to_pandas() for pack in packed(iter(batches), [3], row_format)]
        (row,) = learner.handleInputRows((3,), iter(packs), None)
        return row

    first = learn_trigger([bad])
    assert first["model"][0] is None
    assert state.value == (None, 4)
    learn_trigger([bad, sound])
    model, skipped = state.value
    assert SPC.from_bytes(model).n_samples_seen_ == 50
    assert skipped == 8
    learn_trigger([bad])
    assert state.value == (model, 12)


@pytest.mark.parametrize("shards", [1, 2, 8, 50])
def test_each_shard_has_a_task_of_its_own(spark, shards):
    from pyspark.sql import functions as sql

    keys = shard_keys(spark, shards)
    table = spark.createDataFrame([(key,) for key in keys], "shard long")
    spread = table.repartition(shards, "shard").select(sql.spark_partition_id().alias("task"))
    assert len({row["task"] for row in spread.collect()}) == len(keys) == shards
