"""Many models become one: in the engine, a few dozen at a time."""

from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.partitions import TOGETHER

# `place` is the number of the partition, or of the group, that a model is of.
SCHEMA = "place long, model binary, skipped long"

_LEVELS = 2  # so that 1,024 models become one; of a million the last step merges a thousand


def merged_in_groups(models: DataFrame) -> DataFrame:
    """A few models, of the same schema, in place of many: one if there are at most 1,024.

    What is merged with what, and in which order, follows from the places alone.
    """
    for _ in range(_LEVELS):
        groups = models.select(
            sql.expr(f"place div {TOGETHER}").alias("place"),
            sql.col("place").alias("before"),
            "model",
            "skipped",
        ).groupBy("place")
        models = groups.applyInPandas(_merged_group, SCHEMA)
    return models


def _merged_group(group: pd.DataFrame) -> pd.DataFrame:
    group = group.sort_values("before")
    model = merged(list(group["model"]))
    skipped = int(group["skipped"].sum())
    return pd.DataFrame({"place": [group["place"].iloc[0]], "model": [model], "skipped": [skipped]})


def merged(models: list[bytes | None]) -> bytes | None:
    """One model of several, as bytes; None if there was nothing to learn in any of their parts."""
    learnt = [model for model in models if model is not None]
    if len(learnt) < 2:
        return bytes(learnt[0]) if learnt else None
    return merge_all([SPC.from_bytes(model) for model in learnt]).to_bytes()


def named_features(model: Any, names: list[str], vector: bool) -> Any:
    """The model with the names of its features, which models of partitions do without."""
    if not vector:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model
