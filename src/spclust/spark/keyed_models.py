"""Independent models by key of a table or stream: one for each host, each sensor."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from spclust.estimators.spc import SPC
from spclust.partitions import BadRows, template_of
from spclust.spark.feature_columns import column_names, feature_columns, quoted
from spclust.spark.row_reader import RowFormat, RowReader
from spclust.spark.worker_model import model_bytes, taught

_STATE = "model binary, points long, skipped long"
_ROW_BITS = 33  # of a row's place in the order; the higher bits number the partition


def models_by_key(
    df: DataFrame,
    key: str,
    columns: str | Sequence[str],
    model: SPC,
    *,
    time_to_live: timedelta | None = None,
    bad_rows: BadRows = "raise",
) -> DataFrame:
    """Learn a model for each key: a table with key, points, skipped, and the model as bytes.

    A table gives one row for each key. A stream gives, at each trigger, a row for each key with new
    data, which a query can write anywhere; these rows are copies of the models in Spark's state
    store (see `read_models_by_key`). `SPC.from_bytes` reads a model.

    Parameters
    ----------
    df, columns, model, bad_rows
        As in `fit`.
    key : str
        The column of the keys, of any type.
    time_to_live : timedelta or None, default None
        In a stream, how long a model is kept after its key's last row. None keeps it for ever. With
        a time to live, Spark checks for expired models in every trigger, with or without data: give
        the query a trigger of some seconds; with {"availableNow": True} it would never end.

    Returns
    -------
    pyspark.sql.DataFrame
    """
    template, names = template_of(model), column_names(columns)
    features, row_format = feature_columns(df, names, bad_rows)
    if key not in df.columns:
        raise ValueError(f"There is no column {key!r} for the keys; there are {df.columns}.")
    first = StructField("key", df.schema[key].dataType)
    ordered = StructType([first, _long("place"), StructField("row", BinaryType())])
    rows = df.select(quoted(key).alias("key"), *features).mapInArrow(
        partial(_ordered, row_format=row_format), ordered
    )
    output = StructType(
        [first, _long("points"), _long("skipped"), StructField("model", BinaryType())]
    )
    groups = rows.groupBy("key")
    if not df.isStreaming:
        learnt = groups.applyInPandas(_group_learner(template), output)
    else:
        learner = KeyLearner(template, time_to_live)
        mode = "none" if time_to_live is None else "processingTime"
        learnt = groups.transformWithStateInPandas(learner, output, "Update", mode)
    return learnt.withColumnRenamed("key", key)


def read_models_by_key(spark: SparkSession, checkpoint: str | os.PathLike[str]) -> DataFrame:
    """Read the models of all keys of a stream from its state store, as of the last trigger.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    checkpoint : path
        The checkpoint of the query that writes `models_by_key`. The query may be running.

    Returns
    -------
    pyspark.sql.DataFrame
        As from `models_by_key`; the column of the keys is called `key`.
    """
    state = spark.read.format("statestore").option("stateVarName", "model")
    kept = state.load(os.fspath(checkpoint))
    value = "value.value" if "value" in kept.schema["value"].dataType.names else "value"
    numbers = [f"{value}.{name}" for name in ("points", "skipped", "model")]
    return kept.select("key.key", *numbers)


def _long(name: str) -> StructField:
    return StructField(name, LongType())


def _ordered(batches: Iterator[pa.RecordBatch], row_format: RowFormat) -> Iterator[pa.RecordBatch]:
    """Key, place in the order, and numbers of each row as bytes; no bytes for a skipped row."""
    reader = RowReader(row_format)
    place = reader.partition << _ROW_BITS
    for batch in batches:
        keys, *columns = batch.columns
        rows, finite = reader.rows_and_mask(columns)
        sizes = np.full(len(rows), 8 * rows.shape[1])
        if finite is not None:
            rows, sizes[~finite] = rows[finite], 0
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(rows.tobytes())]
        yield pa.RecordBatch.from_arrays(
            [
                keys,
                pa.array(np.arange(place, place + batch.num_rows)),
                pa.Array.from_buffers(pa.binary(), batch.num_rows, buffers),
            ],
            ["key", "place", "row"],
        )
        place += batch.num_rows


class KeyLearner(StatefulProcessor):
    """Updates the model of a key in the state store with the new rows of the key."""

    def __init__(self, template: SPC, time_to_live: timedelta | None) -> None:
        self._template, self._time_to_live = template, time_to_live

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of the key."""
        ttl = self._time_to_live
        milliseconds = None if ttl is None else max(1, round(ttl / timedelta(milliseconds=1)))
        self._state = handle.getValueState("model", _STATE, milliseconds)

    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """Learn the rows of a key in one trigger."""
        kept = self._state.get()
        data, _, skipped = (None, 0, 0) if kept is None else kept
        data, points, more = _learnt(self._template, data, pd.concat(list(rows)))
        self._state.update((data, points, skipped + more))
        yield _row(key[0], data, points, skipped + more)

    def close(self) -> None:
        """Do nothing: there is no other resource than the state."""


def _group_learner(template: SPC) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def learnt_group(group: pd.DataFrame) -> pd.DataFrame:
        return _row(group["key"].iloc[0], *_learnt(template, None, group))

    return learnt_group


def _learnt(
    template: SPC, data: bytes | None, group: pd.DataFrame
) -> tuple[bytes | None, int, int]:
    """The model of a key after more rows, as bytes; its points; the number of rows skipped."""
    rows = [row for row in group.sort_values("place")["row"] if row]
    batches = [np.frombuffer(b"".join(rows)).reshape(len(rows), -1)] if rows else []
    model = taught(template, data, batches)
    new_data = model_bytes(model)
    points = 0 if new_data is None else model.n_samples_seen_
    return new_data, points, len(group) - len(rows)


def _row(key: Any, data: bytes | None, points: int, skipped: int) -> pd.DataFrame:
    return pd.DataFrame({"key": [key], "points": [points], "skipped": [skipped], "model": [data]})
