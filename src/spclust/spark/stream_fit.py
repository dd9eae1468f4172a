"""A model of an endless Spark stream: a model for each shard, merged after each trigger."""

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
from spclust.partitions import BadRows, template_of
from spclust.spark.feature_columns import column_names, feature_columns
from spclust.spark.keyed_models import models_by_key
from spclust.spark.model_folder import ModelFolder
from spclust.spark.shards import PACK_SCHEMA, SHARD_SCHEMA, ShardLearner, packed, shard_keys
from spclust.spark.worker_errors import short_interrupt_message

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
    """Start a query that learns a Spark stream, and publishes a model of all rows at each trigger.

    Each shard has one model, which is kept in Spark's state store and learns as long as the stream
    runs. After each trigger the models of all shards are merged, and the result is published in the
    folder `models`: as `newest.spc`, which `SPC.load` and `predict` read and which is replaced
    atomically, and in `versions` under the number of the trigger; `newest.json` counts points and
    skipped rows. After a failure the stream continues from the checkpoint: every point counts once.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A stream, from any source that can be replayed: files, Kafka, rate.
    columns, bad_rows
        As in `fit`.
    model : SPC
        The parameters of the models of the shards, and of the merged model.
    checkpoint : path
        Where Spark keeps the state and its position in the stream: a folder or, on a cluster, an
        address that all machines share. To continue after a stop, call `fit_stream` with the same.
    models : path or None, default None
        Folder of the published models, which the driver can write to (and workers can read, if
        `predict` is to use it). None is the folder `models` in the checkpoint.
    shards : int, default 8
        Models that learn in parallel: about the number of cores.
    keep : int, default 10
        Number of versions to keep: of the model and, unless the session has a setting for it
        (spark.sql.streaming.minBatchesToRetain), of the state in the checkpoint.
    trigger : dict or None, default None
        Arguments of `DataStreamWriter.trigger`, when to read new data: {"processingTime": "10
        seconds"}, {"availableNow": True}. None reads as soon as the last trigger has finished.
    key : str or None, default None
        A column of keys: then each key has an independent model. Models stay in the state store,
        nothing is published (`models` and `keep` are ignored), and `shards` is the number of tasks
        among which the keys are distributed. `read_models_by_key` reads the models; to write them
        elsewhere at each trigger, or to predict, use `models_by_key`.
    time_to_live : timedelta or None, default None
        With `key`, how long a model is kept after its key's last row: see `models_by_key`.

    Returns
    -------
    pyspark.sql.streaming.StreamingQuery
    """
    template, names = template_of(model), column_names(columns)
    for what, number in (("shards", shards), ("keep", keep)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"{what} must be an integer of at least 1, but is {number!r}.")
    if not df.isStreaming:
        raise ValueError("df is a table, not a stream: use fit, or spark.readStream.")
    spark = df.sparkSession
    if key is not None:
        by_key = models_by_key(
            df, key, names, template, time_to_live=time_to_live, bad_rows=bad_rows
        )
        return _started(spark, by_key.writeStream.format("noop"), checkpoint, trigger, shards)
    if time_to_live is not None:
        raise ValueError("time_to_live needs a key: the models of shards are kept for ever.")
    features, row_format = feature_columns(df, names, bad_rows)
    path = _models_path(models, checkpoint)
    folder = ModelFolder(path, template, names, row_format.vector, keep)
    pack = partial(packed, keys=shard_keys(spark, shards), row_format=row_format)
    learnt = (
        df.select(*features)
        .mapInArrow(pack, PACK_SCHEMA)
        .groupBy("shard")
        .transformWithStateInPandas(ShardLearner(template), SHARD_SCHEMA, "Update", "none")
    )

    def publish(changed: DataFrame, number: int) -> None:
        with short_interrupt_message():
            rows = changed.collect()
        models_of_shards = {
            row["shard"]: (bytes(row["model"]), row["skipped"])
            for row in rows
            if row["model"] is not None
        }
        folder.publish(number, models_of_shards)

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
    with _state_settings(spark, tasks, versions):
        return writer.start()


@contextmanager
def _state_settings(spark: SparkSession, tasks: int, versions: int | None) -> Iterator[None]:
    """Change settings of the session for a query started in this block, which copies them."""
    wanted = {_PROVIDER: _ROCKSDB, _TASKS: str(tasks)}
    if _CHANGES not in spark.conf.getAll:
        # Otherwise each trigger writes a snapshot of RocksDB with the records of earlier triggers.
        wanted[_CHANGES] = "true"
    if versions is not None and _VERSIONS not in spark.conf.getAll:
        # Spark's default, 100, takes gigabytes for large models. Recovery needs the last two.
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


def _models_path(models: str | os.PathLike[str] | None, checkpoint: str | os.PathLike[str]) -> Path:
    address = os.fspath(Path(os.fspath(checkpoint)) / "models" if models is None else models)
    parsed = urlparse(address)
    if parsed.scheme not in ("", "file"):
        raise ValueError(
            f"Models can be published in a folder that the driver can write to, not in {address!r}:"
            " name one with models=."
        )
    return Path(parsed.path if parsed.scheme else address).absolute()
