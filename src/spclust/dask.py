"""SPC of a Dask table or array: each partition is learnt where it is, and the models are merged."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from spclust.arrays import Floats
from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.partitions import TOGETHER, BadRows, checked_policy, counted, template_of

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
_Learnt = tuple[SPC | None, int]  # the model of some partitions, and how many rows were skipped


def fit(data: Any, model: SPC, columns: Names = None, *, bad_rows: BadRows = "raise") -> SPC:
    """A model of all rows of a `dask.dataframe` or `dask.array`; `model` has the parameters.

    `columns` of a table are the features; None takes all. Rows in which a number is missing, NaN or
    infinite are refused or, with "skip", left out and counted in `n_rows_skipped_`. The same
    partitions in the same order give the same model, to the last bit.
    """
    template, skip = template_of(model), checked_policy(bad_rows) == "skip"
    features = _features(data, columns)
    learn, merge, parts = delayed(_learnt), delayed(_merged), features.to_delayed()
    models = [learn(part, template, skip, number) for number, part in enumerate(parts)]
    while len(models) > 1:
        models = [merge(models[k : k + TOGETHER]) for k in range(0, len(models), TOGETHER)]
    learnt: _Learnt = models[0].compute()
    whole = counted(*learnt)
    if not isinstance(data, array.Array):
        whole.feature_names_in_ = np.array(features.columns, dtype=object)
    return whole


def predict(data: Any, model: SPC, columns: Names = None) -> Any:
    """Clusters of the rows, to be computed: a series of a table, an array of an array.

    `columns` of a table are the features as they were learnt; None takes the model's names.
    """
    if columns is None and not isinstance(data, array.Array):
        columns = getattr(model, "feature_names_in_", None)
    unnamed = SPC.from_bytes(model.to_bytes())
    unnamed.__dict__.pop("feature_names_in_", None)  # rows come without names, in this order

    def clusters(part: Any, partition_info: Any = None) -> Any:
        rows = _sound_rows(part, False, partition_info["number"])
        labels = unnamed.predict(rows) if len(rows) else np.empty(0)
        return pd.Series(labels, index=part.index, dtype=np.int32)

    found = _features(data, columns).map_partitions(clusters, meta=("cluster", np.int32))
    return found.values if isinstance(data, array.Array) else found


def _features(data: Any, columns: Names) -> Any:
    """The features as a table; those of an array have numbers as names."""
    if isinstance(data, array.Array) and data.ndim == 2 and columns is None:
        return tables.from_dask_array(data)
    if not isinstance(data, tables.DataFrame):
        raise TypeError(f"data must be a Dask table, or a 2-D array without columns: {data!r:.80}.")
    names = list(data.columns if columns is None else columns)
    for name in names:
        if name not in data.columns or not pd.api.types.is_numeric_dtype(data.dtypes[name]):
            raise ValueError(f"There is no column {name!r} of numbers in {list(data.columns)}.")
    return data[names]


def _sound_rows(part: Any, skip: bool, partition: int) -> Floats:
    """The rows of a partition that are all finite numbers."""
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
    rows = _sound_rows(part, skip, partition)
    return clone(template).partial_fit(rows) if len(rows) else None, len(part) - len(rows)


def _merged(models: list[_Learnt]) -> _Learnt:
    known = [model for model, _ in models if model is not None]
    return merge_all(known) if known else None, sum(skipped for _, skipped in models)
