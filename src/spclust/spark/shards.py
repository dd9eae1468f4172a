"""Shards of a stream: rows are sent in packs, and each shard's model is in the state store.

Packs of some thousand rows are cheap to send, and are numbered: a repeated trigger learns the same
rows in the same order, whatever the order of arrival.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from spclust.array_types import Floats
from spclust.estimators.spc import SPC
from spclust.spark.row_reader import RowFormat, RowReader
from spclust.spark.worker_model import model_bytes, taught

PACK_SCHEMA = "shard long, partition long, number long, width long, rows binary, skipped long"
SHARD_SCHEMA = "shard long, model binary, skipped long"

_PACK_NAMES = [column.split()[0] for column in PACK_SCHEMA.split(", ")]
_MAX_PACK_BYTES = 1 << 20


def shard_keys(spark: SparkSession, shards: int) -> list[int]:
    """A key for each shard, chosen so that Spark hashes them to different tasks."""
    candidates = spark.range(200 * shards + 1000)
    task = sql.pmod(sql.hash("id"), sql.lit(shards)).alias("task")
    first: dict[int, int] = {}
    for row in sorted(candidates.select("id", task).collect()):
        first.setdefault(row["task"], row["id"])
    return [first[task] for task in sorted(first)]


def packed(
    batches: Iterator[pa.RecordBatch], keys: list[int], row_format: RowFormat
) -> Iterator[pa.RecordBatch]:
    """The rows of one partition in packs, which go to the shards in turn."""
    reader, number = RowReader(row_format), 0
    for batch in batches:
        before = reader.skipped
        rows = reader.rows(batch.columns)
        skipped = reader.skipped - before
        parts = _parts(rows)
        if skipped and not parts:
            parts = [rows]  # an empty pack, to count the skipped rows
        for part in parts:
            shard = keys[(reader.partition + number) % len(keys)]
            values = (shard, reader.partition, number, rows.shape[1], part.tobytes(), skipped)
            yield pa.RecordBatch.from_arrays([pa.array([value]) for value in values], _PACK_NAMES)
            number, skipped = number + 1, 0


def _parts(rows: Floats) -> list[Floats]:
    length = max(1, _MAX_PACK_BYTES // (8 * rows.shape[1]))
    return [rows[start : start + length] for start in range(0, len(rows), length)]


class ShardLearner(StatefulProcessor):
    """Updates the model of a shard in the state store with the packs of a trigger."""

    def __init__(self, template: SPC) -> None:
        self._template = template

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of the shard."""
        self._state = handle.getValueState("model", "model binary, skipped long")

    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """Learn the packs of a shard, in the order of partitions and numbers."""
        kept = self._state.get()
        data, skipped = (None, 0) if kept is None else kept
        packs = pd.concat(list(rows)).sort_values(["partition", "number"])
        batches = (
            np.frombuffer(pack.rows).reshape(-1, pack.width)
            for pack in packs.itertuples(index=False)
            if pack.rows  # empty if it only counts skipped rows
        )
        data = model_bytes(taught(self._template, data, batches))
        skipped = int(skipped + packs["skipped"].sum())
        self._state.update((data, skipped))
        yield pd.DataFrame({"shard": [key[0]], "model": [data], "skipped": [skipped]})

    def close(self) -> None:
        """Do nothing: there is no other resource than the state."""
