"""How Spark merges the models of a table: in a tree, on the workers.

Each partition, numbered by `place`, has one model. At each node MODELS_PER_MERGE of them become one
by `merge_all`, and `table_fit` merges what two levels leave on the driver. The places alone decide
which models are merged, and in which order, so that the result does not depend on the scheduler.
The shards of a stream are merged by `model_folder`.
"""

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.partitions import MODELS_PER_MERGE

# `place` is the number of the partition, or of the node, that a model belongs to.
MODEL_SCHEMA = "place long, model binary, skipped long"

_LEVELS = 2  # of a million partitions, the driver merges a thousand models


def merge_tree(models: DataFrame) -> DataFrame:
    """Merge a table of models, of MODEL_SCHEMA, into a shorter one: one row for each 1,024."""
    for _ in range(_LEVELS):
        nodes = models.select(
            sql.expr(f"place div {MODELS_PER_MERGE}").alias("place"),
            sql.col("place").alias("child"),
            "model",
            "skipped",
        ).groupBy("place")
        models = nodes.applyInPandas(_merged_node, MODEL_SCHEMA)
    return models


def _merged_node(children: pd.DataFrame) -> pd.DataFrame:
    children = children.sort_values("child")
    model = merged_bytes(list(children["model"]))
    skipped = int(children["skipped"].sum())
    place = children["place"].iloc[0]
    return pd.DataFrame({"place": [place], "model": [model], "skipped": [skipped]})


def merged_bytes(models: list[bytes | None]) -> bytes | None:
    """Merge models kept as bytes; None stands for one that has learnt nothing."""
    learnt = [model for model in models if model is not None]
    if len(learnt) < 2:
        return bytes(learnt[0]) if learnt else None
    return merge_all([SPC.from_bytes(model) for model in learnt]).to_bytes()
