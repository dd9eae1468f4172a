"""Clusters of the rows of a Spark table or stream."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from spclust.estimators.spc import SPC
from spclust.partitions import BadRows
from spclust.spark.feature_columns import column_names, feature_columns
from spclust.spark.model_folder import ModelSource, newest_model_in
from spclust.spark.row_reader import RowReader


def predict(
    df: DataFrame,
    model: SPC | str | os.PathLike[str],
    columns: str | Sequence[str] | None = None,
    *,
    output: str = "cluster",
    bad_rows: BadRows = "raise",
) -> DataFrame:
    """Add a column to a table or stream: the cluster of each row.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A table or a stream.
    model : SPC or path
        A fitted model; or a folder in which `fit_stream` publishes models and which every worker
        can read: then workers use a newer model as soon as it is published.
    columns : list of str, str or None, default None
        The features, in the order in which they were learnt. None takes the model's names.
    output : str, default "cluster"
        Name of the new column, of integers; -1 is noise, or an outlier by `outlier_nlt`.
    bad_rows : {"raise", "skip"}, default "raise"
        Rows in which a number is missing, NaN or infinite: "skip" gives them a null.

    Returns
    -------
    pyspark.sql.DataFrame
    """
    known = model if isinstance(model, SPC) else SPC.load(newest_model_in(model))
    source = model.to_bytes() if isinstance(model, SPC) else newest_model_in(model)
    learnt = [str(name) for name in getattr(known, "feature_names_in_", [])]
    if columns is None and not learnt:
        raise ValueError("The model has no names of features: say which columns they are.")
    names = column_names(learnt if columns is None else columns)
    if learnt and names != learnt:
        raise ValueError(
            f"The model has learnt the columns {', '.join(learnt)}, in this order, but "
            f"{', '.join(names)} are named: name those, or none."
        )
    features, row_format = feature_columns(df, names, bad_rows)
    if not row_format.vector and len(names) != known.n_features_in_:
        raise ValueError(
            f"The model has {known.n_features_in_} features, but {len(names)} columns are named."
        )

    @sql.pandas_udf("int")
    def cluster(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.Series]:
        reader, models = RowReader(row_format), ModelSource(source)
        for series in batches:
            yield _labels(models.newest(), reader, series)

    return df.withColumn(output, cluster(*features))


def _labels(model: SPC, reader: RowReader, series: tuple[pd.Series, ...] | pd.Series) -> pd.Series:
    """Labels of the rows of some columns, missing where a row is not finite."""
    several = series if isinstance(series, tuple) else (series,)  # Spark passes one as it is
    rows, finite = reader.rows_and_mask([pa.Array.from_pandas(column) for column in several])
    if finite is None:
        return pd.Series(_predicted(model, rows))
    labels = pd.Series(pd.NA, index=range(len(rows)), dtype="Int32")
    if finite.any():
        labels[finite] = _predicted(model, rows[finite])
    return labels


def _predicted(model: SPC, rows: Any) -> Any:
    return model.predict(rows).astype(np.int32) if len(rows) else np.empty(0, np.int32)
