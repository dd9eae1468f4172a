"""SPC of an endless Spark stream: shards in the state store, a merged model each trigger."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from spclust.estimators.spc import SPC
from spclust.partitions import BadRows, checked_policy, template_of
from spclust.spark.columns import feature_columns, named
from spclust.spark.errors import stop_in_few_words
from spclust.spark.keyed import models_by_key
from spclust.spark.publishing import Publisher
from spclust.spark.shards import MODELS, PACKS, ShardLearner, packed, shard_keys

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGES = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_VERSIONS = "spark.sql.streaming.minBatchesToRetain"
_TASKS = "spark.sql.shuffle.partitions"


def fit_stream(
    df: DataFrame,
    columns: str | Sequence[str],
    model: SPC,
    checkpoint: str | os.PathLike[str],
    *,
    models: str | os.PathLike[str] | None = None,
    shards: int = 8,
    keep: int = 10,
    bad_rows: BadRows = "raise",
    trigger: dict[str, Any] | None = None,
    key: str | None = None,
    time_to_live: timedelta | None = None,
) -> StreamingQuery:
    """Start to learn a Spark stream, for ever, and publish a model of all of it at each trigger.

    Each shard has one model, which lives in Spark's state store and learns as long as the stream
    runs. After each trigger the models of all shards are merged, and the whole is published in the
    folder `models`: as `newest.spc`, which `SPC.load` and `predict` read and which is always whole,
    and under the number of the trigger in `versions`; `newest.json` counts points and skipped rows.
    Every point counts once, whatever fails: the stream goes on from the checkpoint.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A stream, from any source that can be replayed: files, Kafka, rate.
    columns, bad_rows
        As in `fit`.
    model : SPC
        The parameters of each shard's model, and of the whole.
    checkpoint : path
        Where Spark keeps its place in the stream and the state: a folder or, on a cluster, an
        address that all machines share. To go on after a stop, call `fit_stream` with the same one.
    models : path or None, default None
        Folder of the published models, on a disk that the driver can write to (and that workers
        can read, if `predict` is to follow it). None is the folder `models` in the checkpoint.
    shards : int, default 8
        Models that learn at the same time: about the number of cores.
    keep : int, default 10
        Versions kept: of the model and, in the checkpoint, of the state, unless Spark was told how
        many (spark.sql.streaming.minBatchesToRetain).
    trigger : dict or None, default None
        When to look for new data, as `DataStreamWriter.trigger` takes it: {"processingTime": "10
        seconds"}, {"availableNow": True}. None looks as soon as the last trigger is done.
    key : str or None, default None
        A column of keys: then each key has an independent model. Models stay in the state store,
        nothing is published (`models`, `keep` have no part), and `shards` is the number of tasks
        that the keys are spread over. `read_models_by_key` reads the models; to write them
        elsewhere at each trigger, or to score, use `models_by_key`.
    time_to_live : timedelta or None, default None
        With `key`, how long a model is kept after its key's last row: see `models_by_key`.

    Returns
    -------
    pyspark.sql.streaming.StreamingQuery
    """
    template, names, policy = template_of(model), named(columns), checked_policy(bad_rows)
    for what, number in (("shards", shards), ("keep", keep)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"{what} must be an integer of at least 1, but is {number!r}.")
    if not df.isStreaming:
        raise ValueError("df is a table, not a stream: use fit, or spark.readStream.")
    spark = df.sparkSession
    if key is not None:
        by_key = models_by_key(df, key, names, template, time_to_live=time_to_live, bad_rows=policy)
        return _started(spark, by_key.writeStream.format("noop"), checkpoint, trigger, shards)
    if time_to_live is not None:
        raise ValueError("time_to_live needs a key: the models of shards are kept for ever.")
    features, vector = feature_columns(df, names)
    publisher = Publisher(_models_folder(models, checkpoint), template, names, vector, keep)
    keys = shard_keys(spark, shards)
    pack = partial(packed, keys=keys, reader=(names, vector, policy))
    learnt = (
        df.select(*features)
        .mapInArrow(pack, PACKS)
        .groupBy("shard")
        .transformWithStateInPandas(ShardLearner(template), MODELS, "Update", "none")
    )

    def publish(changed: DataFrame, number: int) -> None:
        with stop_in_few_words():
            rows = changed.collect()
        known = {
            row["shard"]: (bytes(row["model"]), row["skipped"])
            for row in rows
            if row["model"] is not None
        }
        publisher.publish(number, known)

    writer = learnt.writeStream.foreachBatch(publish)
    return _started(spark, writer, checkpoint, trigger, shards, keep)


def _started(
    spark: SparkSession,
    writer: DataStreamWriter,
    checkpoint: str | os.PathLike[str],
    trigger: dict[str, Any] | None,
    tasks: int,
    versions: int | None = None,
) -> StreamingQuery:
    writer = writer.outputMode("update").option("checkpointLocation", os.fspath(checkpoint))
    if trigger is not None:
        writer = writer.trigger(**trigger)
    with _settings_of_state(spark, tasks, versions):
        return writer.start()


@contextmanager
def _settings_of_state(spark: SparkSession, tasks: int, versions: int | None) -> Iterator[None]:
    """Settings for a query that is started in this block: it keeps a copy of them."""
    wanted = {_PROVIDER: _ROCKSDB, _TASKS: str(tasks)}
    if _CHANGES not in spark.conf.getAll:
        # Else each trigger writes, beside the model, RocksDB's record of all triggers before it.
        wanted[_CHANGES] = "true"
    if versions is not None and _VERSIONS not in spark.conf.getAll:
        # Spark's own hundred are gigabytes, if models are large. It goes on from the last but one.
        wanted[_VERSIONS] = str(max(2, versions))
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _models_folder(
    models: str | os.PathLike[str] | None, checkpoint: str | os.PathLike[str]
) -> Path:
    address = os.fspath(Path(os.fspath(checkpoint)) / "models" if models is None else models)
    parsed = urlparse(address)
    if parsed.scheme not in ("", "file"):
        raise ValueError(
            f"Models can be published in a folder that the driver can write to, not in {address!r}:"
            " name one with models=."
        )
    return Path(parsed.path if parsed.scheme else address).absolute()
