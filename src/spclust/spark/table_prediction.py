"""Clusters of the rows of a Spark table or stream, by a model or by the newest of a folder."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from spclust.estimators.spc import SPC
from spclust.partitions import BadRows, checked_policy
from spclust.spark.columns import feature_columns, named
from spclust.spark.publishing import NEWEST
from spclust.spark.rows import RowReader


def predict(
    df: DataFrame,
    model: SPC | str | os.PathLike[str],
    columns: str | Sequence[str] | None = None,
    *,
    output: str = "cluster",
    bad_rows: BadRows = "raise",
) -> DataFrame:
    """The table, or stream, with one column more: the cluster of each row.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A table or a stream.
    model : SPC or path
        A fitted model; or a folder that `fit_stream` publishes models in, which every worker can
        read: then each worker takes a newer model as soon as there is one.
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
    policy = checked_policy(bad_rows)
    known = model if isinstance(model, SPC) else SPC.load(_newest_of(model))
    source = model.to_bytes() if isinstance(model, SPC) else _newest_of(model)
    learnt = [str(name) for name in getattr(known, "feature_names_in_", [])]
    if columns is None and not learnt:
        raise ValueError("The model has no names of features: say which columns they are.")
    names = named(learnt if columns is None else columns)
    if learnt and names != learnt:
        raise ValueError(
            f"The model has learnt the columns {', '.join(learnt)}, in this order, but "
            f"{', '.join(names)} are named: name those, or none."
        )
    features, vector = feature_columns(df, names)
    if not vector and len(names) != known.n_features_in_:
        raise ValueError(
            f"The model has {known.n_features_in_} features, but {len(names)} columns are named."
        )

    @sql.pandas_udf("int")
    def cluster(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.Series]:
        reader, models = RowReader(names, vector, policy), _Models(source)
        for series in batches:
            yield _labels(models.newest(), reader, series)

    return df.withColumn(output, cluster(*features))


def _newest_of(folder: str | os.PathLike[str]) -> Path:
    """The file of the newest model in a folder."""
    newest = Path(folder).absolute() / NEWEST
    if not newest.is_file():
        raise ValueError(
            f"There is no model in {os.fspath(folder)!r}: a model appears there after the first "
            "trigger of fit_stream."
        )
    return newest


def _labels(model: SPC, reader: RowReader, series: tuple[pd.Series, ...] | pd.Series) -> pd.Series:
    """Labels of the rows of some columns, missing where a row is no sound one."""
    several = series if isinstance(series, tuple) else (series,)  # Spark hands one over as it is
    rows, sound = reader.rows_and_soundness([pa.Array.from_pandas(column) for column in several])
    if sound is None:
        return pd.Series(_predicted(model, rows))
    labels = pd.Series(pd.NA, index=range(len(rows)), dtype="Int32")
    if sound.any():
        labels[sound] = _predicted(model, rows[sound])
    return labels


def _predicted(model: SPC, rows: Any) -> Any:
    return model.predict(rows).astype(np.int32) if len(rows) else np.empty(0, np.int32)


class _Models:
    """The model to score with, read again when its file has been replaced."""

    def __init__(self, source: bytes | Path) -> None:
        self._path = None if isinstance(source, bytes) else source
        self._seen: Any = None
        if isinstance(source, bytes):
            self._model = _unnamed(SPC.from_bytes(source))

    def newest(self) -> SPC:
        if self._path is not None:
            status = self._path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if seen != self._seen:
                self._model, self._seen = _unnamed(SPC.load(self._path)), seen
        return self._model


def _unnamed(model: SPC) -> SPC:
    """The model for rows whose names were looked at already."""
    model.__dict__.pop("feature_names_in_", None)
    return model
