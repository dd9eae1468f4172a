"""SPC of a Spark table: each partition is learnt where it is, and the models are merged."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from sklearn.base import clone

from spclust.estimators.last_batch import SOMETHING_ELSE
from spclust.estimators.spc import SPC
from spclust.partitions import BadRows, checked_policy, counted, template_of
from spclust.spark.columns import feature_columns, named
from spclust.spark.errors import workers_sentence
from spclust.spark.rows import RowReader
from spclust.spark.trees import SCHEMA, merged, merged_in_groups, named_features


def fit(
    df: DataFrame, columns: str | Sequence[str], model: SPC, *, bad_rows: BadRows = "raise"
) -> SPC:
    """A model of all rows of a Spark table.

    Each partition is learnt, in its order, by a model of its own, where it is; the models are
    merged, 32 at a time, where they are, too. So the number of partitions decides how much
    runs at the same time, and has a part in the result: see docs/spark.md. The same partitions in
    the same order give the same model, to the last bit.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The table, of classic Spark or Spark Connect.
    columns : list of str, or str
        Columns of numbers, which are the features; or one that holds all features of a row, as an
        array or a vector of Spark ML.
    model : SPC
        The parameters. What it has learnt, if anything, has no part, and it is not changed.
    bad_rows : {"raise", "skip"}, default "raise"
        What is done with rows in which a number is missing, NaN or infinite. "skip" leaves them
        out, warns, and counts them in the model's attribute `n_rows_skipped_`.

    Returns
    -------
    SPC
        An ordinary model, with the names of the columns as `feature_names_in_`.
    """
    template, names, policy = template_of(model), named(columns), checked_policy(bad_rows)
    features, vector = feature_columns(df, names)
    learn = partial(_learn_partition, template=template, reader=(names, vector, policy))
    models = df.select(*features).mapInArrow(learn, SCHEMA)
    with workers_sentence():
        last = sorted(merged_in_groups(models).collect())
    data, skipped = merged([row["model"] for row in last]), sum(row["skipped"] for row in last)
    whole = counted(None if data is None else SPC.from_bytes(data), skipped)
    return named_features(whole, names, vector)


def continued(template: SPC, data: bytes | None) -> SPC:
    """The model that was kept as bytes, or a new one, with the parameters of the template.

    Learning refuses parameters that cannot change in the middle of a stream.
    """
    if data is None:
        return clone(template)
    return SPC.from_bytes(bytes(data)).set_params(**template.get_params())


def state_of(model: SPC) -> bytes | None:
    """The model as bytes, without the rows that it has just learnt; None if it has learnt nothing.

    Nobody asks a part of the whole for the labels of its last rows, which take time and room.
    """
    if not hasattr(model, "n_features_in_"):
        return None
    model._last = SOMETHING_ELSE
    return model.to_bytes()


def _learn_partition(
    batches: Iterator[pa.RecordBatch], template: SPC, reader: tuple[list[str], bool, BadRows]
) -> Iterator[pa.RecordBatch]:
    """The model of one partition, as one row."""
    model, rows_of = clone(template), RowReader(*reader)
    for batch in batches:
        rows = rows_of.rows(batch.columns)
        if len(rows):
            model.partial_fit(rows)
    yield pa.RecordBatch.from_pydict(
        {
            "place": pa.array([rows_of.partition], pa.int64()),
            "model": pa.array([state_of(model)], pa.binary()),
            "skipped": pa.array([rows_of.skipped], pa.int64()),
        }
    )
