"""A model of a Spark table: each partition is learnt on its worker, and the models are merged."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from spclust.estimators.spc import SPC
from spclust.partitions import BadRows, template_of, with_feature_names, with_skipped_rows
from spclust.spark.feature_columns import column_names, feature_columns
from spclust.spark.merge_tree import MODEL_SCHEMA, merge_tree, merged_bytes
from spclust.spark.row_reader import RowFormat, RowReader
from spclust.spark.worker_errors import bad_rows_reraised
from spclust.spark.worker_model import model_bytes, taught
from spclust.stream.mode import number_anew


def fit(
    df: DataFrame, columns: str | Sequence[str], model: SPC, *, bad_rows: BadRows = "raise"
) -> SPC:
    """Learn all rows of a Spark table, and return one model.

    Each partition is learnt, in its order, by a model of its own; the models are merged, 32 at a
    time. Both happen on the workers. The number of partitions therefore decides how many tasks run
    in parallel, and influences the result: see docs/explanation/shards.md. The same
    partitions in the same order give the same model, to the last bit.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The table, of classic Spark or Spark Connect.
    columns : list of str, or str
        Columns of numbers, which are the features; or one that holds all features of a row, as an
        array or a vector of Spark ML.
    model : SPC
        The parameters. The model itself, and anything it has learnt, is neither used nor changed.
    bad_rows : {"raise", "skip"}, default "raise"
        What to do with rows in which a number is missing, NaN or infinite. "skip" leaves them
        out, warns, and counts them in the model's attribute `n_rows_skipped_`.

    Returns
    -------
    SPC
        An ordinary model, with the names of the columns as `feature_names_in_`.
    """
    template, names = template_of(model), column_names(columns)
    features, row_format = feature_columns(df, names, bad_rows)
    learn = partial(_learn_partition, template=template, row_format=row_format)
    models = df.select(*features).mapInArrow(learn, MODEL_SCHEMA)
    with bad_rows_reraised():
        last = sorted(merge_tree(models).collect())
    data, skipped = (
        merged_bytes([row["model"] for row in last]),
        sum(row["skipped"] for row in last),
    )
    whole = with_skipped_rows(None if data is None else SPC.from_bytes(data), skipped)
    return whole if row_format.vector else with_feature_names(whole, names)


def _learn_partition(
    batches: Iterator[pa.RecordBatch], template: SPC, row_format: RowFormat
) -> Iterator[pa.RecordBatch]:
    """The model of one partition, as one row of MODEL_SCHEMA."""
    reader = RowReader(row_format)
    model = taught(template, None, (reader.rows(batch.columns) for batch in batches))
    if model.__sklearn_is_fitted__():
        number_anew(model._stream)  # as `fit` does
    yield pa.RecordBatch.from_pydict(
        {
            "place": pa.array([reader.partition], pa.int64()),
            "model": pa.array([model_bytes(model)], pa.binary()),
            "skipped": pa.array([reader.skipped], pa.int64()),
        }
    )
