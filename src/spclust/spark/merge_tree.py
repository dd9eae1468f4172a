"""How Spark merges models: those of a table in a tree, on the workers; shards of a stream at once.

Each partition of a table, numbered by `place`, has one model. At each node MODELS_PER_MERGE of them
become one by `estimators.model_merge.merge_all`, and `table_fit` merges what two levels leave on
the driver. The places alone decide which models are merged, and in which order, so that the result
does not depend on the scheduler. The shards of a stream are few: the driver merges all of them
after each trigger.
"""

from collections.abc import Iterable
from pathlib import Path

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


def merged_shards(files: Iterable[Path], template: SPC) -> SPC:
    """Merge the models of a stream's shards, saved in files, with the parameters of `template`."""
    return merge_all(SPC.load(file).set_params(**template.get_params()) for file in files)
