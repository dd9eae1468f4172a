"""One independent model for each key of a table or stream: each host, each sensor."""

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
from spclust.partitions import BadRows, checked_policy, template_of
from spclust.spark.columns import feature_columns, named, quoted
from spclust.spark.fitting import continued, state_of
from spclust.spark.rows import RowReader

_STATE = "model binary, points long, skipped long"
_ROW_BITS = 33  # of a row's place in the order: those of its number in the partition


def models_by_key(
    df: DataFrame,
    key: str,
    columns: str | Sequence[str],
    model: SPC,
    *,
    time_to_live: timedelta | None = None,
    bad_rows: BadRows = "raise",
) -> DataFrame:
    """A model for each key, as rows: key, points, skipped, and the model as bytes.

    Of a table, there is one row for each key. Of a stream, each trigger has a row for each key with
    new data, to be written wherever you like; the models live in Spark's state store, and what was
    written is a copy of them (see `read_models_by_key`). `SPC.from_bytes` reads a model.

    Parameters
    ----------
    df, columns, model, bad_rows
        As in `fit`.
    key : str
        The column of the keys, of any type.
    time_to_live : timedelta or None, default None
        In a stream, how long a model is kept after its key's last row. None keeps it for ever. With
        one, Spark looks for models to forget all the time, so give the query a trigger of some
        seconds; {"availableNow": True} would never end.

    Returns
    -------
    pyspark.sql.DataFrame
    """
    template, names, policy = template_of(model), named(columns), checked_policy(bad_rows)
    features, vector = feature_columns(df, names)
    if key not in df.columns:
        raise ValueError(f"There is no column {key!r} for the keys; there are {df.columns}.")
    first = StructField("key", df.schema[key].dataType)
    ordered = StructType([first, _long("place"), StructField("row", BinaryType())])
    rows = df.select(quoted(key).alias("key"), *features).mapInArrow(
        partial(_ordered, reader=(names, vector, policy)), ordered
    )
    output = StructType(
        [first, _long("points"), _long("skipped"), StructField("model", BinaryType())]
    )
    groups = rows.groupBy("key")
    if not df.isStreaming:
        learnt = groups.applyInPandas(_learner_of_groups(template), output)
    else:
        learner = KeyLearner(template, time_to_live)
        mode = "none" if time_to_live is None else "processingTime"
        learnt = groups.transformWithStateInPandas(learner, output, "Update", mode)
    return learnt.withColumnRenamed("key", key)


def read_models_by_key(spark: SparkSession, checkpoint: str | os.PathLike[str]) -> DataFrame:
    """The models of all keys of a stream, from its state store, as the last trigger left them.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    checkpoint : path
        That of the query which writes `models_by_key`. It may be running.

    Returns
    -------
    pyspark.sql.DataFrame
        As `models_by_key`, with the column of the keys called `key`.
    """
    state = spark.read.format("statestore").option("stateVarName", "model")
    kept = state.load(os.fspath(checkpoint))
    value = "value.value" if "value" in kept.schema["value"].dataType.names else "value"
    numbers = [f"{value}.{name}" for name in ("points", "skipped", "model")]
    return kept.select("key.key", *numbers)


def _long(name: str) -> StructField:
    return StructField(name, LongType())


def _ordered(
    batches: Iterator[pa.RecordBatch], reader: tuple[list[str], bool, BadRows]
) -> Iterator[pa.RecordBatch]:
    """Key, place in the order, and the numbers of each row as bytes, none if it is skipped."""
    rows_of = RowReader(*reader)
    place = rows_of.partition << _ROW_BITS
    for batch in batches:
        keys, *columns = batch.columns
        rows, sound = rows_of.rows_and_soundness(columns)
        sizes = np.full(len(rows), 8 * rows.shape[1])
        if sound is not None:
            rows, sizes[~sound] = rows[sound], 0
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
    """The model of a key: taken from the state store, taught its new rows, and put back."""

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
        """Learn the rows of a key that a trigger has brought."""
        kept = self._state.get()
        data, _, skipped = (None, 0, 0) if kept is None else kept
        data, points, more = _learnt(self._template, data, pd.concat(list(rows)))
        self._state.update((data, points, skipped + more))
        yield _row(key[0], data, points, skipped + more)

    def close(self) -> None:
        """Nothing is kept outside the state."""


def _learner_of_groups(template: SPC) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def learnt_group(group: pd.DataFrame) -> pd.DataFrame:
        return _row(group["key"].iloc[0], *_learnt(template, None, group))

    return learnt_group


def _learnt(
    template: SPC, data: bytes | None, group: pd.DataFrame
) -> tuple[bytes | None, int, int]:
    """The model of a key after more rows, as bytes, its points, and how many rows were skipped."""
    model = continued(template, data)
    rows = [row for row in group.sort_values("place")["row"] if row]
    if rows:
        model.partial_fit(np.frombuffer(b"".join(rows)).reshape(len(rows), -1))
    state = state_of(model)
    points = 0 if state is None else model.n_samples_seen_
    return state, points, len(group) - len(rows)


def _row(key: Any, data: bytes | None, points: int, skipped: int) -> pd.DataFrame:
    return pd.DataFrame({"key": [key], "points": [points], "skipped": [skipped], "model": [data]})
