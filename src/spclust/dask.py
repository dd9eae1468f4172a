"""SPC on Dask: a model for each partition of a table or array, merged in groups of 32."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from spclust.array_types import Floats
from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.partitions import (
    MODELS_PER_MERGE,
    BadRows,
    checked_policy,
    template_of,
    with_feature_names,
    with_skipped_rows,
    without_feature_names,
)

try:
    import dask.dataframe as tables
    import pandas as pd
    from dask import array
    from dask.delayed import delayed
except ImportError:
    raise ImportError(
        "spclust.dask needs Dask: install it with pip install 'spclust[dask]'."
    ) from None

Names = Sequence[str] | None
_Learnt = tuple[SPC | None, int]  # a model of some partitions, and the number of skipped rows


def fit(data: Any, model: SPC, columns: Names = None, *, bad_rows: BadRows = "raise") -> SPC:
    """A model of all rows of a `dask.dataframe` or `dask.array`; `model` has the parameters.

    `columns` of a table are the features; None takes all. Rows in which a number is missing, NaN or
    infinite raise a ValueError or, with "skip", are left out and counted in `n_rows_skipped_`. The
    same partitions in the same order give the same model, to the last bit.
    """
    template, skip = template_of(model), checked_policy(bad_rows) == "skip"
    features = _features(data, columns)
    learn, merge, parts = delayed(_learnt), delayed(_merged), features.to_delayed()
    models = [learn(part, template, skip, number) for number, part in enumerate(parts)]
    while len(models) > 1:
        starts = range(0, len(models), MODELS_PER_MERGE)
        models = [merge(models[k : k + MODELS_PER_MERGE]) for k in starts]
    learnt: _Learnt = models[0].compute()
    whole = with_skipped_rows(*learnt)
    return whole if isinstance(data, array.Array) else with_feature_names(whole, features.columns)


def predict(data: Any, model: SPC, columns: Names = None) -> Any:
    """Clusters of the rows, not yet computed: a series for a table, an array for an array.

    `columns` of a table are the features in the order of learning; None takes the model's names.
    """
    if columns is None and not isinstance(data, array.Array):
        columns = getattr(model, "feature_names_in_", None)
    unnamed = without_feature_names(SPC.from_bytes(model.to_bytes()))

    def clusters(part: Any, partition_info: Any = None) -> Any:
        rows = _finite_rows(part, False, partition_info["number"])
        labels = unnamed.predict(rows) if len(rows) else np.empty(0)
        return pd.Series(labels, index=part.index, dtype=np.int32)

    found = _features(data, columns).map_partitions(clusters, meta=("cluster", np.int32))
    return found.values if isinstance(data, array.Array) else found


def _features(data: Any, columns: Names) -> Any:
    """The features as a table; the columns of an array are named by number."""
    if isinstance(data, array.Array) and data.ndim == 2 and columns is None:
        return tables.from_dask_array(data)
    if not isinstance(data, tables.DataFrame):
        raise TypeError(f"data must be a Dask table, or a 2-D array without columns: {data!r:.80}.")
    names = list(data.columns if columns is None else columns)
    for name in names:
        if name not in data.columns or not pd.api.types.is_numeric_dtype(data.dtypes[name]):
            raise ValueError(f"There is no column {name!r} of numbers in {list(data.columns)}.")
    return data[names]


def _finite_rows(part: Any, skip: bool, partition: int) -> Floats:
    """The rows of a partition in which all numbers are finite; raise unless `skip`."""
    rows: Floats = part.to_numpy(float, na_value=np.nan)
    finite = np.isfinite(rows)
    if not skip and not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"Column {list(part)[column]!r} has {rows[row, column]} in row {row} of partition "
            f"{partition}: drop such rows, fill them in, or pass bad_rows='skip' to fit."
        )
    return rows[finite.all(axis=1)]


def _learnt(part: Any, template: SPC, skip: bool, partition: int) -> _Learnt:
    rows = _finite_rows(part, skip, partition)
    return clone(template).partial_fit(rows) if len(rows) else None, len(part) - len(rows)


def _merged(models: list[_Learnt]) -> _Learnt:
    known = [model for model, _ in models if model is not None]
    return merge_all(known) if known else None, sum(skipped for _, skipped in models)
