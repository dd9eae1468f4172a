"""Shards of a stream: rows travel in packs, and each shard's model lives in the state store.

Packs of some thousand rows are cheap to move, and can be put in order: a trigger that is repeated
learns the same rows in the same order, whatever came first over the network.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from spclust.arrays import Floats
from spclust.estimators.spc import SPC
from spclust.partitions import BadRows
from spclust.spark.fitting import continued, state_of
from spclust.spark.rows import RowReader

PACKS = "shard long, partition long, number long, width long, rows binary, skipped long"
MODELS = "shard long, model binary, skipped long"

_PACK_NAMES = [column.split()[0] for column in PACKS.split(", ")]
_MOST_BYTES = 1 << 20  # of rows in a pack


def shard_keys(spark: SparkSession, shards: int) -> list[int]:
    """A key for each shard, such that Spark's hashes of them lead to as many different tasks."""
    tried = spark.range(200 * shards + 1000)
    tasks = tried.select("id", sql.pmod(sql.hash("id"), sql.lit(shards)).alias("task")).collect()
    first: dict[int, int] = {}
    for row in sorted(tasks):
        first.setdefault(row["task"], row["id"])
    return [first[task] for task in sorted(first)]


def packed(
    batches: Iterator[pa.RecordBatch], keys: list[int], reader: tuple[list[str], bool, BadRows]
) -> Iterator[pa.RecordBatch]:
    """The rows of one partition in packs, dealt to the shards in turn."""
    rows_of, number = RowReader(*reader), 0
    for batch in batches:
        before = rows_of.skipped
        rows = rows_of.rows(batch.columns)
        skipped = rows_of.skipped - before
        for part in _parts(rows) or ([rows] if skipped else []):  # to count them, if nothing else
            shard = keys[(rows_of.partition + number) % len(keys)]
            numbers = (shard, rows_of.partition, number, rows.shape[1], part.tobytes(), skipped)
            yield pa.RecordBatch.from_arrays([pa.array([value]) for value in numbers], _PACK_NAMES)
            number, skipped = number + 1, 0


def _parts(rows: Floats) -> list[Floats]:
    most = max(1, _MOST_BYTES // (8 * rows.shape[1]))
    return [rows[start : start + most] for start in range(0, len(rows), most)]


class ShardLearner(StatefulProcessor):
    """The model of a shard: taken from the state store, taught a trigger's packs, and put back."""

    def __init__(self, template: SPC) -> None:
        self._template = template

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of the shard."""
        self._state = handle.getValueState("model", "model binary, skipped long")

    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """Learn what has come for a shard, in the order of partitions and packs."""
        kept = self._state.get()
        data, skipped = (None, 0) if kept is None else kept
        model = continued(self._template, data)
        packs = pd.concat(list(rows)).sort_values(["partition", "number"])
        for pack in packs.itertuples(index=False):
            skipped += pack.skipped
            if len(pack.rows):
                model.partial_fit(np.frombuffer(pack.rows).reshape(-1, pack.width))
        data = state_of(model)
        self._state.update((data, int(skipped)))
        yield pd.DataFrame({"shard": [key[0]], "model": [data], "skipped": [skipped]})

    def close(self) -> None:
        """Nothing is kept outside the state."""
